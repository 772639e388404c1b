"""Rehearse: tunes the hyperparameters of a reinforcement learning agent from a log.

    import rehearse

    log = rehearse.read("plant.csv", action="pump", reward="-energy")
    log.inspect()
    study = rehearse.tune(log, "esarsa", folder="plant.study")
    study.best

docs/python.md has the whole story. `import rehearse` registers the environments rehearse/Acrobot-v0, ...
and rehearse/Model-v0 where gymnasium is installed.
"""

from __future__ import annotations

from typing import Any, Dict

from . import _core, track
from ._agent import Param, hyperparameters
from ._deploy import Deployment, Reply, deploy
from ._errors import Error, FileError, FormatError, InvalidError, LogWarning, OutOfMemory, Stopped
from ._evaluate import Evaluation, evaluate
from ._log import Log, Report, Transition, from_arrays, read
from ._model import Model, fit, load
from ._show import Finding
from ._study import Study, open_study, tune
from ._task import EndOfRun, Task

__version__: str = _core.version()

__all__ = [
    "Deployment", "EndOfRun", "Error", "Evaluation", "FileError", "Finding", "FormatError", "InvalidError", "Log",
    "LogWarning", "Model", "OutOfMemory", "Param", "Reply", "Report", "Stopped", "Study", "Task", "Transition", "deploy",
    "evaluate", "fit", "from_arrays", "hyperparameters", "kinds", "load", "load_plugin", "open_study", "read", "track", "tune",
]


def kinds(topic: str) -> Dict[str, Dict[str, Any]]:
    """Built-in agents, envs, models, methods or representations, with their parameters."""
    return _core.kinds(topic)


def load_plugin(path: str) -> None:
    """Load a plug-in (docs/plugins.md); its agents and environments are then known by name."""
    _core.load_plugin(path)


try:
    import gymnasium as _gymnasium
except ImportError:
    pass
else:
    from ._gym import register as _register

    _register()
    del _gymnasium, _register
