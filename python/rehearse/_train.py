"""The environment of a train function: the questions of a study as a gymnasium environment.

1. reset() in the middle of an episode does not begin another one: it returns the observation that the
   episode has reached. Only the model ends and truncates episodes.
2. At a terminal state the study tells the reward and not the state. step() then returns the observation
   before it; learning targets of a terminal step do not use it.
3. The reward is counted by the study, not here: a wrapper that scales it changes no score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

import gymnasium
import numpy as np
from gymnasium import spaces

from ._task import EndOfRun, Task

if TYPE_CHECKING:
    from .worker import Channel, Question


def action_space(task: Task) -> "spaces.Space[Any]":
    if task.actions:
        return spaces.Discrete(task.actions)
    return spaces.Box(task.action_low.astype(np.float32), task.action_high.astype(np.float32),
                      dtype=np.float32)


def observation_space(task: Task) -> "spaces.Space[Any]":
    # observations may lie outside the usual ranges
    return spaces.Box(-np.inf, np.inf, (len(task.sensors),), np.float64)


class TrainEnv(gymnasium.Env[Any, Any]):
    """The model of the log, for one run."""

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(self, task: Task, channel: "Channel") -> None:
        self.task = task
        self.budget = task.steps  # steps of the run
        self.steps = 0  # steps done
        self.observation_space = observation_space(task)
        self.action_space = action_space(task)
        self._channel = channel
        self._obs: Any = None  # None: no episode
        self._pending = False  # an action is expected
        self._over: Optional[Tuple[Optional["Question"]]] = None  # what came after the run

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        super().reset(seed=seed)
        if self._over:
            raise EndOfRun
        if self._obs is None:
            question = self._next("start")
            self._obs = np.array(question["start"], dtype=np.float64)
            self._pending = True
        return self._obs.copy(), {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        if self._over:
            raise EndOfRun
        if self._obs is None:
            raise RuntimeError("step() after the end of an episode, expected reset()")
        if not self.task.actions:
            action = np.clip(np.asarray(action, dtype=float), self.task.action_low, self.task.action_high)
        self._channel.act(action)
        self._pending = False
        question = self._next("step", "truncated", "end")
        self.steps += 1
        reward = float(question["reward"])
        if "end" in question:
            last, self._obs = self._obs, None
            return last, reward, True, False, {}
        truncated = "truncated" in question
        obs = np.array(question["truncated" if truncated else "step"], dtype=np.float64)
        self._obs = None if truncated else obs
        self._pending = not truncated
        return obs.copy(), reward, False, truncated, {}

    def _next(self, *expected: str) -> "Question":
        question = self._channel.ask()
        if question is None or not question.keys() & set(expected):
            self._over = (question,)
            raise EndOfRun
        return question

    def finish(self, reason: Optional[str]) -> Optional["Question"]:
        """After the function: the next question. A run that is not over fails with the reason."""
        if self._over:
            return self._over[0]
        while True:
            if self._pending and self.steps >= self.budget:
                self._channel.act(0 if self.task.actions else self.task.action_low)  # is not taken
            elif self._pending:
                self._channel.fail(reason or "the run is over")
            self._pending = False
            question = self._channel.ask()
            if question is None or "run" in question or "act" in question:
                return question
            self._pending = bool(question.keys() & {"start", "step"})
            self.steps += bool(question.keys() & {"step", "truncated", "end"})
