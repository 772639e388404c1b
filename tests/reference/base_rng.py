#!/usr/bin/env python3
"""Reference values for tests/base/test_rng.c: base_rng.csv.

SplitMix64 (Steele, Lea and Flood 2014), xoroshiro128++ (Blackman and Vigna 2021), Lemire's
bounded integers (2019) and Box and Muller's normals, written anew from the papers in whole
Python numbers and, for the normals, mpmath. Each row is a stream and what it gives first; the
normals are exact hex floats.

    pip install mpmath==1.4.1
    python base_rng.py
"""

import pathlib

import mpmath as mp

HERE = pathlib.Path(__file__).parent
M = 2**64
GOLDEN = 0x9E3779B97F4A7C15
mp.mp.dps = 40


def finalise(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % M
    z = (z ^ z >> 27) * 0x94D049BB133111EB % M
    return z ^ z >> 31


class SplitMix64:
    def __init__(self, state):
        self.state = state % M

    def next(self):
        self.state = (self.state + GOLDEN) % M
        return finalise(self.state)


class Stream:
    def __init__(self, seed, what, replicate, run):
        h = 0
        for coordinate in (seed, what, replicate, run):
            h = SplitMix64(h + SplitMix64(coordinate).next()).next()
        source = SplitMix64(h)
        self.s0, self.s1 = source.next(), source.next()

    def bits(self):
        def rotl(x, k):
            return (x << k | x >> 64 - k) % M

        s0, s1 = self.s0, self.s1
        result = (rotl((s0 + s1) % M, 17) + s0) % M
        s1 ^= s0
        self.s0 = rotl(s0, 49) ^ s1 ^ s1 << 21
        self.s0 %= M
        self.s1 = rotl(s1, 28)
        return result

    def uniform(self):
        return mp.mpf(self.bits() >> 11) / 2**53

    def below(self, n):
        threshold = (2**32 - n) % n
        while True:
            m = (self.bits() >> 32) * n
            if m % 2**32 >= threshold:
                return m >> 32

    def normals(self):
        u, v = 1 - self.uniform(), self.uniform()
        radius = mp.sqrt(-2 * mp.log(u))
        return [radius * mp.cos(2 * mp.pi * v), radius * mp.sin(2 * mp.pi * v)]


def main():
    with open(HERE / "base_rng.csv", "w") as f:
        f.write("seed,what,replicate,run,5 bits,4 below 10,4 below 3221225472,6 normals\n")
        for seed in (0, 1, 2, 12345, M - 1):
            for what in (1, 3, 6):
                for replicate, run in ((0, 0), (0, 1), (1, 0), (7, 29), (M - 1, M - 1)):
                    name = (seed, what, replicate, run)
                    row = [str(c) for c in name]
                    stream = Stream(*name)
                    row += [str(stream.bits()) for _ in range(5)]
                    stream = Stream(*name)
                    row += [str(stream.below(10)) for _ in range(4)]
                    row += [str(stream.below(3 << 30)) for _ in range(4)]
                    stream = Stream(*name)
                    row += [float(z).hex() for _ in range(3) for z in stream.normals()]
                    f.write(",".join(row) + "\n")


if __name__ == "__main__":
    main()
