#!/usr/bin/env python3
"""Reference values for tests/model/test_replay.c: model_replay.csv.

Fair scores of ensembles. The CRPS is taken from its definition, the integral of
(F(x) - [x >= y])^2 with F the ensemble's distribution function, plus the correction that makes it
fair (Ferro 2014), so the formula of the library is checked against another one. The energy score
is computed by scipy's pairwise distances.

    pip install numpy==2.4.6 scipy==1.17.1
    python model_replay.py

A row "crps": n, y, score, x (n). A row "energy": n, d, ended of y, score, y (d), and for each member
ended and x (d). An ended point has x = 0.
"""

import pathlib

import numpy as np
from scipy.spatial.distance import cdist, pdist

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)


def fair_crps(x, y):
    n = len(x)
    at = np.sort(np.append(x, y))
    f = np.searchsorted(np.sort(x), at[:-1], side="right") / n
    integral = np.sum((f - (at[:-1] >= y)) ** 2 * np.diff(at))
    if n == 1:
        return integral
    pairs = np.abs(np.subtract.outer(x, x)).sum()
    return integral + pairs / (2 * n * n) - pairs / (2 * n * (n - 1))


def fair_energy(x, ended, y, y_ended):
    d = x.shape[1]
    mixed = np.hstack([x / np.sqrt(d), np.zeros((len(x), 1))])
    other = np.append(y / np.sqrt(d), 0.0)[None]
    near = cdist(mixed, other)[:, 0] + (ended != y_ended)
    apart = pdist(mixed) + pdist(ended[:, None].astype(float), "cityblock") if len(x) > 1 else np.zeros(1)
    return near.mean() - 0.5 * apart.mean()


def row(kind, whole, real):
    return ",".join([kind] + [str(int(w)) for w in whole] + [float(r).hex() for r in real]) + "\n"


with open(HERE / "model_replay.csv", "w") as out:
    for n in [1, 2, 3, 8, 50]:
        for kind in range(4):
            x = rng.normal(size=n) if kind < 2 else rng.integers(0, 2, size=n).astype(float)
            y = rng.normal() if kind == 0 else 3.0 if kind == 1 else float(kind == 3)
            out.write(row("crps", [n], [y, fair_crps(x, y), *x]))
        for d in [1, 2, 6]:
            for share in [0.0, 0.4]:
                ended = rng.random(n) < share
                y_ended = bool(rng.random() < share)
                x = (rng.normal(size=(n, d)) * ~ended[:, None]).astype(np.float32).astype(float)
                y = (rng.normal(size=d) * (not y_ended)).astype(np.float32).astype(float)
                score = fair_energy(x, ended, y, y_ended)
                members = np.hstack([ended[:, None].astype(float), x]).ravel()
                out.write(row("energy", [n, d, y_ended], [score, *y, *members]))
