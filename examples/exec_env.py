#!/usr/bin/env python3
"""exec_env.py - an environment for `rehearse run "exec:python3 examples/exec_env.py"`.

The heated tank of plant.py as a simulator of one's own: the truth that a study of plant.csv can be
compared with. The protocol is one JSON document a line: docs/exec.md.
"""
import json
import random
import sys

# in the order of best.yaml's actions
PUMP = [("high", 1.1, 0.16), ("low", 0.4, 0.07), ("off", 0.0, 0.0)]

DESCRIPTION = {
    "rehearse": 1,
    "about": "the heated tank of plant.py, in Python",
    "sensors": ["temp", "level"],
    "low": [30, 0.3],
    "high": [48, 3.4],
    "actions": len(PUMP),
    "gamma": 1,
    "steps": 1000,
    "parameters": [
        {"name": "trip_cost", "about": "cost of a trip", "low": 0, "high": 1000, "initial": 50},
    ],
}


class Tank:
    def __init__(self, parameters):
        self.p = parameters

    def start(self, seed):
        self.random = random.Random(seed)  # from the seed alone: the same episode every time
        self.temp, self.level, self.drain = self.random.uniform(38, 46), self.random.uniform(1.5, 2.5), 0.06
        return {"observation": [self.temp, self.level]}

    def step(self, action):
        rng, (_, power, flow) = self.random, PUMP[action]
        energy = power * rng.uniform(0.95, 1.05)
        if rng.random() < 0.05:
            self.drain = rng.choice([0.01, 0.06, 0.1, 0.19])
        cooling = 2.2 * flow * (self.temp - 12) / 20 / max(self.level, 0.3)
        self.temp += 0.05 * (48 - self.temp) - cooling + rng.gauss(0, 0.08)
        self.level += flow - self.drain + rng.gauss(0, 0.012)
        trip = self.level < 0.3 or self.level > 3.4
        return {"observation": [self.temp, self.level], "reward": -energy - self.p["trip_cost"] * trip,
                "terminal": trip}


def main():
    tank = None
    for line in sys.stdin:
        message = json.loads(line)
        if "describe" in message:
            answer = DESCRIPTION
        elif "environment" in message:
            tank = Tank(message["parameters"])
            continue
        elif "start" in message:
            answer = tank.start(message["seed"])
        else:
            answer = tank.step(message["step"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
