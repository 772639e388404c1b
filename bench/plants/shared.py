"""shared - what the scripts of this folder have in common: the plants, calls of programs, rows of a table."""
import csv
import json
import math
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
STEPS = 3000  # of a log


def plants():
    """Name, half and steps of an episode (0: never stops) of each plant, from the table of the README."""
    row = re.compile(r"\| \[(\w+)\]\(\w+\.c\) \| (\w+) \|[^|]*\|[^|]*\|[^|]*\| ([^|]*) \|")
    found = [row.match(line) for line in (HERE / "README.md").read_text().splitlines()]
    return {m[1]: (m[2], int(m[3]) if m[3].isdigit() else 0) for m in found if m}


def continuous():
    """Plants whose actions are numbers."""
    row = re.compile(r"\| \[(\w+)\]\(\w+\.c\) \|[^|]*\|[^|]*\| \d+ continuous \|")
    found = [row.match(line) for line in (HERE / "README.md").read_text().splitlines()]
    return {m[1] for m in found if m}


def call(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more).stdout


def on_plant(build, name, cutoff, *agent, steps=STEPS, runs=20):
    """What `run --json` says of runs that learn on the true plant."""
    return json.loads(call(build / "rehearse", "run", name, "--plugin", build / "bench/plants.so", "--steps", steps, "--runs", runs,
                           "--seed", 77, "--json", *agent, *(["--cutoff", cutoff] if cutoff else [])))


def number(text):
    return f"{float(text):.4g}"


def read_rows(path):
    return list(csv.DictReader(path.open())) if path.exists() else []


def add_rows(path, fields, rows):
    """Append rows to a file, which gets its header first."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, fields, lineterminator="\n")
        if new:
            table.writeheader()
        table.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)


def kendall(a, b):
    """Kendall's tau-b of two lists."""
    sign = lambda x, y: (x > y) - (x < y)
    pairs = [(sign(a[i], a[j]), sign(b[i], b[j])) for i in range(len(a)) for j in range(i)]
    untied = math.sqrt(sum(x != 0 for x, _ in pairs) * sum(y != 0 for _, y in pairs))
    return sum(x * y for x, y in pairs) / untied if untied else math.nan
