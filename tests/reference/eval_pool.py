#!/usr/bin/env python3
"""Reference values for tests/eval/test_pool.c: eval_pool.csv.

Scores of members, and what numpy makes of them: mean (math.fsum, exact before the division), the
least, and the quantile at 0.25. Numbers are exact hex floats.

    pip install numpy==2.4.6
    python eval_pool.py

A row: number of members, mean, worst, quartile, the scores.
"""

import math
import pathlib
import random

import numpy as np

HERE = pathlib.Path(__file__).parent
rng = random.Random(4)

with open(HERE / "eval_pool.csv", "w") as out:
    for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 30, 100, 255, 256]:
        for kind in range(3):
            if kind == 0:
                score = [rng.uniform(-500, 0) for _ in range(n)]
            elif kind == 1:
                score = [float(rng.randint(-3, 0)) for _ in range(n)]  # many alike
            else:
                score = [rng.lognormvariate(0, 8) * rng.choice([-1, 1]) for _ in range(n)]
            row = [math.fsum(score) / n, min(score), float(np.quantile(score, 0.25)), *score]
            out.write(",".join([str(n)] + [x.hex() for x in row]) + "\n")
