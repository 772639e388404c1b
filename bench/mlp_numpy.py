#!/usr/bin/env python3
"""The training step of bench_mlp in NumPy, one thread, processor time.

    mlp_numpy.py CACHE

CACHE is a folder in which a virtual environment with NumPy is made, once. The step is written as
one would for speed: the three batches are one of 384 rows, and Adam goes over one flat array.
Measured with the kernels that NumPy's OpenBLAS takes by itself, and with those for SkylakeX.
"""
import os
import subprocess
import sys
import time

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
ROWS, NDATA, REPEAT, STEPS = 128, 5000, 10, 100
SHAPES = [[6, 128, 128, 8], [6, 128, 32]]


def enter(cache):
    """Go on in the cached environment, made when it is not there."""
    venv = os.path.join(cache, "venv-numpy")
    python = os.path.join(venv, "bin", "python")
    done = os.path.join(venv, "ready")
    if not os.path.exists(done):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy"], check=True,
                       stdout=subprocess.DEVNULL)
        open(done, "w").close()
    for kernels in ({}, {"OPENBLAS_CORETYPE": "SkylakeX"}):
        subprocess.run([python, sys.argv[0], cache, "inside"], check=True,
                       env={**os.environ, **ONE_THREAD, **kernels})


class Network:
    def __init__(self, np, size):
        self.np, self.size, self.t = np, size, 0
        rng = self.rng = np.random.default_rng(1)
        self.data = rng.uniform(-1.0, 1.0, (NDATA, size[0])).astype(np.float32)
        n = sum((a + 1) * b for a, b in zip(size, size[1:]))
        self.w, self.g = np.zeros(n, np.float32), np.zeros(n, np.float32)
        self.m, self.v = np.zeros(n, np.float32), np.zeros(n, np.float32)
        self.layers, self.gradients, at = [], [], 0
        for a, b in zip(size, size[1:]):
            parts = (slice(at, at + a * b), slice(at + a * b, at + a * b + b))
            self.w[at:at + a * b + b] = rng.uniform(-1.0, 1.0, a * b + b) / a**0.5
            for flat, to in ((self.w, self.layers), (self.g, self.gradients)):
                to.append((flat[parts[0]].reshape(a, b), flat[parts[1]]))
            at += a * b + b

    def step(self):
        np, rng = self.np, self.rng
        a = rng.integers(0, NDATA - 16, ROWS)
        at = np.concatenate((a, a + 1 + rng.integers(0, 8, ROWS), rng.integers(0, NDATA, ROWS)))
        x = [self.data[at]]
        for i, (w, b) in enumerate(self.layers):
            z = x[-1] @ w
            z += b
            if i + 1 < len(self.layers):
                np.maximum(z, 0.0, out=z)
            x.append(z)

        a, b, c = x[-1][:ROWS], x[-1][ROWS:2 * ROWS], x[-1][2 * ROWS:]
        dot = (a * c).sum(axis=1, keepdims=True)
        gap = a - b
        d = np.concatenate((gap + dot * c - np.float32(0.05) * a, -gap,
                            dot * a - np.float32(0.05) * c))
        d *= np.float32(2.0 / ROWS)
        for i in reversed(range(len(self.layers))):
            np.matmul(x[i].T, d, out=self.gradients[i][0])
            np.sum(d, axis=0, out=self.gradients[i][1])
            if i:
                d = d @ self.layers[i][0].T
                d *= x[i] > 0.0

        self.t += 1
        root = (1.0 - 0.999**self.t)**0.5
        self.m *= np.float32(0.9)
        self.m += np.float32(0.1) * self.g
        self.v *= np.float32(0.999)
        self.v += np.float32(0.001) * (self.g * self.g)
        down = np.sqrt(self.v)
        down += np.float32(1e-8 * root)
        np.divide(self.m, down, out=down)
        down *= np.float32(1e-3 * root / (1.0 - 0.9**self.t))
        self.w -= down


def measure():
    import numpy as np
    kernels = os.environ.get("OPENBLAS_CORETYPE", "its own choice of kernels")
    for size in SHAPES:
        network, best = Network(np, size), float("inf")
        for _ in range(REPEAT):
            start = time.process_time()
            for _ in range(STEPS):
                network.step()
            best = min(best, (time.process_time() - start) / STEPS)
        flops = sum((3 if i else 2) * a * b for i, (a, b) in enumerate(zip(size, size[1:])))
        print("  %-12s %8.1f %8.1f   NumPy %s, %s" %
              ("-".join(map(str, size)), best * 1e6, 6 * ROWS * flops / best * 1e-9,
               np.__version__, kernels), flush=True)


if __name__ == "__main__":
    if "inside" in sys.argv:
        measure()
    else:
        enter(sys.argv[1])
