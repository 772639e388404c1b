# %% [markdown]
# # Tune a DQN of Stable-Baselines3 in the model of a log
#
# `train` is any function that trains something in a gymnasium environment. The environment is the model
# of the log; it counts the reward and ends the function when the budget of the run is used up. Worker
# processes import this file, so what should happen once is below `if __name__ == "__main__"`.

# %%
from pathlib import Path

from stable_baselines3 import DQN

import rehearse


@rehearse.hyperparameters(learning_rate=rehearse.Param(1e-4, 1e-2, 1e-3, log=True),
                          exploration=rehearse.Param(0.05, 0.5, 0.2))
def train(env, seed, learning_rate, exploration):
    """DQN of Stable-Baselines3"""
    model = DQN("MlpPolicy", env, learning_rate=learning_rate, exploration_fraction=exploration,
                learning_starts=50, buffer_size=10_000, policy_kwargs={"net_arch": [32, 32]}, seed=seed)
    model.learn(total_timesteps=env.budget)


# %% [markdown]
# A study with two settings and two runs each shows that it works, and nothing about DQN. A real one has
# `steps` of ten thousands, ten runs per setting and a confirmation.

# %%
if __name__ == "__main__":
    log = rehearse.read(Path(__file__).parent.parent / "plant.csv", action="pump",
                        reward="-energy - 50*trip", terminal="trip", episode="shift", missing=-9999)
    study = rehearse.tune(log, train, search={"learning_rate": [0.0003, 0.003], "exploration": 0.2},
                          runs=2, steps=200, model="knn", repr="raw", confirm=0)
    print(study)
    print(study.runs[["learning_rate", "run", "score", "steps", "outcome"]])
