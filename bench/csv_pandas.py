#!/usr/bin/env python3
"""Processor time of pandas.read_csv and numpy.loadtxt on one thread, for bench_csv.

    csv_pandas.py CACHE TABLE.csv

CACHE is a folder in which a virtual environment with pandas and NumPy is made, once.
"""
import os
import subprocess
import sys
import time

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def enter(cache):
    """Go on in the cached environment, made when it is not there."""
    python = os.path.join(cache, "venv", "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(os.path.join(cache, "venv")):
        return
    done = os.path.join(cache, "ready")
    if not os.path.exists(done):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(cache, "venv")], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pandas", "numpy"], check=True,
                       stdout=subprocess.DEVNULL)
        open(done, "w").close()
    os.execve(python, [python] + sys.argv, dict(os.environ, **ONE_THREAD))


def best(read, repeat):
    times = []
    for _ in range(repeat):
        start = time.process_time()
        read()
        times.append(time.process_time() - start)
    return min(times)


def main():
    cache, table = sys.argv[1:]
    enter(cache)
    import numpy
    import pandas

    size = os.path.getsize(table) / 1e6
    readers = [
        ("pandas, default", lambda: pandas.read_csv(table, engine="c"), 5),
        ("pandas, round_trip",
         lambda: pandas.read_csv(table, engine="c", float_precision="round_trip"), 2),
        ("numpy.loadtxt", lambda: numpy.loadtxt(table, delimiter=",", skiprows=1), 2),
    ]
    for name, read, repeat in readers:
        took = best(read, repeat)
        print("%-26s %6.2f s %6.0f MB/s" % (name, took, size / took), flush=True)
    print("pandas %s, NumPy %s" % (pandas.__version__, numpy.__version__))


if __name__ == "__main__":
    main()
