#!/usr/bin/env python3
# plant_live.py - the plant of plant.csv, controlled by a deployed agent over a pipe.
#
#     plant_live.py plant.study/best.yaml [shifts] [rehearse]
#
# Every step it sends the sensors and the reward of the last action, and takes the action of the reply.
import json
import random
import subprocess
import sys

best, shifts = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
program = sys.argv[3] if len(sys.argv) > 3 else "rehearse"
POWER = {"off": 0.0, "low": 0.4, "high": 1.1}
FLOW = {"off": 0.0, "low": 0.07, "high": 0.16}

agent = subprocess.Popen([program, "deploy", best], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
random.seed(11)
seq = 0


def ask(temp, level, reward=None, **more):
    global seq
    message = {"seq": seq, "obs": {"temp": round(temp, 2), "level": round(level, 3)}, "reward": reward, **more}
    agent.stdin.write(json.dumps(message) + "\n")
    agent.stdin.flush()
    seq += 1
    return json.loads(agent.stdout.readline())


for shift in range(shifts):
    temp, level, drain = random.uniform(38, 46), random.uniform(1.5, 2.5), 0.06
    reply = ask(temp, level, start=True)
    for step in range(72):
        pump = reply["action"]
        energy = POWER[pump] * random.uniform(0.95, 1.05)
        if random.random() < 0.05:
            drain = random.choice([0.01, 0.06, 0.1, 0.19])
        warmer = temp + 0.05 * (48 - temp) - 2.2 * FLOW[pump] * (temp - 12) / 20 / max(level, 0.3)
        level += FLOW[pump] - drain + random.gauss(0, 0.012)
        temp = warmer + random.gauss(0, 0.08)
        trip = level < 0.3 or level > 3.4
        reply = ask(temp, level, -energy, terminal=trip, truncated=not trip and step == 71)
        if trip:
            break
agent.stdin.close()
agent.wait()
