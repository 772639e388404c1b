"""Calibration models: fit(), and models from files."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import _core, _plan
from ._log import ROLES, Log, checked, read
from ._show import Finding, findings, frame, html_findings, html_table, number
from ._work import Progress, cpus, work

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._gym import ModelEnv
    from ._options import FitOptions


class Model:
    """A calibration model: an environment that was learned from a log."""

    def __init__(self, core: _core.Model, name: str = "model") -> None:
        self._core = core
        self.name = name

    @property
    def kind(self) -> str:
        return self._core.kind

    @property
    def representation(self) -> str:
        """How states are compared."""
        return self._core.representation

    @property
    def parameters(self) -> Dict[str, Any]:
        return self._core.parameters

    @property
    def members(self) -> int:
        return self._core.members

    @property
    def task(self) -> Dict[str, Any]:
        """What an agent is told: sensors, ranges, actions, discount."""
        return self._core.task

    @property
    def log(self) -> Log:
        """The transitions that were used."""
        return Log(self._core.log)

    @property
    def fidelity(self) -> Optional[Dict[str, Any]]:
        """How the model compares with its log, by the keys of `fit --json`; None if not measured."""
        return self._core.fidelity

    @property
    def facts(self) -> Optional[Dict[str, Any]]:
        """What the log shows about sensors, resets and limits, by the keys of `fit --json`."""
        return self._core.facts

    @property
    def findings(self) -> List[Finding]:
        return findings((self.fidelity or {}).get("findings", []))

    @property
    def comparison(self) -> Any:
        """The models that were compared to choose this one, as pandas; None if none were."""
        compared = self._core.comparison
        return None if compared is None else frame(compared["models"])

    def write(self, path: "os.PathLike[str] | str") -> None:
        self._core.write(os.fspath(path))

    def __reduce__(self) -> "Tuple[Any, ...]":
        with tempfile.TemporaryDirectory(prefix="rehearse-") as folder:
            path = os.path.join(folder, "model")
            self.write(path)
            with open(path, "rb") as file:
                return _unpickle, (file.read(), self.name)

    def __deepcopy__(self, memo: Any) -> "Model":
        return self  # read-only

    def env(self, **options: Any) -> "ModelEnv":
        """The model as a gymnasium environment; the options are those of rehearse/Model-v0."""
        from ._gym import ModelEnv

        return ModelEnv(model=self, **options)

    def __repr__(self) -> str:
        many = f", {self.members} members" if self.members > 1 else ""
        return (f"<rehearse.Model {self.name}: {self.kind}, {self.representation} representation{many}, "
                f"of {len(self.log):,} transitions>")

    def _repr_html_(self) -> str:
        rows = []
        for e in self.fidelity["held_out"]["sensors"] if self.fidelity else ():
            rows.append((e["name"], number(e["model"]), number(e["persistence"]), number(e["mean"])))
        head = ("sensor", "error of the model", "of no change", "of the mean")
        import html

        return html.escape(repr(self)) + (html_table(head, rows) if rows else "") + html_findings(self.findings)


def _unpickle(data: bytes, name: str) -> Model:
    with tempfile.TemporaryDirectory(prefix="rehearse-") as folder:
        path = os.path.join(folder, "model")
        with open(path, "wb") as file:
            file.write(data)
        return Model(_core.read_model(path), name)


def load(path: "os.PathLike[str] | str") -> Model:
    """Read a model that fit(), `rehearse fit` or a study wrote."""
    path = os.fspath(path)
    return Model(_core.read_model(path), os.path.basename(path))


def fit(
    log: Any,
    *,
    starts: Any = None,
    jobs: Optional[int] = None,
    fidelity: bool = True,
    progress: Progress = None,
    **given: Unpack[FitOptions],
) -> Model:
    """Fit a calibration model to a log.

    log: a Log, or what read() takes, with its keyword arguments. Other options are those of
    `rehearse fit` with underscores: model="knn", k=5, repr="raw", members=10, gamma=0.99, ...
    """
    options: Dict[str, Any] = dict(given)
    roles = {k: options.pop(k) for k in list(options) if k in ROLES}
    plan = _core.make_plan("fit")
    source = read(log, **roles)
    plan.set("data", source.path or source.name, "data")
    _plan.apply(plan, "fit", options)
    plan.check()
    first = None if starts is None else read(starts, **({} if isinstance(starts, Log) else roles))
    threads = cpus() if jobs is None else jobs
    checked(plan, source)
    core = work(lambda watch: _core.fit(plan, source._core, first._core if first else None, threads,
                                        fidelity, watch), progress)
    return Model(core, source.name)


_plan.document(fit, _plan.names("fit"))
