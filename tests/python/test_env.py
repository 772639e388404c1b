"""Gymnasium environments and vectors of copies."""

import warnings

import numpy as np
import pytest

import rehearse

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

SIMULATORS = ["Acrobot", "Cartpole", "MountainCar", "Pendulum", "PuddleWorld"]


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "plant.model"
    model.write(path)
    return path


@pytest.mark.parametrize("name", SIMULATORS)
def test_simulators_pass_the_check(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ranges of Box spaces
        check_env(gymnasium.make(f"rehearse/{name}-v0").unwrapped)


def test_models_pass_the_check(path, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(gymnasium.make("rehearse/Model-v0", path=path).unwrapped)
    assert model.env().action_space.n == 3
    logged = {tuple(row) for row in model.log.states}
    env = model.env()
    obs, _ = env.reset(seed=3)
    for _ in range(50):  # a stitching model shows logged states only
        assert tuple(obs) in logged
        obs, _, terminal, truncated, _ = env.step(env.action_space.sample())
        if terminal or truncated:
            obs, _ = env.reset()


def run(env, actions, seed):
    """Observations, rewards and ends of one environment, with a reset in the step after an end."""
    out, ended = [], False
    obs, _ = env.reset(seed=seed)
    for action in actions:
        if ended:
            (obs, _), reward, terminal, truncated = env.reset(), 0.0, False, False
        else:
            obs, reward, terminal, truncated, _ = env.step(action)
        ended = terminal or truncated
        out.append((*obs, reward, terminal, truncated))
    return np.array(out, dtype=float)


@pytest.mark.parametrize("name", [*SIMULATORS, "Model"])
def test_copies_do_what_single_environments_do(name, path):
    options = {"path": path} if name == "Model" else {"cutoff": 40}
    vector = gymnasium.make_vec(f"rehearse/{name}-v0", num_envs=5, **options)
    single = gymnasium.make(f"rehearse/{name}-v0", **options).unwrapped
    assert vector.num_envs == 5 and vector.observation_space.shape == (5, *single.observation_space.shape)
    vector.action_space.seed(1)
    actions = np.array([vector.action_space.sample() for _ in range(100)])
    vector.reset(seed=7)
    rows = []
    for action in actions:
        obs, reward, terminal, truncated, _ = vector.step(action)
        rows.append(np.column_stack([obs, reward, terminal, truncated]))
    rows = np.array(rows)
    for i in range(5):
        assert np.array_equal(rows[:, i], run(single, actions[:, i], 7 + i))
    assert name in ("Model",) or rows[:, :, -1].sum() >= 5  # cut-offs


def test_some_copies_can_be_reset():
    vector = gymnasium.make_vec("rehearse/MountainCar-v0", num_envs=3)
    before, _ = vector.reset(seed=1)
    after, _ = vector.reset(options={"reset_mask": np.array([False, True, False])})
    assert (before[[0, 2]] == after[[0, 2]]).all() and before[1, 0] != after[1, 0]


def test_options_and_messages(path):
    env = gymnasium.make("rehearse/Cartpole-v0", gravity=1.6, noise=0)
    env.reset(seed=1)
    with pytest.raises(rehearse.InvalidError, match="no parameter 'gravty'; did you mean 'gravity'"):
        gymnasium.make("rehearse/Cartpole-v0", gravty=1)
    with pytest.raises(rehearse.InvalidError, match="expected path='FILE.model'"):
        gymnasium.make("rehearse/Model-v0")
    with pytest.raises(rehearse.FormatError, match="not a model file"):
        gymnasium.make("rehearse/Model-v0", path=__file__)
    with pytest.raises(rehearse.InvalidError, match="member = 3, expected 0 to 0"):
        gymnasium.make("rehearse/Model-v0", path=path, member=3)
    vector = gymnasium.make_vec("rehearse/Cartpole-v0", num_envs=2)
    vector.reset(seed=1)
    with pytest.raises(ValueError, match="action 2, expected 0 to 1"):
        vector.step(np.array([0, 2]))
    with pytest.raises(ValueError, match="3 actions, expected 2"):
        vector.step(np.array([0, 1, 0]))
