#!/usr/bin/env python3
"""log_inspect.py - the main numbers of an inspection, from numpy and scipy.

    python3 tests/reference/log_inspect.py        (numpy 2.4.6, scipy 1.17.1)

Writes log_inspect.csv, a small log (rows with a last observation for each episode, whose action
is empty), and log_inspect_numbers.csv, what is to be found in it. tests/log/test_inspect.c
compares. Everything here is written from the definitions in include/rehearse/log.h and in the
opening comments of src/log/inspect_*.c, with other means than there: numpy's quantiles, scipy's
trees, least squares on the rows themselves.
"""
import pathlib
import numpy as np
from scipy.spatial import cKDTree

here = pathlib.Path(__file__).resolve().parent
rng = np.random.default_rng(11)

# ---------------------------------------------------------------------------- the log

rows = []
for episode in range(30):
    x = rng.normal(size=3) * [1.0, 3.0, 0.2]
    n = int(rng.integers(15, 60))
    for t in range(n):
        a = int(rng.integers(3))
        r = round(-abs(x[0]) - 0.2 * a, 6)
        rows.append([episode, *x.round(6), a, r])
        x = np.array([0.9 * x[0] + 0.3 * (a - 1) + 0.1 * rng.normal(),
                      0.95 * x[1] + 0.3 * x[0] + 0.3 * rng.normal(),
                      0.8 * x[2] + 0.05 * rng.normal() + 0.02 * a])
    rows.append([episode, *x.round(6), "", ""])
with open(here / "log_inspect.csv", "w") as out:
    out.write("episode,x,y,z,action,reward\n")
    for row in rows:
        out.write(",".join(str(v) for v in row) + "\n")

episode = np.array([r[0] for r in rows])
obs = np.array([r[1:4] for r in rows], dtype=float)
acts = np.array([r[4] != "" for r in rows])
s_row = np.flatnonzero(acts)  # rows of s; s' is the next row
act = np.array([rows[i][4] for i in s_row])
reward = np.array([rows[i][5] for i in s_row], dtype=float)

want = []


def numbers(name, x):
    for key, value in [("n", len(x)), ("min", x.min()), ("max", x.max()), ("mean", x.mean()),
                       ("sd", x.std()), ("q25", np.quantile(x, 0.25)),
                       ("median", np.median(x)), ("q75", np.quantile(x, 0.75)),
                       ("different", len(np.unique(x)))]:
        want.append((f"{name}.{key}", value))
    for i, count in enumerate(np.histogram(x, bins=12, range=(x.min(), x.max()))[0]):
        want.append((f"{name}.bar{i}", count))


for j, name in enumerate("xyz"):
    numbers(name, obs[:, j])
numbers("reward", reward)
numbers("length", np.array([np.sum(episode[s_row] == e) for e in range(30)], dtype=float))
numbers("returns", np.array([reward[episode[s_row] == e].sum() for e in range(30)]))
starts = np.array([obs[np.flatnonzero(episode == e)[0]] for e in range(30)])
want.append(("start_spread", np.sqrt(np.mean(starts.var(axis=0) / obs.var(axis=0)))))

# ---------------------------------------------------------------------------- coverage

z = (obs - np.median(obs, axis=0)) / obs.std(axis=0)
step = np.linalg.norm(z[s_row + 1] - z[s_row], axis=1)
want.append(("step_length", np.median(step)))
want.append(("step_far", np.quantile(step, 0.98)))
for a in range(3):
    place = s_row[act == a]
    near, who = cKDTree(z[place]).query(z[s_row], k=2)
    own = place[who[:, 0]] == s_row
    far = np.where(own, near[:, 1], near[:, 0]) / np.median(step)
    want.append((f"cover{a}.n", len(place)))
    for key, p in [("median", 0.5), ("q90", 0.9), ("q99", 0.99), ("max", 1.0)]:
        want.append((f"cover{a}.{key}", np.quantile(far, p)))

# ---------------------------------------------------------------------------- alignment

inner = np.array([i for i in range(1, len(s_row) - 1)
                  if episode[s_row[i - 1]] == episode[s_row[i]] == episode[s_row[i + 1]]])
half = np.arange(len(inner)) // 64 % 2
u = np.clip(z, -6, 6)


def state(i):
    s = u[s_row[i]]
    cross = np.stack([s[:, 1] * s[:, 0], s[:, 2] * s[:, 0], s[:, 2] * s[:, 1]], axis=1)
    return np.hstack([np.ones((len(s), 1)), s, s * s - 1.0, cross])


def action(i):
    order = np.argsort([-np.sum(act == a) for a in range(3)], kind="stable")[1:]
    return np.stack([act[i] == a for a in order], axis=1).astype(float)


def error(x, y):
    total = np.zeros(y.shape[1])
    for h in range(2):
        fit, judge = half == h, half != h
        n = fit.sum()
        ridge = np.sqrt(1e-4 * n + 1e-9) * np.eye(x.shape[1])
        w = np.linalg.lstsq(np.vstack([x[fit], ridge]),
                            np.vstack([y[fit], np.zeros((x.shape[1], y.shape[1]))]),
                            rcond=None)[0]
        total += ((y[judge] - x[judge] @ w) ** 2).sum(axis=0)
    return total


d = z[s_row[inner] + 1] - z[s_row[inner]]
for j in range(3):
    moved = np.abs(d[:, j])
    limit = 6 * np.median(moved[moved > 0])
    d[:, j] = np.clip(d[:, j], -limit, limit)
base, lag = state(inner), [action(inner + k) for k in (-1, 0, 1)]
none, full = error(base, d), error(np.hstack([base] + lag), d)
for k in range(3):
    alone = error(np.hstack([base, lag[k]]), d)
    without = error(np.hstack([base] + [lag[i] for i in range(3) if i != k]), d)
    want.append((f"action{k}", max(0.0, np.max(1 - alone / none))))
    want.append((f"partial{k}", max(0.0, np.max(1 - full / without))))

with open(here / "log_inspect_numbers.csv", "w") as out:
    for key, value in want:
        out.write(f"{key},{float(value)!r}\n")
