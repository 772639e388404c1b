"""Studies: the program's own results, resumed after Ctrl-C, shown as tables and plots."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from agents import Slow, Table
from conftest import PLANT, ROLES, SMALL

import rehearse

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def study(log, tmp_path_factory):
    return rehearse.tune(log, "esarsa", search={"alpha": (0.01, 1, "log"), "tau": [0.1, 1, 10], "lambda": 0.5},
                         folder=tmp_path_factory.mktemp("s") / "study", trials=8,
                         **{**SMALL, "confirm": 2, "check": 3, "confirm_members": 2, "confirm_runs": 2,
                            "confirm_kinds": "chosen"})


def test_the_program_gives_the_same(study, tmp_path):
    roles = [f"--{k}={v}" for k, v in ROLES.items()]
    out = subprocess.run(
        [sys.executable, "-m", "rehearse", "tune", PLANT, *roles, "--agent", "esarsa", "-s", "alpha=0.01:1:log", "-s",
         "tau=0.1,1,10", "-s", "lambda=0.5", "--trials=8", "--model=knn", "--repr=raw", "--runs=2", "--steps=300",
         "--confirm=2", "--confirm-members=2", "--confirm-runs=2", "--confirm-kinds=chosen", "--json", "-o",
         tmp_path / "s"], check=True, capture_output=True, text=True).stdout
    other = json.loads(out)
    assert other["winner"]["score"] == study.score and other["hyperparameters"] == study.best
    assert [t["score"] for t in other["trials"]] == list(study.trials["score"])
    assert other["today"] == study.today and other["failures"] == study.failures
    assert other["trust"]["text"] == study.trust["text"]
    assert (tmp_path / "s" / "runs.csv").read_bytes() == open(os.path.join(study.folder, "runs.csv"), "rb").read()
    ours, theirs = (json.load(open(os.path.join(where, "report.json"), encoding="utf-8"))
                    for where in (study.folder, tmp_path / "s"))
    own = {"name", "study", "log", "plan", "command", "progress", "deploy", "next"}  # names, times, commands
    assert ours.keys() ^ theirs.keys() <= own
    assert {k for k in ours.keys() & theirs.keys() if ours[k] != theirs[k]} <= own


def test_a_study_has_its_page(study):
    with open(os.path.join(study.folder, "report.json"), encoding="utf-8") as file:
        page = json.load(file)
    assert page["finished"] and page["winner"]["setting"] == study.winner["setting"]
    assert page["trust"]["text"] == study.trust["text"]
    assert page["settings"]["score"] == pytest.approx(list(study.trials["score"]), rel=1e-4)
    html = open(os.path.join(study.folder, "report.html"), encoding="utf-8").read()
    assert html.startswith("<!doctype html>") and json.dumps(study.trust["text"])[1:-1] in html


def test_results(study):
    assert study.finished and study.agent == "esarsa" and study.best["lambda"] == 0.5
    lo, hi = study.interval
    assert lo <= study.score <= hi and study.unit == "per episode"
    assert len(study.trials) == 10 and set(study.trials["stage"]) == {"search", "confirm"}
    assert set(study.trials["tau"]) <= {0.1, 1, 10}
    assert len(study.runs) == 8 * 2 + 2 * 4
    assert study.result["runs"] == len(study.runs) + 5 * 4 * 3  # the check: 5 models, 4 settings, 3 runs
    assert study.trust["level"] in ("high", "medium", "low", "cannot answer")
    assert 0 < {c["name"]: c["probability"] for c in study.trust["claims"]}["best"] < 1
    assert study.trust["reasons"] and "halves" in [e["name"] for e in study.trust["evidence"]]
    assert study.logged["score"] == pytest.approx(-53.2779)
    assert study.today["better"] in ("yes", "no", "not known") and study.today["learning"]["score"] == study.score
    assert study.failures["rule"]["known"] and study.failures["logged"]["failures"] == 5
    assert sum(study.runs["failures"]) > 0
    assert list(study.importance.index) == ["alpha", "tau"]
    assert study.model.kind == "knn"
    assert "agent:" in study.study_file
    assert "score" in repr(study) and "<table>" in study._repr_html_()


def test_limits(log):
    study = rehearse.tune(log, "esarsa", search={"alpha": [0.01, 0.5]}, method="grid", runs=2, steps=200, confirm=2, confirm_members=2,
                          confirm_runs=1, check=0, model="knn", repr="raw",
                          at_most=["terminal: 100 %", "reward < -1e9: 50 per 1000 steps"], also=["reward", "-reward"])
    assert [one["event"] for one in study.limits["limits"]] == ["terminal", "reward < -1e9"]
    assert study.limits["keep"] == 2 and study.winner["keeps"] and "Yes" in study.limits["text"]
    assert len(study.front) == 2 and list(study.front.columns[-2:]) == ["reward", "-reward"]
    assert list(study.trials["keeps"]) == [True] * 4
    with pytest.raises(rehearse.InvalidError, match="no sensor or action 'T'"):
        rehearse.tune(log, at_most="T > 3: 1 %")


def test_plots(study):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert study.plot_curve().get_xlabel() == "step"
    assert study.plot_settings("alpha").get_xlabel() == "alpha"
    study.plot_importance()
    with pytest.raises(rehearse.InvalidError, match="no searched hyperparameter 'gamma'"):
        study.plot_settings("gamma")


def test_a_finished_study_is_not_done_again(study, log):
    again = rehearse.tune(log, "esarsa", search={"alpha": (0.01, 1, "log"), "tau": [0.1, 1, 10], "lambda": 0.5},
                          folder=study.folder, trials=8, jobs=1,
                          **{**SMALL, "confirm": 2, "check": 3, "confirm_members": 2, "confirm_runs": 2,
                             "confirm_kinds": "chosen"})
    assert again.result["resumed_runs"] == again.result["runs"] and again.runs.equals(study.runs)
    with pytest.raises(rehearse.Error, match="budget.trials|the study has"):
        rehearse.tune(log, "esarsa", search={"alpha": [0.1, 0.2]}, folder=study.folder, **SMALL)


def test_models_and_study_files(model, tmp_path):
    kept = {k: v for k, v in SMALL.items() if k not in ("model", "repr")}
    study = rehearse.tune(model, "esarsa", search={"alpha": [0.1, 0.2]}, **kept)
    assert study.finished and study.folder is None and len(study.trials) == 2
    (tmp_path / "s.yaml").write_text(f"data:\n  path: {PLANT}\n  roles: {{action: pump, reward: -energy, episode: shift}}\n"
                                     "agent: esarsa\nparameters: {alpha: [0.1, 0.3, 0.5]}\n")
    assert len(rehearse.tune(tmp_path / "s.yaml", **SMALL).trials) == 3


def test_several_agents(log, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    small = {**SMALL, "confirm": 2, "confirm_members": 2, "confirm_runs": 2, "confirm_kinds": "chosen"}
    study = rehearse.tune(log, ["esarsa", Table], search={"alpha": [0.1, 0.2], "epsilon": [0.1, 0.3]},
                          folder=tmp_path / "study", **small)
    trials, runs = study.trials, study.runs
    table = trials["agent"].str.contains("agents:Table")
    assert table.any() and (trials["agent"][~table] == "esarsa").all() and not table.all()
    assert trials["epsilon"].notna().equals(table) and trials["alpha"].notna().all()
    for t in study.result["trials"]:
        rows = runs[(runs["setting"] == t["setting"]) & (runs["stage"] == t["stage"])]
        assert len(rows) == t["finished_runs"] and set(rows["agent"]) == {t["agent"]}
        assert (rows["alpha"] == t["parameters"]["alpha"]).all()
    assert study.agent == study.winner["agent"] and set(study.winner["parameters"]) <= set(study.best)
    assert "agents:Table (in Python)" in study._repr_html_()
    assert len(study.plot_settings("alpha").get_legend().get_texts()) == 2
    study.plot_settings("epsilon")
    again = rehearse.open_study(tmp_path / "study")
    assert again.runs.equals(runs) and again.agent == study.agent
    for t in [t for t in again.result["trials"] if t["stage"] == "search"][:4]:  # evaluate() gives the runs of a trial
        mine = rehearse.evaluate(again.model, t["agent"], t["parameters"], runs=2, steps=300).scores[0]
        assert list(mine) == list(runs[(runs["setting"] == t["setting"]) & (runs["stage"] == "search")]["score"])[:2]
    with pytest.raises(rehearse.InvalidError, match="no agent 'esarsi'"):
        rehearse.tune(log, ["esarsi", "dqn"])


def test_messages(log):
    for wrong, text in ((dict(agent="esarsi"), "agent: no agent 'esarsi'; did you mean 'esarsa'"),
                        (dict(agent="esarsa", search={"alpa": 1}), "search: esarsa: no parameter 'alpa'"),
                        (dict(agent="esarsa", search={"alpha": (1, 2, 3, 4)}), "expected .low, high. or"),
                        (dict(agent="esarsa", runs=0), "runs: 0|runs = 0"),
                        (dict(agent="esarsa", ranges="temp"), "expected a dict of names and values")):
        with pytest.raises(rehearse.InvalidError, match=text):
            rehearse.tune(log, **wrong)
    with pytest.raises(TypeError, match="tune.. has no option 'trails'; did you mean 'trials'"):
        rehearse.tune(log, trails=3)


def test_a_callback_sees_values_and_stops_the_study(log, tmp_path):
    seen = []

    def look(news):
        seen.append(news)
        return news["runs"] >= 3

    with pytest.raises(rehearse.Stopped):
        rehearse.tune(log, Slow, search={"alpha": [0.1, 0.2, 0.3, 0.4]}, folder=tmp_path / "study", jobs=1,
                      **{**SMALL, "progress": look})
    assert seen[-1]["stage"] == "search" and 3 <= seen[-1]["runs"] < 8 and seen[-1]["value"] is not None

    def fails(news):
        raise RuntimeError("no news is good news")

    with pytest.raises(RuntimeError, match="good news"):  # and the study has ended: its folder is free
        rehearse.tune(log, Slow, search={"alpha": [0.1, 0.2, 0.3, 0.4]}, folder=tmp_path / "study", jobs=1,
                      **{**SMALL, "progress": fails})
    rest = rehearse.tune(log, Slow, search={"alpha": [0.1, 0.2, 0.3, 0.4]}, folder=tmp_path / "study", **SMALL)
    assert rest.result["resumed_runs"] >= 3


def test_kinds():
    assert "alpha" in [p["name"] for p in rehearse.kinds("agents")["esarsa"]["parameters"]]
    with pytest.raises(rehearse.InvalidError, match="no list 'agent'"):
        rehearse.kinds("agent")


INTERRUPTED = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in what a shell started in the background
sys.path.insert(0, {here!r})
import rehearse
from agents import {agent}
log = rehearse.read({plant!r}, **{roles!r})
try:
    rehearse.tune(log, {agent}, search={{"alpha": [0.1, 0.2, 0.3, 0.4]}}, folder={folder!r}, jobs=2, **{small!r})
except KeyboardInterrupt:  # after the work has ended
    sys.exit(42 if threading.active_count() == 1 else 43)
"""


def signalled(folder, number, agent="Slow", send=os.kill):
    """A study in its own process that gets a signal after its first run: exit code and standard error."""
    here = os.path.dirname(os.path.abspath(__file__))
    code = INTERRUPTED.format(here=here, plant=str(PLANT), roles=ROLES, folder=folder, small=SMALL, agent=agent)
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    journal = os.path.join(folder, "study.log")
    until = time.time() + 60
    while time.time() < until and process.poll() is None:  # until a run is in the journal
        if os.path.exists(journal) and '"run:' in open(journal).read():
            break
        time.sleep(0.05)
    assert process.poll() is None
    send(process.pid, number)
    said = process.communicate(timeout=30)[1]  # when the last of its workers has ended
    return process.returncode, said


@pytest.mark.parametrize("agent", ["Slow", "slow_train"])
def test_a_killed_study_leaves_no_workers_and_no_tracebacks(tmp_path, agent):
    assert signalled(str(tmp_path / "study"), signal.SIGKILL, agent) == (-signal.SIGKILL, "")


def test_ctrl_c_of_a_terminal_reaches_the_workers_too(tmp_path):
    assert signalled(str(tmp_path / "study"), signal.SIGINT, "slow_train", os.killpg) == (42, "")


def test_ctrl_c_stops_a_study_that_can_be_resumed(log, tmp_path):
    folder = str(tmp_path / "study")
    assert signalled(folder, signal.SIGINT) == (42, "")
    whole = rehearse.tune(log, Slow, search={"alpha": [0.1, 0.2, 0.3, 0.4]}, **SMALL)
    rest = rehearse.tune(log, Slow, search={"alpha": [0.1, 0.2, 0.3, 0.4]}, folder=folder, **SMALL)
    assert 0 < rest.result["resumed_runs"] < rest.result["runs"]
    assert rest.runs.equals(whole.runs) and rest.best == whole.best


INTERRUPTED_OFTEN = """
import os, random, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import rehearse
log = rehearse.read({plant!r}, **{roles!r})
model = rehearse.fit(log, model="knn", repr="raw", progress=False)
calls = [lambda: rehearse.tune(log, "esarsa", search={{"alpha": [0.1, 0.2, 0.3, 0.4]}}, **{small!r}),
         lambda: rehearse.fit(log, model="knn", members=20, progress=False),
         lambda: rehearse.evaluate(model, "esarsa", runs=100, steps=1000)]
random.seed(1)
caught = 0
for i in range(30):
    wait, times = random.random() * 0.1, 1 + i % 2
    def interrupt():
        time.sleep(wait)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        calls[i % 3]()
        time.sleep(1)
    except KeyboardInterrupt:
        caught += 1
    while True:
        try:
            thread.join()
            time.sleep(0.01)  # the second one
            break
        except KeyboardInterrupt:
            pass
    assert threading.active_count() == 1, threading.enumerate()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
sys.exit(42 if caught == 30 else 43)
"""


def test_ctrl_c_at_any_moment():
    code = INTERRUPTED_OFTEN.format(plant=str(PLANT), roles=ROLES, small=SMALL)
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300)
    assert (out.returncode, out.stderr) == (42, "")


def test_a_study_is_opened_from_its_folder(study, log, tmp_path):
    again = rehearse.open_study(study.folder)
    assert again.runs.equals(study.runs) and again.best == study.best and again.finished
    trimmed = [{k: v for k, v in s.result.items() if k not in ("resumed_runs", "seconds")} for s in (again, study)]
    assert trimmed[0] == trimmed[1]
    program = subprocess.run([sys.executable, "-m", "rehearse", "tune", study.folder, "--json"], check=True,
                             capture_output=True, text=True).stdout  # the program resumes what Python began
    assert json.loads(program)["hyperparameters"] == study.best
    table = pandas.read_csv(PLANT)
    small = {**SMALL, "folder": tmp_path / "table", "search": {"alpha": [0.1, 0.2]}}
    tuned = rehearse.tune(rehearse.read(table, **ROLES), "esarsa", **small)
    with pytest.raises(rehearse.FileError, match="its log .* is no file, expected open_study.folder, log"):
        rehearse.open_study(tmp_path / "table")
    assert rehearse.open_study(tmp_path / "table", rehearse.read(table, **ROLES)).runs.equals(tuned.runs)
    with pytest.raises(rehearse.Error, match="another log|other transitions|fingerprint"):
        rehearse.open_study(tmp_path / "table", rehearse.read(table[:300], **ROLES))
    with pytest.raises(rehearse.FileError, match="no study.log in it, expected the folder of a study"):
        rehearse.open_study(tmp_path)


def test_an_unfinished_study_is_opened_and_not_run(log, tmp_path):
    options = {**SMALL, "search": {"alpha": [0.1, 0.2, 0.3, 0.4]}, "folder": tmp_path / "study", "jobs": 1}
    with pytest.raises(rehearse.Stopped):
        rehearse.tune(log, Slow, **{**options, "progress": lambda news: news["runs"] >= 3})
    before = (tmp_path / "study" / "study.log").read_bytes()
    part = rehearse.open_study(tmp_path / "study")
    assert not part.finished and 3 <= len(part.runs) < 8 and "resume" in repr(part)
    assert (tmp_path / "study" / "study.log").read_bytes() == before
