#!/usr/bin/env python3
"""model_nn.py - neural network models fitted to small logs, from the formulas in numpy.

    pip install numpy==2.4.6 mpmath==1.4.1
    python3 tests/reference/model_nn.py

Writes model_nn.csv, a line per array: case, what, then the numbers. First a network alone
("learner"): rows, the error after every epoch and the outputs in the end. Then whole fits: a
log, which of its transitions are used, and what the model says of some states and actions.
Streams, first weights, transitions held out, shuffles, batches, Adam, when training ends and
which weights are kept are all worked out here anew, in double precision; tests/model/test_nn.c
goes the same way with rh_nn__learn() and rh_model_nn.
"""
import pathlib

import numpy as np

from base_rng import Stream

here = pathlib.Path(__file__).resolve().parent
rng = np.random.default_rng(11)
NOISE = 2  # RH_STREAM_NOISE
INPUT, TARGET, ENDING, HIDDEN, RATE, BATCH, EPOCHS, PATIENCE, HELD_OUT = range(9)
BETA1, BETA2, EPS = 0.9, 0.999, 1e-8
TERMINAL, UNKNOWN = 1, -1


# ------------------------------------------------------------------ networks


def first_weights(stream, size):
    layers = []
    for nin, nout in zip(size, size[1:]):
        reach = 1.0 / np.sqrt(nin)
        u = np.array([float(stream.uniform()) for _ in range((nin + 1) * nout)])
        w = (-reach + (reach - -reach) * u).astype(np.float32).astype(float)
        layers.append([w[:nin * nout].reshape(nin, nout), w[nin * nout:]])
    return layers


def outputs(layers, x):
    every = [x]
    for i, (w, b) in enumerate(layers):
        z = every[-1] @ w + b
        every.append(z if i == len(layers) - 1 else np.maximum(z, 0.0))
    return every


class Adam:
    def __init__(self, layers, rate):
        self.rate, self.t = rate, 0
        self.m = [[np.zeros_like(p) for p in layer] for layer in layers]
        self.v = [[np.zeros_like(p) for p in layer] for layer in layers]

    def step(self, layers, gradient):
        self.t += 1
        for layer, g, m, v in zip(layers, gradient, self.m, self.v):
            for k in range(2):
                m[k] = BETA1 * m[k] + (1.0 - BETA1) * g[k]
                v[k] = BETA2 * v[k] + (1.0 - BETA2) * g[k]**2
                mean, square = m[k] / (1.0 - BETA1**self.t), v[k] / (1.0 - BETA2**self.t)
                layer[k] = layer[k] - self.rate * mean / (np.sqrt(square) + EPS)


def learn(stream, layers, param, x, y, train, held):
    """The weights of the best epoch, and the errors after every one."""
    adam, errors, best, rises = Adam(layers, param[RATE]), [], layers, 0
    order = list(train)
    for _ in range(int(param[EPOCHS])):
        for i in reversed(range(1, len(order))):
            j = stream.below(i + 1)
            order[i], order[j] = order[j], order[i]
        for at in range(0, len(order), int(param[BATCH])):
            rows = order[at:at + int(param[BATCH])]
            every = outputs(layers, x[rows])
            d = 2.0 * (every[-1] - y[rows]) / y[rows].size
            gradient = []
            for i in reversed(range(len(layers))):
                gradient.insert(0, [every[i].T @ d, d.sum(axis=0)])
                d = (d @ layers[i][0].T) * (every[i] > 0.0)
            adam.step(layers, gradient)
        if not len(held):
            best = layers
            continue
        error = np.mean((outputs(layers, x[held])[-1] - y[held])**2)
        rises = rises + 1 if errors and error > errors[-1] else 0
        if error < min(errors, default=np.inf):
            best = [list(layer) for layer in layers]
        errors.append(error)
        if rises >= param[PATIENCE]:
            break
    return best, errors


# ------------------------------------------------------------------ models


class Range:
    def __init__(self, x):
        self.lo, self.hi = np.min(x, axis=0), np.max(x, axis=0)
        self.middle, self.half = (self.lo + self.hi) / 2.0, (self.hi - self.lo) / 2.0

    def scale(self, x):
        u = (x - self.middle) / np.where(self.half > 0.0, self.half, 1.0)
        return np.where(self.half > 0.0, np.clip(u, -1.0, 1.0), 0.0)

    def back(self, u):
        return np.clip(self.middle + self.half * u, self.lo, self.hi)


def hold_out(stream, use, ends, share):
    held = set()
    for kind in (False, True):
        some = [t for t in sorted(set(use)) if ends[t] == kind]
        for i in range(int(share * len(some))):
            j = i + stream.below(len(some) - i)
            held.add(some[j])
            some[j] = some[i]
    return held


def fit(param, log, use, stream):
    """A function of state and action that gives next state, reward, end."""
    s, act = log["obs"][log["from"]], log["act"]
    change = param[TARGET] == 1
    known = log["to"] != UNKNOWN
    to = np.where(known[:, None], log["obs"][log["to"]], 0.0)
    ends = (log["flag"] & TERMINAL) != 0
    held = hold_out(stream, use, ends, param[HELD_OUT])
    seed = stream.bits()

    used = np.array(sorted(set(use)))
    sure = used[known[used]]
    sensors = Range(np.vstack([s[used], to[sure]]))
    targets = to - s if change else to
    state_range, reward_range = Range(targets[sure]), Range(log["reward"][used])
    action_range = Range(act[used])

    def inputs(obs, action):
        if log["naction"]:
            marks = (np.arange(log["naction"]) == action[:, :1]) * 1.0
            x = np.hstack([sensors.scale(obs), marks])
        else:
            x = np.hstack([sensors.scale(obs), action_range.scale(action)])
        return x.astype(np.float32).astype(float)

    x = inputs(s, act)
    y = [state_range.scale(targets), reward_range.scale(log["reward"])[:, None],
         ends[:, None] * 1.0]
    nets = []
    for k in range(3):
        y[k] = y[k].astype(np.float32).astype(float)
        if np.all(y[k][used] == y[k][used[0]]):
            nets.append(None)
            continue
        own = Stream(seed, NOISE, k, 0)
        size = [x.shape[1], int(param[HIDDEN]), int(param[HIDDEN]), y[k].shape[1]]
        layers = first_weights(own, size)
        rows = [t for t in use if k or known[t]]
        nets.append(learn(own, layers, param, x, y[k], [t for t in rows if t not in held],
                          [t for t in rows if t in held]))

    def predict(obs, action):
        u = inputs(obs, action)
        out = [outputs(net[0], u)[-1] if net else np.zeros((len(u), y[k].shape[1]))
               for k, net in enumerate(nets)]
        after = state_range.back(out[0]) + (obs if change else 0.0)
        return (np.clip(after, sensors.lo, sensors.hi), reward_range.back(out[1][:, 0]),
                np.clip(out[2][:, 0], -1.0, 1.0))

    return predict, nets


# ------------------------------------------------------------------ cases


def short(*shape):
    """Numbers that six digits hold."""
    return np.round(rng.uniform(-1.0, 1.0, size=shape), 6)


def writer(out, name):
    def line(what, x):
        out.write("%s,%s,%s\n" % (name, what, ",".join("%.9g" % v for v in np.ravel(x))))
    return line


def learner_case(out, name, param, n):
    line = writer(out, name)
    x, y = short(n, 3), short(n, 2)
    y[:, 0] = np.round(np.sin(3.0 * x[:, 0]) * x[:, 1], 6)
    held = (np.arange(n) % 4 == 1) * 1
    x, y = (a.astype(np.float32).astype(float) for a in (x, y))
    stream = Stream(5, NOISE, 1, 0)
    layers = first_weights(stream, [3, int(param[HIDDEN]), int(param[HIDDEN]), 2])
    best, errors = learn(stream, layers, param, x, y, np.flatnonzero(held == 0),
                         np.flatnonzero(held))
    print(name, len(errors), "epochs, best", int(np.argmin(errors)) + 1)
    line("param", param)
    line("x", x)
    line("y", y)
    line("held", held)
    line("errors", errors)
    line("outputs", outputs(best, x)[-1])


def fit_case(out, name, param, log, use, nquery):
    line = writer(out, name)
    n = len(log["from"])
    nact = log["act"].shape[1]
    predict, nets = fit(param, log, use, Stream(3, NOISE, 0, 0))
    print(name, [net and len(net[1]) for net in nets])
    obs = 1.2 * short(nquery, log["obs"].shape[1])
    if log["naction"]:
        act = np.arange(nquery)[:, None] % log["naction"]
    else:
        act = 1.2 * short(nquery, nact)
    after, reward, end = predict(obs, act)
    line("param", param)
    line("shape", [log["obs"].shape[1], log["naction"], nact, len(log["obs"]), n])
    line("obs", log["obs"])
    line("steps", np.column_stack([log["from"], log["to"], log["reward"], log["flag"]]))
    line("act", log["act"])
    line("use", use)
    line("asked", np.hstack([obs, act]))
    line("expected", np.column_stack([after, reward, end]))


def main():
    with open(here / "model_nn.csv", "w") as out:
        #               input target ending hidden rate  batch epochs patience held out
        learner_case(out, "learner", [0, 0, 0, 7, 0.003, 6, 8, 3, 0], 47)
        learner_case(out, "rising", [0, 0, 0, 12, 0.02, 8, 60, 2, 0], 60)

        # marks of three actions, a sensor that never moves, ends whose state is not known, and
        # transitions that are used twice
        n = 60
        obs = short(n, 3)
        obs[:, 1] = 0.25
        s, a = np.arange(n), rng.integers(3, size=(n, 1))
        ends = obs[:, 0] > 0.5
        to = np.where(ends & (s % 2 == 0), UNKNOWN, (s * 7 + 5) % n)
        log = {"obs": obs, "naction": 3, "from": s, "to": to, "act": a, "flag": ends * TERMINAL,
               "reward": np.round(obs[:, 2] * (a[:, 0] - 1.0), 6)}
        use = sorted([*range(n), *range(10, 20), 12])
        fit_case(out, "marks", [0, 0, 0, 8, 0.003, 5, 6, 3, 0.25], log, use, 12)

        # vectors, nothing ends, nothing is held out
        n = 50
        obs = short(n, 2)
        log = {"obs": obs, "naction": 0, "from": s[:n], "to": (s[:n] * 3 + 1) % n,
               "act": short(n, 2), "flag": np.zeros(n, int), "reward": short(n)}
        fit_case(out, "vectors", [0, 1, 0, 6, 0.003, 16, 5, 3, 0.0], log, [*range(n)], 8)


if __name__ == "__main__":
    main()
