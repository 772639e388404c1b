#!/usr/bin/env python3
"""What bench_bayes measures, for bayes_opt and Optuna's TPE, as they come from PyPI.

    pip install bayesian-optimization optuna
    python bench/bayes_libraries.py [seeds, 20] [evaluations, 200]

Branin and Hartmann-6, largest value sought: regret (the true best less the best seen) after 60
evaluations and after all, over the seeds, and processor seconds of a search on one thread. Both
libraries with their own settings; bayes_opt with 5 random points first, as its `maximize` has it.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import math
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")
EARLY = 60


def branin(x):
    a, b = x
    b = b - 5.1 / (4 * math.pi**2) * a * a + 5 / math.pi * a - 6
    return -(b * b + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


ALPHA = (1.0, 1.2, 3.0, 3.2)
A = ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8),
     (17, 8, 0.05, 10, 0.1, 14))
P = ((0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
     (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
     (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
     (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381))


def hartmann(x):
    return sum(w * math.exp(-sum(a * (v - p) ** 2 for a, p, v in zip(ra, rp, x)))
               for w, ra, rp in zip(ALPHA, A, P))


FUNCTIONS = {
    "branin": (branin, [(-5.0, 10.0), (0.0, 15.0)], -0.39788735772973816),
    "hartmann-6": (hartmann, [(0.0, 1.0)] * 6, 3.322368011415515),
}


def with_bayes_opt(f, box, n, seed):
    from bayes_opt import BayesianOptimization

    seen = []

    def target(**x):
        seen.append(f([x[f"x{i}"] for i in range(len(box))]))
        return seen[-1]

    search = BayesianOptimization(target, {f"x{i}": b for i, b in enumerate(box)}, verbose=0,
                                  random_state=seed, allow_duplicate_points=True)
    search.maximize(init_points=5, n_iter=n - 5)
    return seen


def with_optuna(f, box, n, seed):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize",
                                sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda t: f([t.suggest_float(f"x{i}", *b) for i, b in enumerate(box)]),
                   n_trials=n)
    return [t.value for t in study.trials]


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for library, run in (("optuna TPE", with_optuna), ("bayes_opt", with_bayes_opt)):
        for name, (f, box, best) in FUNCTIONS.items():
            regret, took = {EARLY: [], n: []}, []
            for seed in range(1, seeds + 1):
                began = time.process_time()
                seen = run(f, box, n, seed)
                took.append(time.process_time() - began)
                for at in regret:
                    regret[at].append(best - max(seen[:at]))
            for at, r in regret.items():
                print(f"{library:<12} {name:<11} {at:4d}  regret mean {statistics.mean(r):9.2e}"
                      f"  median {statistics.median(r):9.2e}  worst {max(r):9.2e}"
                      f"  {statistics.mean(took):7.2f} s for {n}", flush=True)


main()
