#!/usr/bin/env python3
"""Reference values for tests/offline/test_replay_runs.c: offline_replay.csv.

A row is a name, up to three indices and a number (an exact hex float).

    P s a t x    probability of s -> t by action a in a small MDP
    R s a t x    reward of that step
    pi s a 0 x   a fixed policy
    total T 0 0 x  expected reward of its first T steps from state 0, by powers of its matrix

One bin, two actions with a few samples each, reward 1 for action 0 and 0 for action 1: expected
steps, reward and rejected samples until a run ends, by recursion over the samples left. Method 0
is a queue per action, 1 rejection with the agent's probabilities, 2 one sample of each action.

    left m 0 0 x     samples of action m
    chance 0 0 0 x   the agent's probability of action 0
    steps m 0 0 x, reward m 0 0 x, rejected m 0 0 x

    pip install numpy==2.4.6
    python offline_replay.py
"""

import functools
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
P = np.array([[[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]],
              [[0.75, 0.0, 0.25], [0.125, 0.5, 0.375]],
              [[0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]])
R = np.array([[[1.0, -2.0, 0.0], [0.0, 4.0, -1.0]],
              [[0.5, 0.0, 3.0], [-3.0, 1.0, 2.0]],
              [[6.0, -1.0, 0.25], [-0.5, 0.0, 0.0]]])
pi = np.array([[0.25, 0.75], [0.6, 0.4], [0.9, 0.1]])
left, chance = (3, 9), 0.4


def expected_total(nstep):
    at, total = np.array([1.0, 0.0, 0.0]), 0.0
    matrix = np.einsum("sa,sat->st", pi, P)
    reward = np.einsum("sa,sat,sat->s", pi, P, R)
    for _ in range(nstep):
        total += at @ reward
        at = at @ matrix
    return total


def mix(*parts):
    """Sum of probability x (vector)."""
    return sum(p * np.array(x) for p, x in parts if p > 0)


STEP0, STEP1, REJECT, END = np.eye(3)[0] + np.eye(3)[1], np.eye(3)[0], np.eye(3)[2], np.zeros(3)


@functools.lru_cache(None)
def queue(a, b):  # (steps, reward, rejected) from here on
    zero = STEP0 + queue(a - 1, b) if a else END
    one = STEP1 + queue(a, b - 1) if b else END
    return mix((chance, zero), (1 - chance, one))


@functools.lru_cache(None)
def told(a, b):
    if not a or not b:
        return END
    ratio = (chance / a, (1 - chance) / b)
    accept = [x / max(ratio) for x in ratio]
    share = (a / (a + b), b / (a + b))
    return mix((share[0] * accept[0], STEP0 + told(a - 1, b)),
               (share[0] * (1 - accept[0]), REJECT + told(a - 1, b)),
               (share[1] * accept[1], STEP1 + told(a, b - 1)),
               (share[1] * (1 - accept[1]), REJECT + told(a, b - 1)))


@functools.lru_cache(None)
def each(a, b):  # one of each action is taken out
    if not a or not b:
        return END
    return mix((chance, STEP0 + REJECT + each(a - 1, b - 1)),
               (1 - chance, STEP1 + REJECT + each(a - 1, b - 1)))


@functools.lru_cache(None)
def wait(a, b, action):  # one queue; wait for the action drawn (None: draw it). Biased: not used
    if not a or not b:
        return END
    if action is None:
        return mix((chance, wait(a, b, 0)), (1 - chance, wait(a, b, 1)))
    keep = min(a, b) / (a, b)[action]
    share = (a / (a + b), b / (a + b))
    parts = []
    for other in (0, 1):
        then = (a - (other == 0), b - (other == 1))
        found = keep if other == action else 0.0
        parts.append((share[other] * found, (STEP0, STEP1)[other] + wait(*then, None)))
        parts.append((share[other] * (1 - found), REJECT + wait(*then, action)))
    return mix(*parts)


with open(HERE / "offline_replay.csv", "w") as out:
    def row(name, i, j, k, x):
        out.write(f"{name},{i},{j},{k},{float(x).hex()}\n")

    for s in range(3):
        for a in range(2):
            row("pi", s, a, 0, pi[s, a])
            for t in range(3):
                row("P", s, a, t, P[s, a, t])
                row("R", s, a, t, R[s, a, t])
    row("total", 12, 0, 0, expected_total(12))
    row("left", 0, 0, 0, left[0])
    row("left", 1, 0, 0, left[1])
    row("chance", 0, 0, 0, chance)
    for m, value in enumerate((queue(*left), told(*left), each(*left))):
        for name, x in zip(("steps", "reward", "rejected"), value):
            row(name, m, 0, 0, x)
        print(f"method {m}: {value}, share of action 0 among the steps {value[1] / value[0]:.3f}")
    biased = wait(*left, None)
    print(f"waiting: {biased}, share {biased[1] / biased[0]:.3f}")
