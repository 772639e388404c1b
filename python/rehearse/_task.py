"""What an agent is told about its task, and how its run ends."""

from __future__ import annotations

from typing import Any, List, Mapping

import numpy as np


class EndOfRun(BaseException):
    """The budget of a run is used up. Raised by the environment of a train function.

    Not an Exception, so that `except Exception` in a training library does not catch it.
    """


class Task:
    """Sensors and their usual ranges, actions, discount and length of a run."""

    def __init__(self, of: Mapping[str, Any]) -> None:
        self.sensors: List[str] = list(of["sensors"])
        self.low = np.array(of["low"], dtype=float)
        self.high = np.array(of["high"], dtype=float)
        self.actions: int = int(of["actions"])  # 0: continuous actions
        self.action_low = np.array(of["action_low"], dtype=float)
        self.action_high = np.array(of["action_high"], dtype=float)
        self.continuing: bool = bool(of["continuing"])
        self.gamma: float = float(of["gamma"])
        self.steps: int = int(of["steps"])

    def __repr__(self) -> str:
        kinds = f"{self.actions} actions" if self.actions else "continuous actions"
        return f"<rehearse.Task {', '.join(self.sensors)}; {kinds}; {self.steps:,} steps>"
