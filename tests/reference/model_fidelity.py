#!/usr/bin/env python3
"""model_fidelity.py - predictions of held-out steps by three neighbours, in numpy.

    python3 tests/reference/model_fidelity.py        (numpy 2.4.6)

Writes model_fidelity.csv. A line is a step of a log (step, log, begins, s, s, action, reward, s',
s', terminal; s' is nan where it is not known) or a number that tests/model/test_fidelity.c
compares with (number, log, name, value). The model has k = 3, the paper's weights and no reach, or
for the names that begin with `reach.` one of 0.08; codes are the observations.

The log `episodes` has seven episodes, of which the fourth resumes the third: six parts, dealt out
to five folds in turn. The log `one` is one episode: five blocks, with a hundredth of the log on
either side left out. Numbers are multiples of 1/1024, so that a float holds them.
"""
import math
import pathlib
import numpy as np

here = pathlib.Path(__file__).resolve().parent
rng = np.random.default_rng(11)
lines = []
reach = 0.08


def short(x):
    return np.round(x * 1024) / 1024


def make(lengths, begins, ends, known):
    """Steps that go into a direction of their action, with noise."""
    steps = []
    for length, begin, end, seen in zip(lengths, begins, ends, known):
        s = short(rng.uniform(-1, 1, 2))
        for i in range(length):
            act = int(rng.integers(2))
            move = np.array([0.2, 0.05]) if act else np.array([-0.1, 0.15])
            after = short(s * 0.9 + move + 0.05 * rng.standard_normal(2))
            reward = float(short(-abs(after[0]) + 0.3 * act))
            last = i == length - 1
            steps.append(dict(begin=begin if i == 0 else 0, s=s, act=act, reward=reward,
                              to=after if seen or not last else None,
                              terminal=last and end))
            s = after
    return steps


def expect(train, s, act):
    """Mean next state of neighbours that do not end, mean reward, chance of an end."""
    near = [t for t in train if t["act"] == act]
    d = np.array([math.dist(t["s"], s) for t in near])
    order = np.argsort(d, kind="stable")[:3]
    d, near = d[order], [near[i] for i in order]
    p = 1 - (d + 1e-6) / np.sum(d + 1e-6)
    p /= p.sum()
    going = [(q, t["to"]) for q, t in zip(p, near) if not t["terminal"]]
    following = None
    if going:
        following = sum(q * to for q, to in going) / sum(q for q, _ in going)
    return (following, sum(q * t["reward"] for q, t in zip(p, near)),
            sum(q for q, t in zip(p, near) if t["terminal"]), d[0])


def folds(steps, name):
    n = len(steps)
    if name == "one":
        gap = math.ceil(0.01 * n)
        for f in range(5):
            begin, end = n * f // 5, n * (f + 1) // 5
            yield (steps[begin:end], steps[:max(0, begin - gap)] + steps[end + gap:])
        return
    part, unit = [], -1
    for t in steps:
        unit += t["begin"] == 1
        part.append(unit % 5)
    for f in range(5):
        yield ([t for t, p in zip(steps, part) if p == f],
               [t for t, p in zip(steps, part) if p != f])


def number(log, name, value):
    lines.append(f"number,{log},{name},{value:.17g}")


def measure(steps, log):
    error = {}

    def add(name, model, mean, copy):
        for kind, e in (("model", model), ("mean", mean), ("copy", copy)):
            error.setdefault(f"{name}.{kind}", []).append(float(np.sum(np.square(e))))

    nheld, nuncovered, reached = 0, 0, []
    for held, train in folds(steps, log):
        mean_to = np.mean([t["to"] for t in train if t["to"] is not None], axis=0)
        mean_reward = np.mean([t["reward"] for t in train])
        mean_end = np.mean([t["terminal"] for t in train])
        for t in held:
            nheld += 1
            following, reward, end, far = expect(train, t["s"], t["act"])
            if t["to"] is not None and following is not None:
                add("state", following - t["to"], mean_to - t["to"], t["s"] - t["to"])
                for k in range(2):
                    add(f"sensor{k}", following[k] - t["to"][k], mean_to[k] - t["to"][k],
                        t["s"][k] - t["to"][k])
            nuncovered += far > reach
            if far <= reach:
                reached.append((reward - t["reward"]) ** 2)
            add("reward", reward - t["reward"], mean_reward - t["reward"], math.nan)
            add("terminal", end - t["terminal"], mean_end - t["terminal"], math.nan)
    number(log, "nheld", nheld)
    number(log, "reach.held_out_of_coverage", nuncovered / nheld)
    number(log, "reach.reward.model", math.sqrt(np.mean(reached)))
    for name, e in error.items():
        number(log, name, math.sqrt(np.mean(e)))

    known = [t for t in steps if t["to"] is not None]
    step = np.median([math.dist(t["s"], t["to"]) for t in known])
    number(log, "step", step)
    for act in range(2):
        number(log, f"action{act}.share", np.mean([t["act"] == act for t in steps]))
        far = [expect(steps, t["s"], act)[3] for t in steps if t["act"] != act]
        number(log, f"action{act}.nearest", np.median(far) / step)
        uncovered = [expect(steps, t["s"], act)[3] > reach for t in steps]
        number(log, f"reach.action{act}.out_of_coverage", np.mean(uncovered))


for log, steps in (
        ("episodes", make([23, 17, 30, 12, 26, 19, 21], [1, 1, 1, -1, 1, 1, 1],
                          [True, True, False, True, True, False, True],
                          [True, False, True, True, True, True, True])),
        ("one", make([173], [1], [False], [True]))):
    for t in steps:
        to = t["to"] if t["to"] is not None else [math.nan, math.nan]
        row = [t["begin"], *t["s"], t["act"], t["reward"], *to, int(t["terminal"])]
        lines.append("step," + log + "," + ",".join(f"{float(x):.17g}" for x in row))
    measure(steps, log)
(here / "model_fidelity.csv").write_text("\n".join(lines) + "\n")
