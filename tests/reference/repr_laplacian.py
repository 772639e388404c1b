#!/usr/bin/env python3
"""repr_laplacian.py - the Laplacian loss and 15 steps of training by it, in numpy.

    python3 tests/reference/repr_laplacian.py        (numpy 2.4.6)

Writes repr_laplacian.csv, a line per array: case, step, what, then the numbers. For each case
whether the first layer has biases, the weight h of the attractive term, beta, zeta, the rows of a
batch and the sizes of the layers; the weights it begins with; and for each step the rows of
states, close and far ones, the loss and the weights afterwards. With a, b, c their outputs:

    loss = mean of h |a - b|^2 + beta ((a . c)^2 - zeta |a|^2 - zeta |c|^2)

The gradient is not derived by hand: it is what central differences of the loss give, in double
precision, so that a wrong derivative cannot be wrong in both places. tests/repr/test_laplacian.c
goes the same way with the library's loss, network and Adam.
"""
import pathlib
import numpy as np

here = pathlib.Path(__file__).resolve().parent
rng = np.random.default_rng(11)
RATE, BETA1, BETA2, EPS = 1e-2, 0.9, 0.999, 1e-3
STEPS = 15


def outputs(w, size, bias, x):
    at = 0
    for i, (nin, nout) in enumerate(zip(size, size[1:])):
        x = x @ w[at:at + nin * nout].reshape(nin, nout)
        at += nin * nout
        if i or bias:
            x = x + w[at:at + nout]
            at += nout
        if i + 2 < len(size):
            x = np.maximum(x, 0.0)
    return x


def loss(w, size, bias, h, beta, zeta, x):
    a, b, c = (outputs(w, size, bias, part) for part in x)
    attract = h * ((a - b) ** 2).sum(axis=1)
    repel = (a * c).sum(axis=1) ** 2 - zeta * (a * a).sum(axis=1) - zeta * (c * c).sum(axis=1)
    return (attract + beta * repel).mean()


def gradient(w, *rest, step=1e-6):
    g = np.empty_like(w)
    for i in range(len(w)):
        up, down = w.copy(), w.copy()
        up[i] += step
        down[i] -= step
        g[i] = (loss(up, *rest) - loss(down, *rest)) / (2.0 * step)
    return g


def floats(*shape):
    return rng.uniform(-1.0, 1.0, size=shape).astype(np.float32).astype(float)


def train(name, size, bias, h, beta, zeta, rows, out):
    def line(step, what, x):
        numbers = ",".join("%.9g" % v for v in np.ravel(x))
        out.write("%s,%d,%s,%s\n" % (name, step, what, numbers))

    n = sum((nin + (1 if i or bias else 0)) * nout
            for i, (nin, nout) in enumerate(zip(size, size[1:])))
    w = floats(n)
    line(0, "shape", [bias, h, beta, zeta, rows, *size])
    line(0, "weights", w)
    m = v = 0.0
    for t in range(1, STEPS + 1):
        x = floats(3, rows, size[0])
        now = loss(w, size, bias, h, beta, zeta, x)
        g = gradient(w, size, bias, h, beta, zeta, x)
        m = BETA1 * m + (1.0 - BETA1) * g
        v = BETA2 * v + (1.0 - BETA2) * g * g
        w = w - RATE * (m / (1.0 - BETA1**t)) / (np.sqrt(v / (1.0 - BETA2**t)) + EPS)
        line(t, "rows", x)
        line(t, "loss", [now])
        line(t, "gradient", g)
        line(t, "weights", w)


with open(here / "repr_laplacian.csv", "w") as out:
    train("plain", [3, 6, 5, 2], 1, 1.0, 5.0, 0.5, 6, out)
    train("halved", [2, 5, 4, 3], 0, 0.5, 5.0, 0.05, 4, out)
    train("gentle", [4, 7, 1], 1, 1.0, 0.5, 2.0, 3, out)
