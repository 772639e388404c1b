#!/usr/bin/env python3
"""Reference values for tests/base/test_stats.c: base_student.csv and base_quantiles.csv.

Student's quantiles are roots found with mpmath at 50 digits, started from scipy's and compared
with them; quantiles of samples are numpy's. Numbers are written as exact hex floats.

    pip install mpmath==1.4.1 scipy==1.17.1 numpy==2.4.6
    python base_stats.py
"""

import csv
import pathlib

import mpmath as mp
import numpy as np
from scipy import stats

HERE = pathlib.Path(__file__).parent
mp.mp.dps = 50

DF = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7, 9, 10, 14, 19, 29, 30, 49, 99, 199, 999, 9999.5, 1e6,
      1e9, 1e12]
P = [1e-300, 1e-100, 1e-30, 1e-12, 1e-6, 1e-4, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.25,
     0.26, 0.3, 0.4, 0.45, 0.49, 0.499, 0.4999999, 0.5, 0.50001, 0.6, 0.75, 0.9, 0.95, 0.975,
     0.99, 0.995, 0.9999, 1 - 2.0**-40]


def log_density(t, df):
    return (mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(df * mp.pi) / 2
            - (df + 1) / 2 * mp.log1p(t * t / df))


def tail(t, df):
    """P(T > t) for t > 0."""
    if df <= 20000:
        x = df / (df + t * t)
        return mp.betainc(df / 2, mp.mpf(1) / 2, 0, x, regularized=True) / 2
    if t < 2:
        return mp.mpf(1) / 2 - mp.quad(lambda h: mp.exp(log_density(h, df)), [0, t])
    # relative to the density at t: mpmath stops at an absolute error
    at = log_density(t, df)
    return mp.exp(at) * mp.quad(lambda h: mp.exp(log_density(t + h, df) - at),
                                [k / t for k in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)])


def student(p, df):
    p, df = mp.mpf(p), mp.mpf(df)
    q = min(p, 1 - p)
    if q == mp.mpf(1) / 2:
        return mp.mpf(0)
    if df == 1:
        t = 1 / mp.tan(mp.pi * q)
    elif df == 2:
        t = (1 - 2 * q) / mp.sqrt(2 * q * (1 - q))
    else:
        # Newton on log(tail) against log(t), from where scipy is or the power law says
        near = float(-stats.t.ppf(float(q), float(df)))
        u = mp.log(near) if 0 < near < 1e50 else -mp.log(q) / df
        for _ in range(60):
            t = mp.exp(u)
            Q = tail(t, df)
            move = mp.log(Q / q) * Q / (t * mp.exp(log_density(t, df)))
            u += move
            if abs(move) < mp.mpf(10) ** -30:
                break
        else:
            raise SystemExit(f"no root for p={p} df={df}")
        t = mp.exp(u)
    return -t if p < mp.mpf(1) / 2 else t


def main():
    worst = 0.0
    with open(HERE / "base_student.csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["p", "df", "t"])
        for df in DF:
            for p in P:
                t = float(student(p, df))
                out.writerow([float(p).hex(), float(df).hex(), t.hex()])
                if 1e-6 <= min(p, 1 - p) < 0.45:
                    worst = max(worst, abs(stats.t.ppf(p, df) / t - 1))
    print(f"scipy differs by at most {worst:.1e} for tails from 1e-6 to 0.45")

    rng = np.random.default_rng(1)
    with open(HERE / "base_quantiles.csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["n", "p", "quantile", "sorted values"])
        for n in (1, 2, 3, 4, 5, 10, 31, 100):
            x = np.sort(rng.normal(-100, 30, n))
            for p in (0, 0.01, 0.25, 1 / 3, 0.5, 0.75, 0.9, 0.999, 1):
                q = float(np.quantile(x, p))
                out.writerow([n, float(p).hex(), q.hex(), " ".join(float(v).hex() for v in x)])


if __name__ == "__main__":
    main()
