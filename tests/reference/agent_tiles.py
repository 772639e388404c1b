#!/usr/bin/env python3
"""Reference for src/agent/tiles.c: a tile coder written from its definition, in plain Python.

    python3 tests/reference/agent_tiles.py > tests/reference/agent_tiles.csv

Every group of sensors has its own tilings. In tiling t the k-th sensor of a group is displaced by
(2k + 1) t of ntiling parts of a tile; a tile is told by the whole number of tiles below the
displaced value. Tiles are numbered in the order group, tiling, first sensor, second sensor, ...,
each sensor having ntile + 1 tiles, the lowest of the range being 0. Values outside the range count
as its ends. Exact arithmetic (fractions) on the very doubles that are printed.

A row: mode, tilings, tiles, sensors, low and high of each, value of each, number of features in
all, active features.
"""
import itertools
import math
import random
from fractions import Fraction


def groups(mode, n):
    if mode == "joint":
        return [tuple(range(n))]
    single = [(i,) for i in range(n)]
    return single + list(itertools.combinations(range(n), 2)) if mode == "pairs" else single


def code(mode, ntiling, ntile, lo, hi, x):
    part = []  # how many parts of a tile (ntiling to a tile) each value is above the low end
    for l, h, v in zip(lo, hi, x):
        share = (Fraction(v) - Fraction(l)) / (Fraction(h) - Fraction(l))
        part.append(math.floor(min(max(share, Fraction(0)), Fraction(1)) * ntile * ntiling))
    features, base = [], 0
    for group in groups(mode, len(x)):
        for t in range(ntiling):
            index = 0
            for k, sensor in enumerate(group):
                shift = (2 * k + 1) * t
                tile = math.floor(Fraction(part[sensor] - shift, ntiling))
                lowest = math.floor(Fraction(-shift, ntiling))
                index = index * (ntile + 1) + tile - lowest
            features.append(base + t * (ntile + 1) ** len(group) + index)
        base += ntiling * (ntile + 1) ** len(group)
    return base, features


def points(rng, lo, hi, n):
    """Random points, points on the grid's edges, at the ends, outside them, and just inside."""
    for _ in range(n):
        yield [rng.uniform(l, h) for l, h in zip(lo, hi)]
    yield list(lo)
    yield list(hi)
    yield [l - 3.0 for l in lo]
    yield [h + 1e6 for h in hi]
    yield [math.nextafter(l, -math.inf) for l in lo]
    yield [h - (h - l) * 2**-40 for l, h in zip(lo, hi)]
    if all(math.frexp(h - l)[0] == 0.5 for l, h in zip(lo, hi)):  # edges that doubles can hit
        for _ in range(n):
            yield [l + (h - l) * rng.randrange(-8, 137) / 128 for l, h in zip(lo, hi)]


def main():
    rng = random.Random(20260601)
    cases = [
        ("pairs", 16, 8, [0.0, 0.0], [1.0, 1.0]),
        ("pairs", 16, 8, [-1.0] * 4 + [-12.5, -28.25], [1.0] * 4 + [12.5, 28.25]),
        ("pairs", 16, 8, [-2.4, -4.0, -0.25, -3.5], [2.4, 4.0, 0.25, 3.5]),
        ("singles", 16, 8, [-1.0, 0.0, 5.0], [1.0, 2.0, 5.5]),
        ("joint", 16, 8, [0.0, 0.0], [1.0, 1.0]),
        ("joint", 5, 3, [-1.0, 0.0, 2.0], [1.5, 4.0, 3.0]),
        ("pairs", 7, 4, [-8.0, -1.0, 0.0], [8.5, 1.0, 1.0]),
        ("pairs", 1, 1, [0.0, 0.0], [1.0, 1.0]),
        ("joint", 8, 2, [0.0] * 5, [1.0] * 5),
    ]
    for mode, ntiling, ntile, lo, hi in cases:
        for x in points(rng, lo, hi, 24):
            total, active = code(mode, ntiling, ntile, lo, hi, x)
            row = [mode, ntiling, ntile, len(lo)] + [float.hex(v) for v in lo + hi + x]
            print(",".join(str(v) for v in row + [total] + active))


main()
