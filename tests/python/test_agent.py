"""Agents in Python: classes and train functions, in worker processes."""

import os
import subprocess
import sys

import agents
import pytest
from conftest import PLANT, ROLES, SMALL

import rehearse

pandas = pytest.importorskip("pandas")


def failure(study):
    (finding,) = [f for f in study.findings if f.id == "failed"]
    return finding.evidence


def test_a_class_gives_the_same_with_any_number_of_workers(log):
    one = rehearse.tune(log, agents.Table, trials=4, jobs=1, **SMALL)
    three = rehearse.tune(log, agents.Table, trials=4, jobs=3, **SMALL)
    assert one.runs.equals(three.runs)
    assert (one.runs["outcome"] == "finished").all() and one.runs["score"].nunique() > 4
    assert set(one.best) == {"alpha", "epsilon", "cells"} and one.best["cells"] == 8
    assert "agents:Table" in one.agent and os.sep not in one.agent  # no paths in the journal


def test_confirmation_and_race_are_the_studys_own(log):
    study = rehearse.tune(log, agents.Table, search={"alpha": [0.1, 0.5], "cells": [4, 8]}, method="race",
                          **{**SMALL, "confirm": 2, "confirm_members": 2, "confirm_runs": 2, "confirm_kinds": "chosen"})
    assert study.winner["stage"] == "confirm" and study.best["cells"] in (4, 8)


def test_a_train_function_sees_what_the_study_counts(log, tmp_path, monkeypatch):
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))
    study = rehearse.tune(log, agents.record, search={"bias": [0.25, 0.75]}, cutoff=20, jobs=2, **SMALL)
    runs = study.runs
    assert (runs["outcome"] == "finished").all()
    rows = [line.split() for line in (tmp_path / "record").read_text().splitlines()]
    assert len(rows) == len(runs) + 2  # and the runs of the agent's defaults
    for total, episodes in zip(runs["total"], runs["episodes"]):
        at = next(i for i, r in enumerate(rows) if float(r[0]) == pytest.approx(total, rel=1e-12))
        assert int(rows[at][2]) + int(rows[at][3]) == episodes
    assert {r[1] for r in rows} == {"300"}
    assert sum(int(r[3]) for r in rows) > 0
    assert all(int(r[4]) == 20 for r in rows)  # truncated after the cut-off, without a further step
    assert len({r[5] for r in rows}) == 2  # global streams are seeded by run; settings share the seeds


def test_it_may_return_after_its_budget(log):
    study = rehearse.tune(log, agents.exact, search={"alpha": [0.1, 0.2]}, jobs=1, **SMALL)
    assert (study.runs["outcome"] == "finished").all() and (study.runs["steps"] == 300).all()


@pytest.mark.parametrize("agent, reason", [
    (agents.early, "train.. returned after 1 of 300 steps, expected it to train until"),
    (agents.wrong, "ValueError: no such thing"),
    (agents.nonsense, "chose action 7, expected an index, 0 to 2"),
    (agents.Broken, "RuntimeError: no table today"),
])
def test_faults_fail_the_run_with_a_reason(log, agent, reason, capfd):
    study = rehearse.tune(log, agent, search={"alpha": [0.1, 0.2]}, **SMALL)
    assert (study.runs["outcome"] == "failed").all()
    import re

    assert re.search(reason, failure(study)), failure(study)


def test_a_worker_that_hangs(log):
    study = rehearse.tune(log, agents.Hangs, search={"alpha": [0.1, 0.2]}, timeout=0.5, **{**SMALL, "runs": 1})
    assert "no answer within 0.5 s" in failure(study)


def test_what_has_no_file_is_pickled(log):
    pytest.importorskip("cloudpickle")
    share = 0.5

    def train(env, seed, alpha=0.1):
        env.reset()
        while True:
            _, _, terminal, truncated, _ = env.step(int(share > 0.2))
            if terminal or truncated:
                env.reset()

    study = rehearse.tune(log, train, search={"alpha": [0.1, 0.2]}, **SMALL)
    assert (study.runs["outcome"] == "finished").all() and "pickle:train" in study.agent


SCRIPT = """
import rehearse
def train(env, seed, alpha=0.1):
    env.reset()
    while True:
        _, _, terminal, truncated, _ = env.step(1)
        if terminal or truncated:
            env.reset()
if __name__ == "__main__":
    study = rehearse.tune({plant!r}, train, search={{"alpha": [0.1, 0.2]}}, **{roles!r}, **{small!r})
    assert (study.runs["outcome"] == "finished").all(), study
    print(study.agent)
"""


def test_a_script_and_the_program(tmp_path):
    (tmp_path / "mine.py").write_text(SCRIPT.format(plant=str(PLANT), roles=ROLES, small=SMALL))
    out = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "rehearse.worker mine.py:train" in out
    # the journal's command works for the program too
    out = subprocess.run([sys.executable, "-m", "rehearse", "run", "puddle_world", "--agent", out.strip(), "--steps=50",
                          "--runs=1"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "score" in out


def test_messages(log):
    with pytest.raises(TypeError, match="agent int: no method start and step and end"):
        rehearse.tune(log, int)
    with pytest.raises(TypeError, match="expected the arguments env, seed and the hyperparameters"):
        rehearse.tune(log, lambda x: x)
    with pytest.raises(TypeError, match="agent: int, expected a name, a class or a function"):
        rehearse.tune(log, 3)
    with pytest.raises(rehearse.InvalidError, match="a train function cannot be frozen"):
        rehearse.tune(log, agents.exact, criterion="final")
    with pytest.raises(rehearse.InvalidError, match="expected low above 0"):
        rehearse.Param(0, 1, log=True)
