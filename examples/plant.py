#!/usr/bin/env python3
"""plant.py - write plant.csv, the example log of the documentation.

    python3 examples/plant.py > examples/plant.csv

A heated tank, logged once a minute in eleven shifts. The pump (off, low, high) adds cold water and
costs energy; the tank drains by itself. When the tank runs dry or over, the plant trips and the
shift ends. The operator controls the level and sometimes acts at random. The log has the defects of
real ones: a thermometer that is stuck for a while, a transmitter that writes -9999 when it has no
value, a power cut, a row written twice, and empty fields.
"""
import random

random.seed(7)
print("time,shift,temp [degC],level [m],pump,energy [kWh],trip")

POWER = {"off": 0.0, "low": 0.4, "high": 1.1}
FLOW = {"off": 0.0, "low": 0.07, "high": 0.16}


def operator(level):
    if random.random() < 0.2:
        return random.choice(["off", "low", "high"])
    return "high" if level < 0.9 else "off" if level > 2.8 else "low"


def stamp(minute):
    day, minute = divmod(minute, 1440)
    return f"2026-03-{2 + day:02d} {minute // 60:02d}:{minute % 60:02d}:00"


rows, frozen = [], None
for shift in range(11):
    begin = (shift // 3) * 1440 + 360 + (shift % 3) * 300
    temp, level, drain = random.uniform(38, 46), random.uniform(1.5, 2.5), 0.06
    for step in range(72):
        pump = operator(level)
        energy = POWER[pump] * random.uniform(0.95, 1.05)
        if random.random() < 0.05:
            drain = random.choice([0.01, 0.06, 0.1, 0.19])
        after = level + FLOW[pump] - drain + random.gauss(0, 0.012)
        warmer = temp + 0.05 * (48 - temp) - 2.2 * FLOW[pump] * (temp - 12) / 20 / max(level, 0.3)
        trip = after < 0.3 or after > 3.4
        rows.append([begin + step, f"s{shift + 1:02d}", f"{temp:.2f}", f"{level:.3f}", pump,
                     f"{energy:.3f}", int(trip)])
        temp, level = warmer + random.gauss(0, 0.08), after
        if trip:
            break

# defects of real logs
for i in range(250, 306):
    rows[i][2] = rows[250][2]  # the thermometer is stuck
for i in (77, 78, 79, 402, 511):
    rows[i][3] = "-9999"
for i in (33, 190, 468):
    rows[i][2] = ""
for row in rows[150:]:
    if row[1] == rows[150][1]:
        row[0] += 25  # a power cut
rows.insert(360, list(rows[359]))

for row in rows:
    print(",".join([stamp(row[0])] + [str(x) for x in row[1:]]))
