#!/usr/bin/env python3
"""Reference values for tests/search/test_jackknife.c: search_jackknife.csv.

Importances and their standard errors, computed without any code of the library: scikit-learn's
Gaussian process (Matern 5/2, a length scale per dimension) with hyperparameters that maximise the
penalised likelihood by scipy, its constant mean by generalised least squares, Sobol indices from
their definition as integrals over a lattice (no estimator by pairs of points), and the jackknife
as Efron's variance of leave-one-group-out estimates, written with pseudo-values.

    pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
    python search_jackknife.py

A case is a row (settings, dimensions), then a row per setting (place in the unit cube, value,
noise), then four rows: shares, totals, standard errors of the shares, of the totals.
"""

import pathlib

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import Matern

HERE = pathlib.Path(__file__).parent
GROUPS = 8
LATTICE = 24  # points per dimension, in the middle of their cells


def covariance(theta, a, b):
    variance, length = np.exp(theta[0]), np.exp(theta[2:])
    return variance * Matern(length_scale=length, nu=2.5)(a, b)


def factor(theta, z, noise):
    k = covariance(theta, z, z)
    k[np.diag_indices_from(k)] += noise + np.exp(theta[1]) + 1e-10 * np.exp(theta[0])
    return cho_factor(k, lower=True)


def mean_of(f, y):
    one = np.ones(len(y))
    return one @ cho_solve(f, y) / (one @ cho_solve(f, one))


def priors(ndim):
    """Mean and standard deviation of the logarithms, and their bounds (bayes.c)."""
    at = [0.0, np.log(1e-4)] + [np.sqrt(2.0) - 3.0 + 0.5 * np.log(ndim)] * ndim
    sd = [2.0, 3.0] + [np.sqrt(3.0)] * ndim
    bounds = [(np.log(1e-2), np.log(1e4)), (np.log(1e-8), 0.0)] + [(np.log(1e-2), np.log(1e3))] * ndim
    return np.array(at), np.array(sd), bounds


def fit(z, y, noise):
    at, sd, bounds = priors(z.shape[1])

    def cost(theta):
        f = factor(theta, z, noise)
        r = y - mean_of(f, y)
        likelihood = -0.5 * r @ cho_solve(f, r) - np.log(np.diag(f[0])).sum()
        return -likelihood + 0.5 * (((theta - at) / sd) ** 2).sum()

    return minimize(cost, at, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12, "gtol": 1e-8}).x


def importance(z, value, noise):
    scale = value.std()
    y, noise = (value - value.mean()) / scale, noise / scale**2
    theta = fit(z, y, noise)
    f = factor(theta, z, noise)
    mean = mean_of(f, y)
    weight = cho_solve(f, y - mean)
    ndim = z.shape[1]
    middle = (np.arange(LATTICE) + 0.5) / LATTICE
    points = np.stack(np.meshgrid(*[middle] * ndim, indexing="ij"), axis=-1).reshape(-1, ndim)
    field = (mean + covariance(theta, points, z) @ weight).reshape((LATTICE,) * ndim)
    shares, totals = [], []
    for k in range(ndim):
        others = tuple(d for d in range(ndim) if d != k)
        shares.append(field.mean(axis=others).var() / field.var())
        totals.append(field.var(axis=k).mean() / field.var())
    return np.array(shares + totals)


def jackknife(z, value, noise):
    whole = importance(z, value, noise)
    group = np.arange(len(z)) % GROUPS
    without = np.array([importance(z[group != g], value[group != g], noise[group != g]) for g in range(GROUPS)])
    pseudo = GROUPS * whole - (GROUPS - 1) * without  # Tukey's pseudo-values
    return whole, np.sqrt(pseudo.var(axis=0, ddof=1) / GROUPS)


def main():
    rng = np.random.default_rng(11)
    shapes = [(40, 2, lambda z: np.sin(4 * z[:, 0]) + 0.5 * z[:, 1] * z[:, 0]),
              (60, 3, lambda z: 2 * (z[:, 0] - 0.4) ** 2 + np.cos(5 * z[:, 1]) * z[:, 0]),
              (90, 3, lambda z: z[:, 0] + 0.6 * z[:, 1] + 0.3 * z[:, 2])]
    with open(HERE / "search_jackknife.csv", "w") as out:
        for n, ndim, function in shapes:
            z = rng.uniform(size=(n, ndim))
            noise = rng.uniform(0.005, 0.03, n)
            value = function(z) + np.sqrt(noise) * rng.normal(size=n)
            effects, errors = jackknife(z, value, noise)
            rows = [[n, ndim], *np.column_stack([z, value, noise]),
                    effects[:ndim], effects[ndim:], errors[:ndim], errors[ndim:]]
            for row in rows:
                out.write(",".join(repr(float(x)) for x in row) + "\n")
            print(n, ndim, effects.round(3), errors.round(4))


main()
