"""Studies: tune() and its result."""

from __future__ import annotations

import html
import inspect
import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _agent, _core, _plan
from ._dask import Engine
from ._deploy import Deployment, deploy
from ._errors import FileError, InvalidError, LogWarning, Stopped
from ._log import ROLES, Log, checked, read
from ._model import Model, load
from ._plot import Plots, shown
from ._show import Finding, findings, frame, html_findings, html_table, number
from ._work import Progress, cpus, work

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from ._deploy import DeployOptions
    from ._options import TuneOptions

# member, run, score, total, steps, episodes, out_of_coverage, failures, caught_up, outcome
Run = Tuple[int, int, float, float, int, int, int, int, int, str]
Agent = Union[str, type, Callable[..., Any]]
Agents = Union[Agent, Sequence[Agent]]

_STUDY_FILE = "study.yaml"


class Study(Plots):
    """The result of tune(): the setting to deploy, and what it was chosen from.

    result is the document of `rehearse tune --json` (docs/tune.md); the attributes are the parts of it
    that are asked for most.
    """

    def __init__(self, result: Mapping[str, Any], details: Sequence[Tuple[List[Run], Any]], plan: _core.Plan,
                 folder: Optional[str]) -> None:
        self.result: Dict[str, Any] = dict(result)
        self.folder = folder
        self.plan: Dict[str, str] = plan.entries
        self.study_file: str = plan.text
        self.findings: List[Finding] = findings(result["findings"])
        self.model_findings: List[Finding] = findings(result["model"]["findings"])
        self._details = {(t["setting"], t["stage"]): one for t, one in zip(result["trials"], details)}

    @property
    def finished(self) -> bool:
        return bool(self.result["finished"])

    @property
    def agent(self) -> str:
        """Its name; that of an agent in Python is a command (docs/exec.md)."""
        return str(self.result["agent"])

    @property
    def best(self) -> Dict[str, Any]:
        """All hyperparameters of the setting to deploy; empty if there is none."""
        return dict(self.result["hyperparameters"] or {})

    @property
    def winner(self) -> Optional[Dict[str, Any]]:
        """The trial of the setting to deploy: its confirmation if there is one."""
        return self.result["winner"]

    @property
    def score(self) -> Optional[float]:
        return self.winner["score"] if self.winner else None

    @property
    def interval(self) -> Tuple[Optional[float], Optional[float]]:
        """The 95 % interval of the score."""
        return (self.winner["lo95"], self.winner["hi95"]) if self.winner else (None, None)

    @property
    def logged(self) -> Dict[str, Optional[float]]:
        """The score of the logged controller, from the log alone."""
        return dict(self.result["logged"])

    @property
    def random(self) -> Dict[str, Optional[float]]:
        """The score of random actions in the same models."""
        return dict(self.result["random"])

    @property
    def today(self) -> Dict[str, Any]:
        """Is it better than the logged controller: the answer, and scores on one scale (docs/verdict.md)."""
        return dict(self.result["today"])

    @property
    def failures(self) -> Dict[str, Any]:
        """How often it fails, beside the logged controller, and what a failure is (docs/verdict.md)."""
        return dict(self.result["failures"])

    @property
    def limits(self) -> Optional[Dict[str, Any]]:
        """Whether the setting keeps the limits of at_most, and what they cost (docs/tune.md); None without any."""
        return self.result.get("limits")

    @property
    def front(self) -> "pandas.DataFrame":
        """The confirmed settings that no other one beats in every score of also; empty without any."""
        formulas = [a["formula"] for a in self.result.get("also", [])]
        rows = [{"setting": t["setting"], "agent": t["agent"], **self.searched(t), "score": t["score"],
                 **{f: a["score"] for f, a in zip(formulas, t["also"])}}
                for t in self.result["trials"] if t.get("front")]
        return frame(rows)

    @property
    def trust(self) -> Dict[str, Any]:
        """How far to believe the answer: level, claims, decision, reasons, evidence (docs/verdict.md)."""
        return dict(self.result["trust"])

    @property
    def trials(self) -> "pandas.DataFrame":
        """All settings that were tried and confirmed."""
        tied = {(t["setting"], t["stage"]) for t in self.result["tied"]}
        rows = []
        for t in self.result["trials"]:
            row = {k: t[k] for k in ("setting", "stage", "state", "agent")}
            row.update(self.searched(t))
            row.update({k: t[k] for k in ("score", "lo95", "hi95", "finished_runs", "diverged", "out_of_coverage")})
            if "limits" in t:
                row["keeps"] = t["keeps"]
            row["tied"] = (t["setting"], t["stage"]) in tied
            rows.append(row)
        return frame(rows)

    @property
    def runs(self) -> "pandas.DataFrame":
        """Every run of every setting."""
        names = list(self.searched(self.result["trials"][0])) if self.result["trials"] else []
        rows = [(t["setting"], t["stage"], t["agent"], *self.searched(t).values(), *run)
                for t in self.result["trials"] for run in self._details[t["setting"], t["stage"]][0]]
        return frame(rows, ["setting", "stage", "agent", *names, "member", "run", "score", "total", "steps",
                            "episodes", "out_of_coverage", "failures", "caught_up", "outcome"])

    @property
    def importance(self) -> "pandas.DataFrame":
        """How much each hyperparameter matters."""
        return frame(self.result["importance"]["parameters"]).set_index("name")

    @property
    def model(self) -> Model:
        """The calibration model of the search."""
        if self.folder is None:
            raise InvalidError("study.model: the study has no folder, expected tune(..., folder=...)")
        return load(os.path.join(self.folder, "study.model"))

    def deploy(self, folder: "os.PathLike[str] | str | None" = None, **options: "Unpack[DeployOptions]") -> Deployment:
        """Run the setting to deploy on the plant; folder and options are those of rehearse.deploy()."""
        if self.folder is None or not self.winner:
            raise InvalidError("study.deploy: " + ("no setting worked" if self.folder else
                                                   "the study has no folder, expected tune(..., folder=...)"))
        if self.agent.startswith("exec:"):
            raise InvalidError("study.deploy: an agent in Python or of another program cannot be saved, expected a "
                               "built-in one or a plug-in")
        return deploy(os.path.join(self.folder, "best.yaml"), folder, **options)

    # ---------------------------------------------------------------------------- showing

    def _lines(self) -> List[Tuple[str, str]]:
        lo, hi = self.interval
        searched = self.winner["parameters"] if self.winner else {}
        setting = ", ".join(f"{k}={number(v) if isinstance(v, float) else v}" for k, v in searched.items())
        stage = "confirmed" if self.winner and self.winner["stage"] == "confirm" else "not confirmed"
        out = [("agent", shown(self.agent)),
               ("setting", setting or "none: no setting worked"),
               ("score", f"{number(self.score)} {self.unit}, 95 % interval {number(lo)} to {number(hi)}, {stage}"),
               ("better", self.today["text"]),
               *([("limits", self.limits["text"])] if self.limits else []),
               ("failures", self.failures["text"]),
               ("trust", self.trust["text"]),
               ("logged", f"{number(self.logged['score'])} in the log"),
               ("random", f"{number(self.random['score'])} in the model"),
               ("tried", f"{sum(t['stage'] == 'search' for t in self.result['trials'])} settings, "
                         f"{self.result['runs']:,} runs of {self.steps:,} steps, "
                         f"{len(self.result['tied'])} settings tied with the best (95 %)")]
        if not self.finished:
            out.append(("unfinished", "call tune() again with the same arguments to resume"))
        return out

    def __repr__(self) -> str:
        lines = [f"{name:<11}{text}" for name, text in self._lines()]
        return "\n".join(lines + [repr(f) for f in self.findings])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(t)}</td></tr>" for n, t in self._lines())
        tied = self.result["tied"]
        table = ""
        if tied:
            names = list(self.searched(tied[0]))
            table = html_table(("agent", *names, "score", "95 % interval"), [
                (shown(t["agent"]), *(number(v) if isinstance(v, float) else v for v in self.searched(t).values()),
                 number(t["score"]), f"{number(t['lo95'])} to {number(t['hi95'])}") for t in tied])
        return f"<table>{rows}</table>{table}{html_findings(self.findings)}"


def tune(
    log: Any,
    agent: Optional[Agents] = None,
    *,
    search: Optional[Mapping[str, _plan.Axis]] = None,
    folder: "os.PathLike[str] | str | None" = None,
    jobs: Optional[int] = None,
    starts: Any = None,
    setting: "os.PathLike[str] | str | None" = None,
    timeout: float = 600.0,
    progress: Progress = None,
    cluster: Any = None,
    **given: Unpack[TuneOptions],
) -> Study:
    """Choose hyperparameters from a log.

    log: a Log, a Model, or what read() takes, with its keyword arguments; the path of a study file
    (docs/study-file.md). agent: the name of a built-in one, a class with start, step and end, a function
    train(env, seed, **hyperparameters), a list of these to compare them, or "auto". search: values to try, {"alpha": (1e-3, 1, "log"),
    "tau": [0.1, 1, 10], "lambda": 0.9}, or distributions of Optuna. folder: where the study is kept; the same call resumes it. jobs: runs
    in parallel, which changes no result. timeout: seconds that a Python agent may take for a step. progress:
    a bar by tqdm, by default in a notebook and on a terminal; or a function that is called with the news
    ten times a second (stage, runs, settings, value, ...) and stops the study by returning True. cluster: a
    dask.distributed.Client, whose workers do the runs; the result is the same. Other
    options are those of `rehearse tune` with underscores: trials=60, steps=5000, runs=10, method="race", ...
    """
    options: Dict[str, Any] = dict(given)
    roles = {k: options.pop(k) for k in list(options) if k in ROLES}
    plan = _core.make_plan("tune")
    if isinstance(log, (str, os.PathLike)) and os.fspath(log).endswith((".yaml", ".yml")):
        plan.read(os.fspath(log))
    if setting is not None:
        plan.setting(os.fspath(setting))
    if agent is not None:
        if any(not isinstance(one, str) for one in (agent if isinstance(agent, (list, tuple)) else [agent])):
            _core.set_timeout(timeout)
        plan.set("agent.name", _names(agent, options.get("criterion")), "agent")
    elif inspect.isclass(log):
        raise TypeError(f"tune: {log.__name__} as the log, expected tune(log, agent)")
    for name, value in (search or {}).items():
        plan.try_values(name, _plan.axis(value), "search")
    source: Optional[Log] = None
    model: Optional[Model] = None
    text = os.fspath(log) if isinstance(log, (str, os.PathLike)) else ""
    if isinstance(log, Model) or text.startswith("model:"):
        model = log if isinstance(log, Model) else load(text[len("model:"):])
        plan.set("data", text or f"model:{model.name}", "data")
        of = Log(model._core.log, model.name)
    else:
        source = of = read(log, **roles)
        plan.set("data", source.path or source.name, "data")
    _plan.apply(plan, "tune", options)
    plan.check()
    first = None if starts is None else read(starts, **({} if isinstance(starts, Log) else roles))
    return _carry_out(plan, checked(plan, of), source, first, model, None if folder is None else os.fspath(folder),
                      cpus() if jobs is None else jobs, progress, Engine(cluster, timeout) if cluster else None)


_plan.document(tune, _plan.names("tune"))


def _names(agents: Agents, criterion: Any = None) -> str:
    """One agent or several, as the key agent of a study file has them."""
    if isinstance(agents, (list, tuple)):
        return json.dumps([_names(one, criterion) for one in agents])
    if isinstance(agents, str):
        return agents
    if inspect.isfunction(agents) and criterion == "final":
        raise InvalidError("criterion = final: a train function cannot be frozen, expected another one")
    return _agent.command_of(agents)


def _carry_out(plan: _core.Plan, inspected: _core.Checked, source: Optional[Log], first: Optional[Log],
               model: Optional[Model], folder: Optional[str], jobs: int, progress: Progress,
               engine: Optional[Engine] = None, only_look: bool = False) -> Study:
    core = _core.Study(plan, source._core if source else None, first._core if first else None,
                       model._core if model else None)

    def body(watch: _core.Watch) -> None:
        core.open(folder, jobs, inspected, watch, engine.core if engine else None)
        if folder is not None and not only_look:
            _keep_plan(plan, source, folder)
        if only_look:
            watch.stop()  # what is in the journal is taken from there, nothing is run
        core.run()

    try:
        try:
            work(body, progress)
        except Stopped:
            if not only_look:
                raise
        return Study(*core.verdict(), plan, folder)
    finally:
        if engine:
            engine.close()
        core.close()  # unlocks the folder


def _keep_plan(plan: _core.Plan, source: Optional[Log], folder: str) -> None:
    """What the study does, as the program keeps it: `rehearse tune FOLDER` and open_study() read it."""
    roles = source._roles if source else ""
    text = plan.text
    if source and roles:  # a whole path: the file is in another folder
        lines = [f"data: {json.dumps(os.path.abspath(source.path))}" if line.startswith("data:") else line
                 for line in text.splitlines()]
        text = "\n".join(lines) + "\n"
    path = os.path.join(folder, _STUDY_FILE)
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write("# what this study does; `rehearse tune FOLDER` resumes it\n" + roles + text)
    os.replace(path + ".tmp", path)


def open_study(
    folder: "os.PathLike[str] | str",
    log: Any = None,
    agent: Optional[Agents] = None,
    *,
    starts: Any = None,
) -> Study:
    """The study in a folder of tune() or `rehearse tune`, finished or not. Nothing is run.

    log: only for a study of a table or of arrays, and where the log's file has moved. agent: only for one
    that was defined in a notebook. starts: that of tune(). The folder's study file is trusted: it names the
    program or plug-in of the agent.
    """
    folder = os.fspath(folder)
    path = os.path.join(folder, _STUDY_FILE)
    for name in ("study.log", _STUDY_FILE):
        if not os.path.isfile(os.path.join(folder, name)):
            raise FileError(f"{folder}: no {name} in it, expected the folder of a study")
    plan = _core.make_plan("tune")
    _agent.tell_workers()
    plan.read(path)
    if agent is not None:
        plan.set("agent.name", _names(agent), "agent")
    data = plan.get("data") or ""
    model = log if isinstance(log, Model) else load(data[len("model:"):]) if data.startswith("model:") else None
    source: Optional[Log] = None
    if model is None:
        if log is None and not os.path.exists(data.split("\n")[0]):
            raise FileError(f"{folder}: its log {data} is no file, expected open_study(folder, log)")
        source = read(path if log is None else log)
    plan.check()
    first = None if starts is None else read(starts)
    of = source or Log(model._core.log, model.name)  # type: ignore[union-attr]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LogWarning)  # the study's findings have them
        inspected = checked(plan, of)
    return _carry_out(plan, inspected, source, first, model, folder, 1, False, only_look=True)
