"""A user's program, checked by mypy --strict: the package has types."""

from typing import Dict, List

import numpy as np
from numpy.typing import NDArray

import rehearse


class Constant:
    """Always the first action"""

    hyperparameters = {"alpha": rehearse.Param(0.1, 1.0)}

    def __init__(self, task: rehearse.Task, seed: int, alpha: float) -> None:
        self.task = task

    def start(self, obs: NDArray[np.float64]) -> int:
        return 0

    def step(self, reward: float, obs: NDArray[np.float64]) -> int:
        return 0

    def end(self, reward: float) -> None:
        pass


def best_of(path: str) -> Dict[str, float]:
    log: rehearse.Log = rehearse.read(path, action="pump", reward="-energy")
    worst: List[str] = [f.id for f in log.inspect().findings if f.severity == "error"]
    assert not worst
    model: rehearse.Model = rehearse.fit(log, model="knn", k=3)
    model.write("plant.model")
    study: rehearse.Study = rehearse.tune(log, Constant, search={"alpha": (0.1, 1.0, "log")}, trials=4)
    rehearse.tune(log, ["esarsa", Constant], trials=4)
    rehearse.tune(log, trails=3)  # type: ignore[call-arg]
    rehearse.read(path, rewad="energy")  # type: ignore[call-arg]
    scores: NDArray[np.float64] = rehearse.evaluate(model, "esarsa", {"alpha": 0.1}, runs=3).scores
    assert scores.size == 3 and model.env(cutoff=9).cutoff == 9
    assert study.score is not None
    return study.best
