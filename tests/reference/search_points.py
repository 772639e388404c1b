#!/usr/bin/env python3
"""search_sobol.csv and search_truncated.csv: what SciPy makes of the same.

search_sobol.csv: points of Sobol's sequence by scipy.stats.qmc.Sobol, unscrambled: the number of
the point, then its 32 coordinates in units of 2^-32.

search_truncated.csv: two numbers each with mean, deviation and correlation, inside a box; then
the means and the covariance of what is inside, by integration. One case a line:
mean_1, mean_2, sd_1, sd_2, correlation, lo_1, hi_1, lo_2, hi_2, mean_1, mean_2, var_1, var_2, cov
"""
import os
import numpy as np
from scipy.stats import qmc

here = os.path.dirname(os.path.abspath(__file__))

numbers = list(range(20)) + [100, 255, 256, 1000, 4095, 65536, 99999]
points = qmc.Sobol(32, scramble=False, bits=32).random(2**17)
with open(os.path.join(here, "search_sobol.csv"), "w") as out:
    for i in numbers:
        whole = [int(u * 2**32) for u in points[i]]
        out.write(",".join(str(v) for v in [i] + whole) + "\n")

cases = [
    (0.5, 0.5, 1.0, 1.0, 0.0, 0, 1, 0, 1),
    (0.5, 5.0, 10.0, 10.0, 0.0, 0, 1, 0, 10),
    (0.2, 0.7, 0.3, 0.2, 0.8, 0, 1, 0, 1),
    (0.0, 1.0, 0.4, 0.5, -0.6, 0, 2, -1, 1),
    (3.0, 0.1, 5.0, 0.05, 0.9, 2, 4, 0, 1),
]
with open(os.path.join(here, "search_truncated.csv"), "w") as out:
    for case in cases:
        m1, m2, s1, s2, r, a1, b1, a2, b2 = case
        t, w = np.polynomial.legendre.leggauss(400)
        x = (a1 + b1) / 2 + (b1 - a1) / 2 * t
        y = (a2 + b2) / 2 + (b2 - a2) / 2 * t
        p, q = (x - m1) / s1, (y - m2) / s2
        density = np.exp(-(p[:, None]**2 - 2 * r * p[:, None] * q + q**2) / 2 / (1 - r * r))
        density *= w[:, None] * w
        density /= density.sum()
        e1, e2 = (density.sum(1) * x).sum(), (density.sum(0) * y).sum()
        v1 = (density.sum(1) * (x - e1)**2).sum()
        v2 = (density.sum(0) * (y - e2)**2).sum()
        cov = ((x - e1)[:, None] * (y - e2) * density).sum()
        out.write(",".join("%.17g" % v for v in case + (e1, e2, v1, v2, cov)) + "\n")
