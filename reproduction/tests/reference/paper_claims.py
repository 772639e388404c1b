#!/usr/bin/env python3
"""paper_claims.py - writes paper_claims.csv: intervals that decide claims.

    python3 tests/reference/paper_claims.py > tests/reference/paper_claims.csv

    wilson  k, n, low, high      the p with |p - k/n| = z sqrt(p (1 - p) / n), by bisection
    x, y    two series of 12 logs
    median  value, low, high     of median(x) - median(y), 50,000 bootstrap samples of logs
    spread  value, low, high     of the difference of the interquartile ranges
"""
import random
import statistics

Z = statistics.NormalDist().inv_cdf(0.975)


def end_of(k, n, inside, outside):
    """Between a p that the data agree with and one that they do not."""
    for _ in range(200):
        p = (inside + outside) / 2
        if abs(p - k / n) <= Z * (p * (1 - p) / n) ** 0.5:
            inside = p
        else:
            outside = p
    return inside


def quantile(x, p):
    x = sorted(x)
    at = p * (len(x) - 1)
    low = int(at)
    return x[low] + (at - low) * (x[min(low + 1, len(x) - 1)] - x[low])


def show(name, numbers):
    print(name + "," + ",".join(repr(float(x)) for x in numbers))


def main():
    for k, n in [(0, 30), (1, 30), (15, 30), (29, 30), (30, 30), (6, 6), (3, 10)]:
        show("wilson", [k, n, end_of(k, n, k / n, 0.0) if k else 0.0,
                        end_of(k, n, k / n, 1.0) if k < n else 1.0])
    rng = random.Random(3)
    x = [round(rng.gauss(-100, 10), 3) for _ in range(12)]
    y = [round(v + rng.gauss(-6, 8), 3) for v in x]
    show("x", x)
    show("y", y)
    for name, of in [("median", statistics.median),
                     ("spread", lambda v: quantile(v, 0.75) - quantile(v, 0.25))]:
        drawn = []
        for _ in range(50000):
            at = [rng.randrange(12) for _ in range(12)]
            drawn.append(of([x[i] for i in at]) - of([y[i] for i in at]))
        show(name, [of(x) - of(y), quantile(drawn, 0.025), quantile(drawn, 0.975)])


main()
