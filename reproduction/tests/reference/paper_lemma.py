#!/usr/bin/env python3
"""paper_lemma.py - writes paper_lemma.csv: small processes, the largest |V - V^|, and learners.

    python3 tests/reference/paper_lemma.py > tests/reference/paper_lemma.csv

Independent of src/paper/lemma.c: the largest difference over two steps is found by enumerating all
2^7 deterministic history-dependent policies, and the value of a learner by summing over all
trajectories, each followed from its beginning. Rows: a name and numbers.

    p     process (3 x 2 x 3), then its model
    r     rewards (3 x 2), then those of the model
    error ep, er
    two   the largest |V - V^| over two steps
    learn alpha, epsilon, V and V^ over four steps
"""
import itertools
import random

S, A = 3, 2
PAIRS = [(s, a) for s in range(S) for a in range(A)]


def distribution(rng):
    x = [rng.expovariate(1.0) for _ in range(S)]
    return [v / sum(x) for v in x]


def value_of(policy, p, r):
    """V over two steps: policy[0] at the start, policy[1 + a * S + s] after (0, a, s)."""
    a = policy[0]
    return r[0, a] + sum(p[0, a][s] * r[s, policy[1 + a * S + s]] for s in range(S))


def trajectory(p, r, actions, states, alpha, epsilon, gamma):
    """Its probability, and the sum of its rewards."""
    q = {pair: 0.0 for pair in PAIRS}
    s, weight, gain = 0, 1.0, 0.0
    for t, a in enumerate(actions):
        best = max(q[s, b] for b in range(A))
        greedy = [b for b in range(A) if q[s, b] == best]
        weight *= epsilon / A + ((1 - epsilon) / len(greedy) if a in greedy else 0.0)
        gain += r[s, a]
        if t < len(states):
            n = states[t]
            weight *= p[s, a][n]
            q[s, a] += alpha * (r[s, a] + gamma * max(q[n, b] for b in range(A)) - q[s, a])
            s = n
    return weight, gain


def learner(p, r, alpha, epsilon, gamma, steps):
    total = 0.0
    for actions in itertools.product(range(A), repeat=steps):
        for states in itertools.product(range(S), repeat=steps - 1):
            weight, gain = trajectory(p, r, actions, states, alpha, epsilon, gamma)
            total += weight * gain
    return total


def show(name, numbers):
    print(name + "," + ",".join(repr(float(x)) for x in numbers))


def main():
    rng = random.Random(7)
    for wrong in [0.05, 0.2, 0.5, 1.0]:
        p = {pair: distribution(rng) for pair in PAIRS}
        model = {pair: [(1 - wrong) * x + wrong * y for x, y in zip(p[pair], distribution(rng))]
                 for pair in PAIRS}
        r = {pair: rng.random() for pair in PAIRS}
        rm = {pair: min(max(r[pair] + wrong * (rng.random() - 0.5), 0.0), 1.0) for pair in PAIRS}
        show("p", [x for m in (p, model) for pair in PAIRS for x in m[pair]])
        show("r", [m[pair] for m in (r, rm) for pair in PAIRS])
        show("error", [max(sum(abs(x - y) for x, y in zip(p[i], model[i])) for i in PAIRS),
                       max(abs(r[i] - rm[i]) for i in PAIRS)])
        every = itertools.product(range(A), repeat=1 + A * S)
        show("two", [max(abs(value_of(x, p, r) - value_of(x, model, rm)) for x in every)])
        for alpha, epsilon in [(0.5, 0.1), (0.9, 0.0)]:
            show("learn", [alpha, epsilon, learner(p, r, alpha, epsilon, 0.9, 4),
                           learner(model, rm, alpha, epsilon, 0.9, 4)])


main()
