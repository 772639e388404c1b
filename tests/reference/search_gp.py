#!/usr/bin/env python3
"""Reference values for tests/search/test_gp.c and test_bayes.c: search_gp.csv, search_ei.csv.

search_gp.csv: scikit-learn's GaussianProcessRegressor with fixed hyperparameters, Matern 5/2, one
length scale per column: log marginal likelihood, its derivatives by the logarithms of variance
and length scales, and the mean and standard deviation at new points. A case is a row of counts
and hyperparameters, then a row per point (columns, value, noise), then a row per prediction
(columns, mean, sd).

search_ei.csv: logarithm of the expected improvement of a standard normal over -t, and its
derivative by t, by mpmath at 80 digits.

    pip install numpy==2.4.6 scikit-learn==1.9.1 mpmath
    python search_gp.py
"""

import pathlib

import mpmath as mp
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

HERE = pathlib.Path(__file__).parent
JITTER = 1e-10


def case(rng, n, ncol, variance, own):
    length = np.exp(rng.uniform(-1.5, 0.7, ncol))
    z, new = rng.uniform(size=(n, ncol)), rng.uniform(size=(7, ncol))
    y = np.sin(3 * z.sum(1)) + 0.3 * rng.normal(size=n)
    noise = rng.uniform(0, 0.05, n)
    kernel = ConstantKernel(variance) * Matern(length_scale=length, nu=2.5)
    gp = GaussianProcessRegressor(kernel, alpha=noise + own + JITTER * variance, optimizer=None)
    gp.fit(z, y)
    # the jitter is a part of the variance here, and a constant there
    value, slope = gp.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    mean, sd = gp.predict(new, return_std=True)
    yield [n, ncol, variance, own, *length, value, *slope]
    for i in range(n):
        yield [*z[i], y[i], noise[i]]
    for i in range(len(new)):
        yield [*new[i], mean[i], sd[i]]


def write(name, rows):
    with open(HERE / name, "w") as file:
        for row in rows:
            file.write(",".join(repr(float(v)) for v in row) + "\n")


rng = np.random.default_rng(1)
write("search_gp.csv", [row for shape in ((1, 1, 1.0, 1e-2), (12, 1, 0.5, 1e-3), (30, 3, 2.0, 1e-4),
                                          (40, 6, 1.3, 1e-2)) for row in case(rng, *shape)])

mp.mp.dps = 80
rows = []
for t in (-1e8, -1e4, -300, -40, -20.5, -20, -8, -5.1, -5, -4.9, -3, -2.6, -2.5, -2.4, -2, -1,
          -0.3, -1e-9, 0, 1e-9, 0.5, 1, 2.4, 2.5, 3, 6, 40):
    x = mp.mpf(t)
    phi, tail = mp.npdf(x), mp.erfc(-x / mp.sqrt(2)) / 2
    if x < -1000:  # asymptotic series: phi x^-2 (1 - 3 / x^2 + 15 / x^4 ...)
        h = phi / x**2 * (1 - 3 / x**2 + 15 / x**4 - 105 / x**6)
        tail = phi / -x * (1 - 1 / x**2 + 3 / x**4 - 15 / x**6)
    else:
        h = phi + x * tail
    rows.append([t, mp.log(h), tail / h])
write("search_ei.csv", rows)
