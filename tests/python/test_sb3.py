"""Stable-Baselines3 trains in our environments."""

import warnings

import numpy as np
import pytest

sb3 = pytest.importorskip("stable_baselines3")


def dqn(env, seed=1, **options):
    return sb3.DQN("MlpPolicy", env, seed=seed, policy_kwargs={"net_arch": [32, 32]}, **options)


def test_dqn_trains_in_a_model(model):
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(model.env())
    agent = dqn(model.env(), learning_starts=20).learn(60)
    action, _ = agent.predict(model.log.states[0])
    assert 0 <= int(action) < 3


@pytest.mark.slow
def test_dqn_learns_in_a_model(model):
    """Better than random actions in the model of the plant, after 20,000 steps."""

    def score(choose):
        env = model.env()
        total, episodes = 0.0, 0
        obs, _ = env.reset(seed=99)
        for _ in range(4000):
            obs, reward, terminal, truncated, _ = env.step(choose(obs))
            total += reward
            if terminal or truncated:
                episodes += 1
                obs, _ = env.reset()
        return total / max(episodes, 1)

    rng = np.random.default_rng(1)
    random = score(lambda obs: int(rng.integers(3)))
    agent = dqn(model.env(), learning_starts=500, learning_rate=1e-3, buffer_size=20_000).learn(20_000)
    assert score(lambda obs: int(agent.predict(obs, deterministic=True)[0])) > random + 5
