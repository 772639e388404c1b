#!/usr/bin/env python3
"""Writes what number.c and number_powers.c are tested with.

    base_number.py powers > tests/reference/base_powers.csv
        128 bits of every power of five: the exponent, the upper and the lower half
    base_number.py cases > tests/reference/base_number.csv
        hard cases: the text, the bits of Python's float(text), and Python's repr of it
    base_number.py check N SEED PROGRAM                 N random numbers, in blocks, through
        PROGRAM (base_test_number --echo), compared with float() and repr()
"""
import random
import struct
import subprocess
import sys


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def power(q):
    """The first 128 bits of 5^q: cut off, but rounded up for q = -27 .. -1."""
    if q >= 0:
        p = 5**q
        n = p.bit_length()
        return p << (128 - n) if n <= 128 else p >> (n - 128)
    p = 5**-q
    z = p.bit_length()
    c = (1 << (z + 127)) // p
    if q >= -27:
        c += 1
    assert 1 << 127 <= c < 1 << 128
    return c


def powers():
    for q in range(-342, 325):
        p = power(q)
        print("%d,%016x,%016x" % (q, p >> 64, p & (1 << 64) - 1))


def halfway(x):
    """The exact decimal half way between x and the next double."""
    from fractions import Fraction

    y = struct.unpack("<d", struct.pack("<Q", bits(x) + 1))[0]
    f = (Fraction(x) + Fraction(y)) / 2
    twos = f.denominator.bit_length() - 1
    digits = str(f.numerator * 5**twos)
    return digits, -twos


def random_text(r):
    kind = r.randrange(9)
    x = abs(struct.unpack("<d", struct.pack("<Q", r.getrandbits(64)))[0])
    if x != x or x == float("inf"):
        x = 1.5
    if kind == 0:
        text = repr(x)
    elif kind == 1:
        text = repr(r.random())
    elif kind == 2:
        text = "%.*e" % (r.randrange(25), x)
    elif kind == 3:
        text = "%d.%de%d" % (r.getrandbits(40), r.getrandbits(40), r.randrange(-340, 310))
    elif kind == 4:
        text = str(r.getrandbits(r.randrange(1, 200)))
    elif kind == 5:  # half way, or just beside
        if r.random() < 0.3:
            x = struct.unpack("<d", struct.pack("<Q", r.getrandbits(r.randrange(1, 54))))[0]
        digits, e = halfway(x if x < 1e308 else 1.0)
        cut = r.randrange(3)
        if cut == 1:
            extra = "0" * r.randrange(30) + "1"
            digits, e = digits + extra, e - len(extra)
        elif cut == 2:
            digits = str(int(digits) - 1)
        text = "%se%d" % (digits, e)
    elif kind == 6:
        text = "0." + "0" * r.randrange(330) + str(r.getrandbits(64))
    elif kind == 7:
        text = "%.*f" % (r.randrange(8), r.uniform(-1e6, 1e6))
    else:
        text = "%de%d" % (r.getrandbits(64), r.randrange(-345, 295))
    return ("-" if r.random() < 0.3 and text[0] != "-" else "") + text


HARD = """0 -0 0.0 -0.0e5 1 -1 +1 .5 5. 1e0 1E5 1e+5 1e-5 00012 000.00012
0.1 0.2 0.3 123456789012345678 9007199254740993 9007199254740992.5 9007199254740991.5
9007199254740993.00000000000000000000000000001 1e22 1e23 1e-22 1e-23 8.5e22 1.7976931348623157e308
1.7976931348623158e308 1.7976931348623159e308 17976931348623157081452742373170435679807e268
2.2250738585072014e-308 2.2250738585072011e-308 2.225073858507201136057409796709131975934819546351645648023426109724822222021076945516529523908135087914149158913039621106870086438694594645527657207407820621743379988141063267329253552286881372149012981122451451889849057222307285255133155755015914397476397983411801999323962548289017107081850690630666655994938275772572015763062690663332647565300009245888316433037779791869612049497390377829704905051080609940730262937128958950003583799967207254304360284078895771796150945516748243471030702609144621572289880258182545180325707018860872113128079512233426288368622321503775666622503982534335974568884423900265498198385487948292206894721689831099698365846814022854243330660339850886445804001034933970427567186443383770486037861622771738545623065874679014086723327636718751234567890123456789012345678901e-308
4.9406564584124654e-324 4.9e-324 5e-324 2.4703282292062327e-324 2.4703282292062328e-324 2.5e-324
2.4703282292062327208e-324 1e-323 1e-400 1e400 -1e400 1e999999999999 1e-999999999999
0e999999999999 3.5844466002796428e298 6.631236846766476e-316 3.2378839133029012e-319
7.2057594037927933e16 1.00000000000000011102230246251565404236316680908203125
1.00000000000000011102230246251565404236316680908203124
1.00000000000000011102230246251565404236316680908203126 5708990770823839524233143877797980545530986496
1448997445238699 6.0e-1 3.0e-15 1090544144181609348671888949248 9355950000000000000.00000000000000000000000000000000001844674407370955161600000184467440737095516161844674407370955161407370955161618446744073709551616000184467440737095516166000001844674407370955161618446744073709551614073709551616184467440737095516160001844674407370955161601844674407370955674451616184467440737095516140737095516161844674407370955161600018446744073709551616018446744073709551611616000184467440737095001844674407370955161600184467440737095516160018446744073709551168164467440737095516160001844073709551616018446744073709551616184467440737095516160001844674407536910751601611616000184467440737095001844674407370955161600184467440737095516160018446744073709551616184467440737095516160001844955161618446744073709551616000184467440753691075160018446744073709
2.47032822920623272088284396434110686182e-324 104110013277974872254e-225 12345e13 8.98846567431158e307
10000000000000000000 18446744073709551615 18446744073709551616 99999999999999999999 0.000000000000000000000000000001
7.0420557077594588669468784357561207962098443483187940792729600000e+59 3.2e-309 5.0052077379577523e-147""".split()


def cases():
    print("# written by base_number.py cases: text, bits of float(text), repr")
    r = random.Random(7)
    texts = HARD + ["1" + "0" * 800, "0." + "0" * 800 + "1e800", "9" * 1200 + "e-1190"]
    while len(texts) < 600:
        texts.append(random_text(r))
    for text in texts:
        x = float(text)
        print("%s,%016x,%s" % (text, bits(x), repr(x)))


def check(n, seed, program):
    r = random.Random(seed)
    done = 0
    while done < n:
        texts = [random_text(r) for _ in range(min(50000, n - done))]
        out = subprocess.run([program, "--echo"], input="\n".join(texts) + "\n", text=True,
                             capture_output=True, check=True).stdout.split()
        assert len(out) == 2 * len(texts), (len(out), len(texts))
        for i, text in enumerate(texts):
            x = float(text)
            assert int(out[2 * i], 16) == bits(x), (text, out[2 * i], x.hex())
            printed = out[2 * i + 1]
            assert bits(float(printed)) == bits(x), (text, printed)
            plain = repr(x).replace("e+", "e").replace("e-0", "e-").lstrip("-")
            digits = lambda s: s.lstrip("-").split("e")[0].replace(".", "").strip("0")
            assert digits(printed) == digits(plain) or x in (float("inf"), float("-inf")), \
                (text, printed, plain)
        done += len(texts)
    print("%d numbers read and printed as Python does" % done)


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "powers":
        powers()
    elif what == "cases":
        cases()
    elif what == "check" and len(sys.argv) == 5:
        check(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        sys.exit(__doc__)
