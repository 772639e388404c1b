"""Agents in Python, which worker processes import as the module agents."""

import os
import time

import numpy as np

import rehearse


class Table:
    """Q-learning with a table"""

    actions = "discrete"
    hyperparameters = {
        "alpha": rehearse.Param(0.01, 1, 0.2, log=True, about="step size"),
        "epsilon": rehearse.Param(0, 0.5, 0.1),
        "cells": rehearse.Param(2, 16, 8, whole=True, search=False),
    }

    def __init__(self, task, seed, alpha, epsilon, cells):
        assert isinstance(cells, int) and isinstance(alpha, float) and task.steps == 300
        self.task, self.rng, self.alpha, self.epsilon, self.cells = task, np.random.default_rng(seed), alpha, epsilon, cells
        self.q = np.zeros((cells,) * len(task.sensors) + (task.actions,))

    def _cell(self, obs):
        at = (obs - self.task.low) / (self.task.high - self.task.low) * self.cells
        return tuple(np.clip(at.astype(int), 0, self.cells - 1))

    def _choose(self, state):
        explore = self.rng.random() < self.epsilon
        action = int(self.rng.integers(self.task.actions)) if explore else int(self.q[state].argmax())
        self.last = (*state, action)
        return action

    def start(self, obs):
        return self._choose(self._cell(obs))

    def step(self, reward, obs):
        state = self._cell(obs)
        self.q[self.last] += self.alpha * (reward + self.task.gamma * self.q[state].max() - self.q[self.last])
        return self._choose(state)

    def end(self, reward):
        self.q[self.last] += self.alpha * (reward - self.q[self.last])


class Slow(Table):
    """The same, slowly"""

    def step(self, reward, obs):
        time.sleep(0.002)
        return super().step(reward, obs)


class Broken(Table):
    """Fails in its constructor"""

    def __init__(self, task, seed, **hyperparameters):
        raise RuntimeError("no table today")


class Hangs(Table):
    """Does not answer"""

    def step(self, reward, obs):
        time.sleep(60)


def record(env, seed, bias=0.5):
    """Random actions; writes down what the environment gave, before its last action"""
    rng = np.random.default_rng(seed)
    total, ends, cuts, length, longest = 0.0, 0, 0, 0, 0
    obs, info = env.reset(seed=seed)
    while True:
        assert env.observation_space.contains(obs), obs
        action = int(rng.integers(env.action_space.n)) if rng.random() < bias else 0
        obs, reward, terminal, truncated, info = env.step(action)
        total, length = total + reward, length + 1
        longest = max(longest, length)
        ends, cuts = ends + terminal, cuts + truncated
        if env.steps == env.budget:
            with open(os.environ["RECORD"], "a") as file:
                file.write(f"{total!r} {env.steps} {ends} {cuts} {longest} {np.random.random()!r}\n")
        if terminal or truncated:
            obs, info = env.reset()
            length = 0


def exact(env, seed, alpha=0.5):
    """Trains for exactly its budget, and prints, which must do no harm"""
    print('{"action": 99}')
    env.reset()
    for _ in range(env.budget):
        obs, reward, terminal, truncated, info = env.step(env.action_space.sample() * 0)
        assert (env.reset()[0] == obs).all() or terminal or truncated  # no new episode in the middle


def early(env, seed, alpha=0.5):
    env.reset()
    env.step(0)


def wrong(env, seed, alpha=0.5):
    env.reset()
    env.step(0)
    raise ValueError("no such thing")


def nonsense(env, seed, alpha=0.5):
    env.reset()
    env.step(7)


def slow_train(env, seed, alpha=0.5):
    """Takes its time"""
    env.reset()
    while True:
        _, _, terminal, truncated, _ = env.step(0)
        time.sleep(0.002)
        if terminal or truncated:
            env.reset()
