#!/usr/bin/env python3
# study_curves.py - what learning curves promise (src/study/curves.c), computed again with NumPy.
#
#     python3 study_curves.py > study_curves.csv
#
# Rows: run (250 of 5 points), mean, spread, alarm (level, rate).
import numpy as np

rng = np.random.default_rng(7)
y = rng.normal(-10.0, 2.0, (250, 5)) + rng.normal(0.0, 1.0, (250, 1)) + np.arange(5)
y[rng.random(y.shape) < 0.05] = np.nan  # no episode ended
y = np.round(y, 3)
mean, spread = np.nanmean(y, 0), np.nanstd(y, 0, ddof=1)
least = 0.01 * np.mean(np.abs(mean))
spread = np.maximum(spread, least)
most = []
for i in range(len(y)):
    others = np.delete(y, i, 0)  # without the run itself
    d, largest = 0.0, 0.0
    for p in range(y.shape[1]):
        x = others[:, p]
        x = x[~np.isnan(x)]
        if np.isnan(y[i, p]):
            continue
        z = (x.mean() - y[i, p]) / (max(least, x.std(ddof=1)) * np.sqrt(1 + 1 / len(x)))
        d = max(0.0, 0.6 * d + np.clip(z, -6, 6) - 0.5)
        largest = max(largest, d)
    most.append(largest)
k = int(0.01 * (len(y) + 1))
for row in y:
    print("run," + ",".join("nan" if np.isnan(x) else repr(float(x)) for x in row))
print("mean," + ",".join(repr(float(x)) for x in mean))
print("spread," + ",".join(repr(float(x)) for x in spread))
print(f"alarm,{float(np.sort(most)[-k])!r},{k / (len(y) + 1)!r}")
