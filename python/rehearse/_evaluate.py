"""Runs of one fixed setting: evaluate()."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Union

import numpy as np

from . import _agent, _core, _plan
from ._errors import InvalidError
from ._model import Model, load
from ._show import number
from ._work import cpus, work

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEVER = 2**63 - 1  # no cut-off
_CRITERIA: List[str] = _plan.names("tune")["criterion"]["words"]


class Evaluation:
    """Scores of one setting. Run r has the same random streams in every call with the same seed."""

    def __init__(self, of: Mapping[str, Any]) -> None:
        self.agent: str = of["agent"]
        self.setting: Dict[str, Any] = of["hyperparameters"]  # all hyperparameters
        self.steps: int = of["steps"]  # of a run
        self.scores: NDArray[np.float64] = of["scores"]  # (members x runs)
        self.totals: NDArray[np.float64] = of["totals"]  # sums of rewards (members x runs)
        self.outcomes: List[str] = of["outcomes"]  # finished, diverged, failed, ... (members x runs)
        self.curves: NDArray[np.float64] = of["curves"]  # learning curves (members x runs x points)

    @property
    def runs(self) -> int:
        """Runs of every member."""
        return self.scores.shape[1]

    def joined(self, other: "Evaluation") -> "Evaluation":
        """These runs and further ones of the same setting."""
        mine, more = (np.array(e.outcomes, dtype=object).reshape(e.scores.shape) for e in (self, other))
        return Evaluation({"agent": self.agent, "hyperparameters": self.setting, "steps": self.steps,
                           "scores": np.concatenate([self.scores, other.scores], axis=1),
                           "totals": np.concatenate([self.totals, other.totals], axis=1),
                           "outcomes": np.concatenate([mine, more], axis=1).ravel().tolist(),
                           "curves": np.concatenate([self.curves, other.curves], axis=1)})

    @property
    def score(self) -> float:
        """The mean over all runs."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Of the score: over the means of several members, or over the runs of one; NaN with one run."""
        x = self.scores.mean(axis=1) if len(self.scores) > 1 else self.scores[0]
        return float(x.std(ddof=1)) / math.sqrt(len(x)) if len(x) > 1 else math.nan

    @property
    def curve(self) -> NDArray[np.float64]:
        """The mean learning curve, NaN where no episode ended."""
        curves = self.curves.reshape(-1, self.curves.shape[-1])
        known = np.isfinite(curves)
        return np.where(known, curves, 0.0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)

    @property
    def failed(self) -> int:
        """Runs that diverged or failed."""
        return sum(word != "finished" for word in self.outcomes)

    def __repr__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return (f"<rehearse.Evaluation {self.agent}: {number(self.score)} +- {number(self.standard_error)}, "
                f"{self.scores.size} runs of {self.steps:,} steps{failed}>")


Report = Callable[[Evaluation], Any]


def evaluate(
    where: Any,
    agent: Union[str, type, Callable[..., Any]],
    setting: Optional[Mapping[str, Any]] = None,
    *,
    runs: int = 30,
    steps: Optional[int] = None,
    seed: int = 1,
    first_run: int = 0,
    criterion: str = "average",
    cutoff: Optional[int] = None,
    curve: int = 20,
    jobs: Optional[int] = None,
    timeout: float = 600.0,
    report: Optional[Report] = None,
) -> Evaluation:
    """Let an agent learn with one setting, from its first step, `runs` times.

    where: a Model or its file, the name of a simulator, or an environment of this package. setting: its
    hyperparameters; the others keep their initial values, nothing is searched. Runs first_run ..
    first_run + runs - 1 are made, the same ones as `rehearse run` makes, whatever else is evaluated: runs
    0 to 9 in ten calls are the runs of one call. cutoff: longest episode; in a model as the log has it.
    report: called after every `jobs` runs with the Evaluation of the runs so far; no more are made when it
    returns True. An exception that it raises leaves evaluate(), so an objective of Optuna may prune there.
    """
    if criterion not in _CRITERIA:
        raise InvalidError(f"criterion = {criterion}, expected one of {', '.join(_CRITERIA)}")
    members, limit = _members(where, steps)
    if not isinstance(agent, str):
        agent = _agent.command_of(agent)
        _core.set_timeout(timeout)
    elif agent.startswith("exec:"):
        _agent.tell_workers()  # study.agent may be one in Python
    options = {"runs": runs, "seed": seed, "first_run": first_run, "criterion": _CRITERIA.index(criterion),
               "cutoff": limit if cutoff is None else cutoff, "curve": curve,
               "jobs": cpus() if jobs is None else jobs}
    if steps is not None:
        options["steps"] = steps
    for name in ("runs", "steps", "jobs", "cutoff"):
        if options.get(name, 1) < 1:
            raise InvalidError(f"{name} = {options[name]}, expected 1 or more")
    for name in ("seed", "first_run", "curve"):
        if options[name] < 0:
            raise InvalidError(f"{name} = {options[name]}, expected 0 or more")
    values = {name: _plan.text(value) for name, value in (setting or {}).items()}

    def some(first: int, n: int) -> Evaluation:
        how = {**options, "first_run": first_run + first, "runs": n}
        return Evaluation(work(lambda watch: _core.evaluate(members, str(agent), values, how, watch), False))

    if report is None:
        return some(0, runs)
    so_far = some(0, min(options["jobs"], runs))
    while not report(so_far) and so_far.runs < runs:
        so_far = so_far.joined(some(so_far.runs, min(options["jobs"], runs - so_far.runs)))
    return so_far


def _members(where: Any, steps: Optional[int]) -> "tuple[List[_core.Env], int]":
    """The environments, and the longest episode in them."""
    if isinstance(where, str) and where in _core.kinds("envs"):
        return [_core.simulator(where, {})], _NEVER
    if isinstance(where, (str, os.PathLike)):
        path = os.fspath(where)
        where = load(path[len("model:"):] if path.startswith("model:") else path)
    if isinstance(where, Model):
        members = [_core.model_env(where._core, i, {}) for i in range(where.members)]
        task = where.task
        return members, _NEVER if task["continuing"] else where._core.cutoff(steps or task["steps"])
    inner = getattr(where, "unwrapped", where)
    if not hasattr(inner, "core_env"):
        raise InvalidError(f"evaluate: {type(where).__name__}, expected a Model, a file, the name of a simulator, "
                           "or an environment of this package; wrappers have no effect")
    return [inner.core_env], inner.cutoff
