#!/usr/bin/env python3
"""exec_agent.py - an agent for `rehearse --agent "exec:python3 examples/exec_agent.py"`.

Q-learning with a table over a coarse grid of the sensors, in plain Python. The protocol is one JSON
document a line: docs/exec.md.
"""
import json
import random
import sys

DESCRIPTION = {
    "rehearse": 1,
    "about": "Q-learning with a table, in Python",
    "actions": "discrete",
    "parameters": [
        {"name": "alpha", "about": "step size", "low": 0.0, "high": 1.0, "initial": 0.2,
         "scale": "log", "usual": [0.01, 1.0]},
        {"name": "epsilon", "about": "share of random actions", "low": 0.0, "high": 1.0,
         "initial": 0.05, "usual": [0.0, 0.3]},
        {"name": "cells", "about": "cells across a sensor's range", "low": 1, "high": 64,
         "initial": 8, "whole": True, "fixed": True},
    ],
}


class Agent:
    def __init__(self, seed, task, parameters):
        self.random = random.Random(seed)  # from the seed alone: the same run every time
        self.task, self.p, self.q = task, parameters, {}
        self.last = None

    def values(self, observation):
        task, cells = self.task, int(self.p["cells"])
        key = tuple(
            min(cells - 1, max(0, int(cells * (x - lo) / (hi - lo))))
            for x, lo, hi in zip(observation, task["low"], task["high"]))
        return self.q.setdefault(key, [0.0] * task["actions"])

    def choose(self, q):
        if self.random.random() < self.p["epsilon"]:
            return self.random.randrange(len(q))
        return q.index(max(q))

    def start(self, observation):
        q = self.values(observation)
        self.last = q, self.choose(q)
        return self.last[1]

    def learn(self, target):
        q, action = self.last
        q[action] += self.p["alpha"] * (target - q[action])

    def step(self, observation, reward):
        self.learn(reward + self.task["gamma"] * max(self.values(observation)))
        return self.start(observation)

    def end(self, reward):
        self.learn(reward)


def main():
    agent = None
    for line in sys.stdin:
        message = json.loads(line)
        answer = None
        if "describe" in message:
            answer = DESCRIPTION
        elif "run" in message:
            agent = Agent(message["seed"], message["task"], message["parameters"])
        elif "start" in message:
            answer = {"action": agent.start(message["start"])}
        elif "step" in message:
            answer = {"action": agent.step(message["step"], message["reward"])}
        elif "end" in message:
            agent.end(message["reward"])
        elif "act" in message:
            answer = {"action": agent.choose(agent.values(message["act"]))}
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
