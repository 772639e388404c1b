#!/usr/bin/env python3
"""model_knn.py - a nearest-neighbour model of a small log, all pairs compared in numpy.

    pip install numpy==2.4.6
    python3 tests/reference/model_knn.py

Writes model_knn.csv, a line each:

    step    obs (3), action, reward, next (3), terminal, begins an episode
    near    step asked from, action, the 5 nearest steps, their distances
    p       weights, distance, k, step asked from, action, probabilities (k)
    expect  step asked from, action, reward, terminal, next (3): means by the paper's weights, k 3
    reach   p, the p-quantile of the distances to the nearest over all states and actions
    length  the median length of a step

Squared distances are sums in order of the dimensions, in floats; everything else is in doubles.
The state asked from is the one that a step begins in. tests/model/test_knn.c compares.
"""
import pathlib

import numpy as np

N, NOBS, NACTION, MOST = 90, 3, 3, 5
rng = np.random.default_rng(4)
f32 = np.float32


def make_log():
    """Walks with ties: numbers are multiples of 1/8, and some states occur several times."""
    obs, act, reward, nxt, flag, begins = [], [], [], [], [], []
    left = 0
    for _ in range(N):
        fresh = left == 0
        if fresh:
            left = int(rng.integers(3, 12))
            state = rng.integers(0, 16, NOBS) / 8.0
        a = int(rng.integers(NACTION))
        after = state.copy()
        after[a] += rng.integers(-1, 4) / 8.0
        left -= 1
        obs.append(state)
        act.append(a)
        reward.append(float(rng.integers(-8, 1)) / 4.0)
        nxt.append(after)
        flag.append(int(left == 0 and rng.random() < 0.7))
        begins.append(int(fresh))
        state = after
    return np.array(obs), np.array(act), np.array(reward), np.array(nxt), flag, begins


def distances(query, points):
    """To every point, rounded as floats are."""
    total = np.zeros(len(points), f32)
    for k in range(NOBS):
        off = f32(query[k]) - points[:, k].astype(f32)
        total = total + off * off
    return total


def weigh(kind, d):
    """Probabilities of neighbours at distances d."""
    if len(d) == 1:
        return np.ones(1)
    far = d.max()
    if kind == "paper":
        w = 1.0 - (d + 1e-6) / (d + 1e-6).sum()
    elif kind == "inverse":
        w = 1.0 / (d + far / 1000.0) if far > 0 else np.ones(len(d))
    elif kind == "kernel":
        w = np.exp(-((d / far) ** 2) / 2.0) if far > 0 else np.ones(len(d))
    else:
        w = np.ones(len(d))
    return w / w.sum()


def main():
    obs, act, reward, nxt, flag, begins = make_log()
    lines = []

    def line(*words):
        lines.append(",".join(w if isinstance(w, str) else repr(float(w)) for w in words))

    for i in range(N):
        line("step", *obs[i], act[i], reward[i], *nxt[i], flag[i], begins[i])

    # the states an agent can stand in, each once as the log keeps them: s, and a last s' that is
    # not terminal
    states = [obs[i] for i in range(N)]
    for i in range(N):
        last = i + 1 == N or begins[i + 1]
        if last and not flag[i]:
            states.append(nxt[i])
    nearest = []
    for a in range(NACTION):
        taken = np.flatnonzero(act == a)
        for i, state in enumerate(states):
            square = distances(state, obs[taken])
            order = np.lexsort((taken, square))[:MOST]
            steps, d = taken[order], np.sqrt(square[order])  # float norms
            nearest.append(float(d[0]))
            if i >= N:
                continue
            line("near", i, a, *steps, *d)
            if i % 6:
                continue
            d = d.astype(float)
            for kind in ("paper", "inverse", "uniform", "kernel"):
                for how in ("norm", "squared"):
                    for k in (1, 2, 3, 5):
                        metric = d[:k] if how == "norm" else d[:k] ** 2
                        line("p", kind, how, k, i, a, *weigh(kind, metric))
            p = weigh("paper", d[:3])
            ends = np.array([flag[s] for s in steps[:3]], float)
            going = (p * (1.0 - ends)).sum()
            mean = sum(p[j] * (1.0 - ends[j]) * nxt[steps[j]] for j in range(3))
            mean = mean / going if going > 0 else np.full(NOBS, np.nan)
            line("expect", i, a, (p * reward[steps[:3]]).sum(), (p * ends).sum(), *mean)
    for p in (0.0, 0.5, 0.8, 0.95, 0.99, 1.0):
        line("reach", p, np.quantile(np.array(nearest), p))
    line("length", np.median(np.sqrt(((nxt - obs) ** 2).sum(axis=1)).astype(f32)))
    path = pathlib.Path(__file__).resolve().parent / "model_knn.csv"
    path.write_text("\n".join(lines) + "\n")


main()
