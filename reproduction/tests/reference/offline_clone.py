#!/usr/bin/env python3
"""offline_clone.py - a softmax policy fitted to the actions of a small log, by scipy.

    python3 tests/reference/offline_clone.py        (numpy 2.4.6, scipy 1.17.1)

Reads the logs and probe states of offline_fqi.csv, and its tile coder (offline_fqi.py). Writes
offline_clone.csv, a line per array: for ridge R, `clone.R` has the probabilities (3) of the probe
states, `clone.R.loss` the mean of -ln probability of the logged actions of both logs, and
`clone.R.theta` the squared norm of the weights.

scipy minimises by L-BFGS, with the gradient by the formula; tests/offline/test_clone.c compares
another method with it.
"""
import pathlib

import numpy as np
import scipy.optimize
import scipy.special

import offline_fqi

here = pathlib.Path(__file__).resolve().parent


def read(name):
    for line in open(here / "offline_fqi.csv"):
        first, *rest = line.split(",")
        if first == name:
            return np.array([float(x) for x in rest])
    raise KeyError(name)


def features(states):
    return np.array([offline_fqi.features(s) for s in states])


def fit(log, ridge):
    x, y = features(log[:, :2]), np.eye(3)[log[:, 2].astype(int)]

    def loss(flat):
        theta = flat.reshape(-1, 3)
        z = x @ theta
        value = np.sum(scipy.special.logsumexp(z, axis=1) - np.sum(z * y, axis=1))
        g = x.T @ (scipy.special.softmax(z, axis=1) - y) + ridge * theta
        return value + ridge / 2 * np.sum(flat**2), g.ravel()

    found = scipy.optimize.minimize(loss, np.zeros(x.shape[1] * 3), jac=True, method="L-BFGS-B",
                                    options={"gtol": 1e-9, "ftol": 0, "maxiter": 100000,
                                             "maxfun": 1000000, "maxcor": 50})
    assert np.abs(found.jac).max() < 1e-6, found
    return found.x.reshape(-1, 3)


def main():
    logs = [read("train").reshape(-1, 7), read("valid").reshape(-1, 7)]
    probe = read("probe").reshape(-1, 2)
    with open(here / "offline_clone.csv", "w") as f:
        for ridge in (0.01, 1, 100):
            theta = fit(logs[0], ridge)
            pi = scipy.special.softmax(features(probe) @ theta, axis=1)
            loss = []
            for log in logs:
                z = features(log[:, :2]) @ theta
                taken = z[np.arange(len(log)), log[:, 2].astype(int)]
                loss.append(np.mean(scipy.special.logsumexp(z, axis=1) - taken))
            for name, x in (("", pi), (".loss", loss), (".theta", [np.sum(theta**2)])):
                f.write(",".join([f"clone.{ridge:g}{name}"] + [f"{v:.12g}" for v in np.ravel(x)])
                        + "\n")


if __name__ == "__main__":
    main()
