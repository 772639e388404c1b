"""Gymnasium environments: the simulators, calibration models, and vectors of thousands of copies.

Observations are float64, as the library computes them. A vector environment steps all copies in one call
of the library with the GIL released; an episode that has ended begins anew in the next step, which is
Gymnasium's AutoresetMode.NEXT_STEP. A pickled or copied environment is a new one: it begins with reset().
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from gymnasium.vector.utils import batch_space

from . import _core, _plan
from ._errors import InvalidError
from ._model import Model, load
from ._task import Task
from ._train import action_space, observation_space

_NEVER = 2**63 - 1  # no cut-off

try:  # gymnasium 1.1 and newer say how episodes begin anew
    from gymnasium.vector import AutoresetMode as _Mode

    _METADATA: Dict[str, Any] = {"render_modes": [], "autoreset_mode": _Mode.NEXT_STEP}
except ImportError:
    _METADATA = {"render_modes": []}


def _options(given: Mapping[str, Any]) -> Dict[str, str]:
    return {name: _plan.text(value) for name, value in given.items()}


def _core_env(name: Optional[str], model: Union[Model, str, "os.PathLike[str]", None], member: int,
              options: Mapping[str, Any]) -> _core.Env:
    if name is not None:
        return _core.simulator(name, _options(options))
    if model is None:
        raise InvalidError("rehearse/Model-v0: no model, expected path='FILE.model' or model=...")
    if not isinstance(model, Model):
        model = load(model)
    return _core.model_env(model._core, member, _options(options))


def _limit(cutoff: Optional[int], model: bool, core: _core.Env, source: Any, task: Task) -> int:
    if cutoff is not None:
        return cutoff
    if not model or task.continuing:
        return _NEVER
    log = source if isinstance(source, Model) else load(source)
    return log._core.cutoff(task.steps)


def _seed_of(seed: Optional[int]) -> int:
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) if seed is None else int(seed)


class RehearseEnv(gymnasium.Env[Any, Any]):
    """One environment of the library."""

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(self, core: _core.Env, cutoff: int, render_mode: Optional[str] = None) -> None:
        self.task = Task(core.task)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.task)
        self.action_space = action_space(self.task)
        self.core_env, self.cutoff = core, cutoff  # for evaluate()
        self._copies = _core.Copies(core, 1, cutoff)
        self._seeded = False
        self._discrete = self.task.actions > 0

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._copies.seed(0, _seed_of(seed))
        self._seeded = True
        obs = np.empty((1, len(self.task.sensors)))
        self._copies.start(None, obs)
        return obs[0], {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        if self._discrete:
            obs, reward, terminal, truncated = self._copies.step_discrete(np.array([action], np.int64).ravel())
        else:
            obs, reward, terminal, truncated = self._copies.step_continuous(
                np.ascontiguousarray(action, dtype=np.float64).reshape(1, -1))
        return obs[0], float(reward[0]), bool(terminal[0]), bool(truncated[0]), {}


class SimulatorEnv(RehearseEnv, EzPickle):
    """A simulator by name; the other options are its parameters (rehearse.kinds("envs"))."""

    def __init__(self, name: str, cutoff: Optional[int] = None, render_mode: Optional[str] = None,
                 **options: Any) -> None:
        EzPickle.__init__(self, name, cutoff, render_mode, **options)
        super().__init__(_core_env(name, None, 0, options), cutoff or _NEVER, render_mode)


class ModelEnv(RehearseEnv, EzPickle):
    """A calibration model. cutoff: steps after which episodes are truncated; by default as in a study."""

    def __init__(self, path: "os.PathLike[str] | str | None" = None, model: Optional[Model] = None,
                 member: int = 0, cutoff: Optional[int] = None, render_mode: Optional[str] = None,
                 **options: Any) -> None:
        EzPickle.__init__(self, path, model, member, cutoff, render_mode, **options)
        source = model if model is not None or path is None else load(path)
        core = _core_env(None, source, member, options)
        super().__init__(core, _limit(cutoff, True, core, source, Task(core.task)), render_mode)


class RehearseVectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[type-arg]
    """Many copies of one environment, stepped in C."""

    metadata = _METADATA

    def __init__(self, core: _core.Env, num_envs: int, cutoff: int, again: "Tuple[Any, ...]") -> None:
        self.task = Task(core.task)
        self._again = again  # the function and the arguments that make another one
        self.num_envs = num_envs
        self.single_observation_space = observation_space(self.task)
        self.single_action_space = action_space(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = None
        self.spec = None
        self.closed = False
        self._copies = _core.Copies(core, num_envs, cutoff)
        self._obs = np.zeros((num_envs, len(self.task.sensors)))
        self._seeded = False
        self._discrete = self.task.actions > 0

    def reset(self, *, seed: Union[int, Sequence[Optional[int]], None] = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        if seed is None and not self._seeded:
            seed = _seed_of(None) % 2**31
        if isinstance(seed, int):
            seed = [seed + i for i in range(self.num_envs)]
        for i, one in enumerate(seed or ()):
            if one is not None:
                self._copies.seed(i, one)
        self._seeded = True
        mask = (options or {}).get("reset_mask")
        which = None if mask is None else np.ascontiguousarray(mask, dtype=np.uint8)
        self._obs = self._obs.copy()
        self._copies.start(which, self._obs)
        return self._obs.copy(), {}

    def step(self, actions: Any) -> Tuple[Any, Any, Any, Any, Dict[str, Any]]:
        if self._discrete:
            obs, reward, terminal, truncated = self._copies.step_discrete(
                np.ascontiguousarray(actions, dtype=np.int64))
        else:
            obs, reward, terminal, truncated = self._copies.step_continuous(
                np.ascontiguousarray(actions, dtype=np.float64))
        self._obs = obs
        return obs, reward, terminal, truncated, {}

    def out_of_coverage(self) -> Any:
        """Which copies made their last step where the model has no logged step near (num_envs)."""
        return self._copies.uncovered()

    def __reduce__(self) -> "Tuple[Any, ...]":
        return self._again


def simulator_vector(name: str, num_envs: int = 1, cutoff: Optional[int] = None,
                     **options: Any) -> RehearseVectorEnv:
    again = (partial(simulator_vector, name, num_envs, cutoff, **options), ())
    return RehearseVectorEnv(_core_env(name, None, 0, options), num_envs, cutoff or _NEVER, again)


def model_vector(num_envs: int = 1, path: "os.PathLike[str] | str | None" = None,
                 model: Optional[Model] = None, member: int = 0, cutoff: Optional[int] = None,
                 **options: Any) -> RehearseVectorEnv:
    source = model if model is not None or path is None else load(path)
    core = _core_env(None, source, member, options)
    again = (partial(model_vector, num_envs, path, model, member, cutoff, **options), ())
    return RehearseVectorEnv(core, num_envs, _limit(cutoff, True, core, source, Task(core.task)), again)


def register() -> None:
    """rehearse/Acrobot-v0 and so on, and rehearse/Model-v0."""
    known = gymnasium.registry
    for name in _core.kinds("envs"):
        env_id = "rehearse/" + "".join(part.capitalize() for part in name.split("_")) + "-v0"
        if env_id not in known:
            gymnasium.register(env_id, entry_point="rehearse._gym:SimulatorEnv",
                               vector_entry_point="rehearse._gym:simulator_vector", kwargs={"name": name})
    if "rehearse/Model-v0" not in known:
        gymnasium.register("rehearse/Model-v0", entry_point="rehearse._gym:ModelEnv",
                           vector_entry_point="rehearse._gym:model_vector")
