#!/usr/bin/env python3
"""Reference values for tests/base/test_maths.c: base_exp.csv, base_log.csv, base_sincos.csv.

mpmath at 60 digits, rounded once to the nearest double and written as exact hex floats.

    pip install mpmath==1.4.1
    python base_maths.py
    python base_maths.py --measure build/librehearse.so 1000000

The second form measures the library on many more points, in units in the last place of the true
result, and prints the largest error of each function.
"""

import ctypes
import math
import pathlib
import random
import sys

import mpmath as mp

HERE = pathlib.Path(__file__).parent
mp.mp.dps = 60


def near(x, steps):
    """x and the doubles up to `steps` away on both sides."""
    out, lo, hi = [x], x, x
    for _ in range(steps):
        lo, hi = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
        out += [lo, hi]
    return out


def signed(rng, lo, hi):
    """Either sign, between 10^lo and 10^hi."""
    return rng.choice((-1, 1)) * 10 ** rng.uniform(lo, hi)


def exp_points(n, rng):
    edges = [0.0, -0.0, 5e-324, 2.0**-60, -(2.0**-60), 1.0, -1.0]
    edges += [709.782712893384, -745.1332191019412]
    for k in (1, 2, 3, 10, 100, 1023, -1, -2, -10, -1000, -1021, -1022, -1023, -1060, -1074):
        edges += near(float(k * mp.log(2)), 2) + near(float((k + 0.5) * mp.log(2)), 2)
    edges = [x for x in edges if -745.2 <= x <= 709.782712893384]
    rest = n - len(edges)
    spread = [rng.uniform(-745.13, 709.78) for _ in range(rest // 2)]
    small = [signed(rng, -18, 2) for _ in range(rest - rest // 2)]
    return edges + spread + small


def log_points(n, rng):
    edges = near(1.0, 8) + near(math.sqrt(0.5), 3) + near(math.sqrt(2.0), 3)
    edges += [5e-324, 1e-320, 2.0**-1022, sys.float_info.max, math.nextafter(2.0**-1022, 0)]
    edges += [2.0**k for k in range(-1074, 1024, 64)]
    rest = n - len(edges)
    wide = [math.exp(rng.uniform(-700, 700)) for _ in range(rest // 3)]
    one = [1 + signed(rng, -16, -0.5) for _ in range(rest // 3)]
    unit = [rng.uniform(2.0**-53, 4) for _ in range(rest - 2 * (rest // 3))]
    return edges + wide + one + unit


def sincos_points(n, rng):
    edges = [0.0, 5e-324, 1e-300, 1e-8, 1e5, -1e5]
    for k in (1, 2, 3, 4, 5, 100, 101, 102, 103, 9999, 60001, 63660, 63661):
        for x in near(float(k * mp.pi / 2), 2) + near(float((k + 0.5) * mp.pi / 2), 1):
            edges += [x, -x]
    edges = [x for x in edges if abs(x) <= 1e5]
    rest = n - len(edges)
    wide = [rng.uniform(-1e5, 1e5) for _ in range(rest // 3)]
    turn = [rng.uniform(-7, 7) for _ in range(rest // 3)]
    zero = [float(rng.randint(-60000, 60000) * mp.pi / 2) for _ in range(rest // 6)]
    tiny = [signed(rng, -20, 1) for _ in range(rest - 2 * (rest // 3) - rest // 6)]
    return edges + wide + turn + zero + tiny


def write(name, points, functions):
    with open(HERE / name, "w") as f:
        for x in points:
            f.write(",".join([x.hex()] + [float(g(mp.mpf(x))).hex() for g in functions]) + "\n")


def error_in_ulps(got, true):
    ulp = math.ulp(float(true))
    return abs(mp.mpf(got) - true) / mp.mpf(ulp)


def measure(path, n):
    library = ctypes.CDLL(path)
    rng = random.Random(2)
    for name, points, true in (
        ("rh_exp", exp_points, mp.exp),
        ("rh_log", log_points, mp.log),
        ("rh_sin", sincos_points, mp.sin),
        ("rh_cos", sincos_points, mp.cos),
    ):
        f = library[name]
        f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]
        worst, at = 0, 0.0
        for x in points(n, rng):
            e = error_in_ulps(f(x), true(mp.mpf(x)))
            if e > worst:
                worst, at = e, x
        print(f"{name}: at most {float(worst):.3f} ulp on {n} points, at {at.hex()}")


def main():
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], int(sys.argv[3]))
        return
    rng = random.Random(1)
    write("base_exp.csv", exp_points(2000, rng), [mp.exp])
    write("base_log.csv", log_points(2000, rng), [mp.log])
    write("base_sincos.csv", sincos_points(2000, rng), [mp.sin, mp.cos])


if __name__ == "__main__":
    main()
