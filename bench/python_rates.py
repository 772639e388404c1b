#!/usr/bin/env python3
"""python_rates - speed of the Python package: vectors of copies, and agents in Python.

    build-python/venv/bin/python bench/python_rates.py

Rates of vectors are per second of processor time of one core, the best of five, so that other programs on
the machine disturb less. Those of agents are by the clock, with one worker, without its start-up.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from pathlib import Path

import gymnasium
import numpy as np

import rehearse

COPIES = 1024
PLANT = Path(__file__).resolve().parent.parent / "examples" / "plant.csv"
ROLES = dict(action="pump", reward="-energy - 50*trip", terminal="trip", episode="shift", missing=-9999)


def vector_rate(env, calls):
    """Steps of all copies per second."""
    env.reset(seed=1)
    actions = [env.action_space.sample() for _ in range(50)]
    best = 0.0
    for _ in range(5):
        begun = time.process_time()
        for i in range(calls):
            env.step(actions[i % 50])
        best = max(best, calls * COPIES / (time.process_time() - begun))
    return best


class Nothing:
    """The least that an agent can do"""

    hyperparameters = {"alpha": rehearse.Param(0, 1)}

    def __init__(self, task, seed, alpha):
        pass

    def start(self, obs):
        return 0

    def step(self, reward, obs):
        return 0

    def end(self, reward):
        pass


def nothing(env, seed, alpha=0.5):
    """The least that a train function can do"""
    env.reset()
    while True:
        _, _, terminal, truncated, _ = env.step(0)
        if terminal or truncated:
            env.reset()


def agent_rate(agent, steps):
    """Steps per second: the difference of a long and a short study, so that start-up cancels."""
    taken = []
    for n in (steps // 10, steps):
        begun = time.time()
        study = rehearse.tune(PLANT, agent, search={"alpha": [0.1, 0.2]}, runs=1, steps=n, model="knn", repr="raw",
                              confirm=0, jobs=1, progress=False, method="grid", **ROLES)
        assert (study.runs["outcome"] == "finished").all()
        taken.append((study.result["steps"], time.time() - begun))
    return (taken[1][0] - taken[0][0]) / (taken[1][1] - taken[0][1])


if __name__ == "__main__":
    print(f"vectors of {COPIES} copies, steps/s of one core")
    make = gymnasium.make_vec
    for name, env, calls in (
        ("gymnasium CartPole, SyncVectorEnv", make("CartPole-v1", COPIES, vectorization_mode="sync"), 5),
        ("gymnasium CartPole, its own vector environment",
         make("CartPole-v1", COPIES, vectorization_mode="vector_entry_point"), 100),
        ("rehearse Cartpole without noise", make("rehearse/Cartpole-v0", COPIES, noise=0), 500),
        ("rehearse Cartpole", make("rehearse/Cartpole-v0", COPIES), 500),
        ("rehearse MountainCar", make("rehearse/MountainCar-v0", COPIES), 200),
        ("rehearse Acrobot", make("rehearse/Acrobot-v0", COPIES), 50),
        ("the model of plant.csv",
         make("rehearse/Model-v0", COPIES, model=rehearse.fit(PLANT, model="knn", repr="raw", progress=False, **ROLES)),
         100),
    ):
        print(f"  {vector_rate(env, calls):14,.0f}  {name}")
    print("agents in a study of plant.csv, steps/s")
    for name, agent, steps in (("esarsa, built in", "esarsa", 2_000_000), ("a class", Nothing, 20_000),
                               ("a train function", nothing, 20_000)):
        print(f"  {agent_rate(agent, steps):14,.0f}  {name}")
