#!/usr/bin/env python3
"""repr_mlp.py - small networks trained for 20 steps, from the formulas in numpy.

    python3 tests/reference/repr_mlp.py        (numpy 2.4.6)

Writes repr_mlp.csv, a line per array: network, step, what, then the numbers. For each network
its sizes and whether the first layer has biases, the weights it begins with, and for each step
the rows of three batches, the outputs, the gradient and the weights afterwards. The loss is that
of a Laplacian representation, with a, b, c the outputs for states, close and far ones:

    mean of |a - b|^2 + beta (a . c)^2 - zeta (|a|^2 + |c|^2)

tests/repr/test_mlp.c goes the same way. Everything here is in double precision; the first weights
and the rows are floats (which nine digits hold), so that both begin with the same numbers.
"""
import pathlib
import numpy as np

here = pathlib.Path(__file__).resolve().parent
rng = np.random.default_rng(5)
BETA, ZETA = 1.0, 0.05
RATE, BETA1, BETA2, EPS = 1e-2, 0.9, 0.999, 1e-3
STEPS = 20


def forward(layers, x):
    """All outputs, the inputs first."""
    outputs = [x]
    for i, (w, b) in enumerate(layers):
        z = outputs[-1] @ w + b
        outputs.append(z if i == len(layers) - 1 else np.maximum(z, 0.0))
    return outputs


def backward(layers, outputs, d):
    """The gradient of every layer."""
    gradient = [None] * len(layers)
    for i in reversed(range(len(layers))):
        gradient[i] = (outputs[i].T @ d, d.sum(axis=0))
        d = (d @ layers[i][0].T) * (outputs[i] > 0)
    return gradient


def loss_gradient(a, b, c):
    dot = (a * c).sum(axis=1, keepdims=True)
    scale = 2.0 / len(a)
    return (scale * ((a - b) + BETA * dot * c - ZETA * a), scale * (b - a),
            scale * (BETA * dot * a - ZETA * c))


def flat(layers, bias):
    parts = []
    for i, (w, b) in enumerate(layers):
        parts.append(w.ravel())
        if i or bias:
            parts.append(b)
    return np.concatenate(parts)


def floats(*shape):
    return rng.uniform(-1.0, 1.0, size=shape).astype(np.float32).astype(float)


def train(name, size, bias, rows, out):
    def line(step, what, x):
        numbers = ",".join("%.9g" % v for v in np.ravel(x))
        out.write("%s,%d,%s,%s\n" % (name, step, what, numbers))

    layers = []
    for i, (nin, nout) in enumerate(zip(size, size[1:])):
        b = floats(nout) if i or bias else np.zeros(nout)
        layers.append((floats(nin, nout), b))
    line(0, "shape", [bias, rows, *size])
    line(0, "weights", flat(layers, bias))

    m = v = 0.0
    for t in range(1, STEPS + 1):
        x = [floats(rows, size[0]) for _ in range(3)]
        outputs = [forward(layers, part) for part in x]
        d = loss_gradient(*(o[-1] for o in outputs))
        gradients = [backward(layers, o, dd) for o, dd in zip(outputs, d)]
        total = [tuple(sum(g[i][j] for g in gradients) for j in (0, 1))
                 for i in range(len(layers))]
        g = flat(total, bias)
        m = BETA1 * m + (1.0 - BETA1) * g
        v = BETA2 * v + (1.0 - BETA2) * g * g
        w = flat(layers, bias)
        w = w - RATE * (m / (1.0 - BETA1**t)) / (np.sqrt(v / (1.0 - BETA2**t)) + EPS)
        at, changed = 0, []
        for i, (old, b) in enumerate(layers):
            new = w[at:at + old.size].reshape(old.shape)
            at += old.size
            if i or bias:
                b = w[at:at + b.size]
                at += b.size
            changed.append((new, b))
        layers = changed
        line(t, "rows", x)
        line(t, "outputs", [o[-1] for o in outputs])
        line(t, "gradient", g)
        line(t, "weights", w)


with open(here / "repr_mlp.csv", "w") as out:
    train("three", [3, 7, 5, 2], 0, 5, out)  # the first layer without biases
    train("wide", [2, 19, 3], 1, 4, out)
    train("linear", [4, 3], 1, 6, out)
