#!/usr/bin/env python3
"""offline_fqi.py - fitted Q iteration on two small logs, from the formulas in numpy.

    python3 tests/reference/offline_fqi.py        (numpy 2.4.6)

Writes offline_fqi.csv, a line per array: its name, then the numbers.

    train, valid             transitions of a log: s (2), action, reward, s' (2), terminal
    probe                    states (2)
    tiles.N, network.N       action values (3) of the probe states after N updates
    tiles.N.error, ...       mean squared TD errors on the two logs

tests/offline/test_fqi.c learns from the same logs. Everything here is in double precision, from
the same initial weights and batches: the streams, the tile coder, Adam and the networks are
written anew, from their papers and the documents of the project.
"""
import pathlib

import numpy as np

here = pathlib.Path(__file__).resolve().parent
LO, HI = np.array([0.0, -1.0]), np.array([1.0, 2.0])
NACTION, GAMMA = 3, 0.9
RATE, DECAY, BATCH, SYNC = 0.02, 0.1, 16, 10
TILINGS, TILES = 4, 2
WIDTH, LAYERS = 5, 2
SEED, UPDATES = 7, (1, 10, 35, 200)
BETA1, BETA2, EPS = 0.9, 0.999, 1e-8

# ---------------------------------------------------------------------------- streams

M = 2**64


def finalise(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % M
    z = (z ^ z >> 27) * 0x94D049BB133111EB % M
    return z ^ z >> 31


class Stream:
    """xoroshiro128++ seeded by SplitMix64 (base_rng.py)."""

    def __init__(self, *name):
        golden = 0x9E3779B97F4A7C15
        h = 0
        for coordinate in name:
            h = finalise((h + finalise((coordinate + golden) % M) + golden) % M)
        self.s = [finalise((h + golden) % M), finalise((h + 2 * golden) % M)]

    def bits(self):
        def rotl(x, k):
            return (x << k | x >> 64 - k) % M

        s0, s1 = self.s
        result = (rotl((s0 + s1) % M, 17) + s0) % M
        s1 ^= s0
        self.s = [(rotl(s0, 49) ^ s1 ^ s1 << 21) % M, rotl(s1, 28)]
        return result

    def symmetric(self, reach):
        return -reach + 2 * reach * ((self.bits() >> 11) / 2**53)

    def below(self, n):
        while True:
            m = (self.bits() >> 32) * n
            if m % 2**32 >= (2**32 - n) % n:
                return m >> 32


FIT, REPLICATE = 7, 0x66716900

# ---------------------------------------------------------------------------- action values


class Adam:
    def __init__(self, shape):
        self.m, self.v, self.t = np.zeros(shape), np.zeros(shape), 0

    def step(self, w, g):
        self.t += 1
        self.m = BETA1 * self.m + (1 - BETA1) * g
        self.v = BETA2 * self.v + (1 - BETA2) * g * g
        m = self.m / (1 - BETA1**self.t)
        v = self.v / (1 - BETA2**self.t)
        return w - RATE * (m / (np.sqrt(v) + EPS) + DECAY * w)


def features(obs):
    """0 or 1 for every tile of sensor 0, of sensor 1, and of both together."""
    q = np.clip(np.floor(TILINGS * TILES * (obs - LO) / (HI - LO)), 0, TILINGS * TILES)
    side = TILES + 1

    def tile(k, sensor, t):  # the k-th sensor of a group is displaced by (2k + 1) t
        shift = (2 * k + 1) * t
        return int(np.floor((q[sensor] - shift) / TILINGS) - np.floor(-shift / TILINGS))

    x = np.zeros(TILINGS * (2 * side + side * side))
    for t in range(TILINGS):
        for sensor in (0, 1):
            x[sensor * TILINGS * side + t * side + tile(0, sensor, t)] = 1
        x[2 * TILINGS * side + t * side * side + tile(0, 0, t) * side + tile(1, 1, t)] = 1
    return x


class Tiles:
    def __init__(self):
        rng = Stream(SEED, FIT, REPLICATE, 0)
        n = len(features(LO))
        self.w = np.array([[rng.symmetric(1 / np.sqrt(n)) for _ in range(n)]
                           for _ in range(NACTION)])
        self.adam = Adam(self.w.shape)

    def code(self, obs):
        return np.array([features(o) for o in obs])

    def weights(self):
        return self.w

    def values(self, w, x):
        return x @ w.T

    def update(self, x, act, y):
        off = self.values(self.w, x)[np.arange(len(act)), act] - y
        g = np.zeros_like(self.w)
        np.add.at(g, act, off[:, None] * x)
        self.w = self.adam.step(self.w, g)


class Network:
    def __init__(self):
        rng = Stream(SEED, FIT, REPLICATE, 0)
        size = [2] + [WIDTH] * LAYERS + [NACTION]
        self.w = []
        for i, (n, m) in enumerate(zip(size, size[1:])):
            rows = n + (i > 0)  # the last one holds the biases
            self.w.append(np.array([[rng.symmetric(1 / np.sqrt(n)) for _ in range(m)]
                                    for _ in range(rows)]))
        self.adam = [Adam(w.shape) for w in self.w]

    def code(self, obs):
        return 2 * (obs - LO) / (HI - LO) - 1

    def weights(self):
        return self.w

    def layers(self, w, x):
        outputs = [x]
        for i, layer in enumerate(w):
            if i:
                outputs[-1] = np.hstack([np.maximum(outputs[-1], 0), np.ones((len(x), 1))])
            outputs.append(outputs[-1] @ layer)
        return outputs

    def values(self, w, x):
        return self.layers(w, x)[-1]

    def update(self, x, act, y):
        outputs = self.layers(self.w, x)
        row = np.arange(len(act))
        delta = np.zeros_like(outputs[-1])
        delta[row, act] = outputs[-1][row, act] - y
        new = list(self.w)
        for i in reversed(range(len(self.w))):
            new[i] = self.adam[i].step(self.w[i], outputs[i].T @ delta)
            delta = (delta @ self.w[i].T)[:, :-1] * (outputs[i][:, :-1] > 0)
        self.w = new


# ---------------------------------------------------------------------------- learning


def targets(q, w, log):
    best = q.values(w, q.code(log[:, 4:6])).max(axis=1)
    return log[:, 3] + np.where(log[:, 6] > 0, 0.0, GAMMA * best)


def td_error(q, w, log):
    act = log[:, 2].astype(int)
    mine = q.values(q.weights(), q.code(log[:, :2]))[np.arange(len(log)), act]
    return np.mean((targets(q, w, log) - mine) ** 2)


def learn(name, kind, train, valid, probe, write):
    q, rng = kind(), Stream(SEED, FIT, REPLICATE, 1)
    x, act = q.code(train[:, :2]), train[:, 2].astype(int)
    for k in range(max(UPDATES)):
        if k % SYNC == 0:
            aim = q.weights()
            y = targets(q, aim, train)
        batch = [rng.below(len(train)) for _ in range(BATCH)]
        q.update(x[batch], act[batch], y[batch])
        if k + 1 in UPDATES:
            write(f"{name}.{k + 1}", q.values(q.weights(), q.code(probe)))
            write(f"{name}.{k + 1}.error", [td_error(q, aim, train), td_error(q, aim, valid)])


def make_log(rng, n):
    log = np.zeros((n, 7))
    log[:, 0:2] = rng.uniform(LO, HI, (n, 2))
    log[:, 2] = rng.integers(0, NACTION, n)
    log[:, 3] = rng.normal(-1, 0.5, n)
    log[:, 4:6] = log[:, 0:2] + rng.normal(0, 0.2, (n, 2)) + 0.1 * log[:, 2:3]
    log[:, 6] = rng.uniform(size=n) < 0.15
    return np.round(log, 6)


def main():
    rng = np.random.default_rng(11)
    train, valid = make_log(rng, 70), make_log(rng, 40)
    probe = np.round(rng.uniform(LO - 0.1, HI + 0.1, (12, 2)), 6)
    with open(here / "offline_fqi.csv", "w") as f:
        def write(name, x):
            f.write(",".join([name] + [f"{v:.10g}" for v in np.ravel(x)]) + "\n")

        write("train", train)
        write("valid", valid)
        write("probe", probe)
        learn("tiles", Tiles, train, valid, probe, write)
        learn("network", Network, train, valid, probe, write)


if __name__ == "__main__":
    main()
