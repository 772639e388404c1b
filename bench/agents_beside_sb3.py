#!/usr/bin/env python3
"""agents_beside_sb3.py - our agents with networks beside Stable-Baselines3, on Gymnasium's tasks.

    pip install torch==2.15.0 stable-baselines3==2.9.2 "gymnasium[box2d]==1.4.0" scipy==1.17.1
    nice bench/agents_beside_sb3.py [--seeds N] [--case NAME] [--side ours|sb3]
    bench/agents_beside_sb3.py --table [--first SEED]

Both learn in the same simulator with the same hyperparameters, networks, steps and updates: no layer
norm, no scales, one-step returns. Ours plays through `exec:`; this script is that program, too. One
difference remains: our dqn is double Q-learning, theirs is not. Actions are in [-1, 1] for both. A row
of bench/agents_beside_sb3.csv is one run: the total reward divided by the number of completed
episodes, while learning. Rows that are there are not run again.

In seeds 1 to 20 ppo on Lunar Lander was worse than theirs by 29 (15 to 43), the worst of twelve cases. The
seeds from 21 on were run to look again: --table --first 21.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROWS = HERE / "agents_beside_sb3.csv"
FIELDS = ["case", "side", "seed", "steps", "episodes", "total", "score", "cpu_seconds"]
SHARED = {"rate": 1e-3, "horizon": 100, "batch": 64, "width": 64, "layers": 2, "obs_scale": "none",
          "reward_scale": "none", "norm": "off"}
REPLAY = SHARED | {"warmup": 100, "target_rate": 0.005, "n_step": 1}
DQN = REPLAY | {"epsilon": 0.05, "explore": 1000}
SAC = REPLAY | {"alpha": 1, "entropy": 1}
TD3 = REPLAY | {"noise": 0.1}
PPO = SHARED | {"rollout": 512, "epochs": 10, "lambda": 0.95, "clip": 0.2, "entropy": 0.0}
PPO_SPREAD = PPO | {"spread": 1}
CASES = {  # agent, environment, steps, time limit, hyperparameters
    "dqn cartpole": ("dqn", "CartPole-v1", 10000, 500, DQN),
    "ppo cartpole": ("ppo", "CartPole-v1", 10240, 500, PPO),
    "dqn acrobot": ("dqn", "Acrobot-v1", 10000, 500, DQN),
    "ppo acrobot": ("ppo", "Acrobot-v1", 10240, 500, PPO),
    "dqn lander": ("dqn", "LunarLander-v3", 10000, 1000, DQN),
    "ppo lander": ("ppo", "LunarLander-v3", 10240, 1000, PPO),
    "sac pendulum": ("sac", "Pendulum-v1", 5000, 200, SAC),
    "td3 pendulum": ("td3", "Pendulum-v1", 5000, 200, TD3),
    "ppo pendulum": ("ppo", "Pendulum-v1", 10240, 200, PPO_SPREAD),
    "sac mountain car": ("sac", "MountainCarContinuous-v0", 3000, 999, SAC),
    "td3 mountain car": ("td3", "MountainCarContinuous-v0", 3000, 999, TD3),
    "ppo mountain car": ("ppo", "MountainCarContinuous-v0", 10240, 999, PPO_SPREAD),
}


def environment(name):
    """The exec program: questions from standard input, answers to standard output."""
    import gymnasium
    import numpy
    env = gymnasium.make(name).unwrapped
    space = env.action_space
    for line in sys.stdin:
        asked, answer = json.loads(line), None
        if "describe" in asked:
            low = [max(float(x), -10.0) for x in env.observation_space.low]
            high = [min(float(x), 10.0) for x in env.observation_space.high]
            answer = {"rehearse": 1, "about": name, "sensors": [f"s{i}" for i in range(len(low))],
                      "low": low, "high": high, "gamma": 1, "continuing": False}
            if hasattr(space, "n"):
                answer["actions"] = int(space.n)
            else:
                answer |= {"action_low": [float(x) for x in space.low],
                           "action_high": [float(x) for x in space.high]}
        elif "start" in asked:
            obs, _ = env.reset(seed=int(asked["seed"]) % 2**31)
            answer = {"observation": [float(x) for x in obs]}
        elif "step" in asked:
            act = asked["step"]
            act = int(act) if hasattr(space, "n") else numpy.array(act, dtype=numpy.float32).reshape(space.shape)
            obs, reward, terminal, _, _ = env.step(act)
            answer = {"observation": [float(x) for x in obs], "reward": float(reward), "terminal": bool(terminal)}
        if answer is not None:
            print(json.dumps(answer), flush=True)


def ours(case, seed):
    agent, env, steps, limit, own = CASES[case]
    command = [str(HERE.parent / "build" / "rehearse"), "run",
               f"exec:{sys.executable} {HERE / 'agents_beside_sb3.py'} --environment {env}",
               "--agent", agent, "--steps", str(steps), "--runs", "1", "--seed", str(seed),
               "--cutoff", str(limit), "--json"]
    for name, value in own.items():
        command += ["--set", f"{name}={value}"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    run = found["results"][0]
    return run["episodes"], run["total"]


def sb3(case, seed):
    import gymnasium
    import numpy
    import torch
    from stable_baselines3 import DQN, PPO, SAC, TD3
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.noise import NormalActionNoise
    torch.set_num_threads(1)
    agent, name, steps, _, own = CASES[case]
    env = Monitor(gymnasium.make(name))
    continuous = hasattr(env.action_space, "low")
    learned = gymnasium.wrappers.RescaleAction(env, -1.0, 1.0) if continuous else env
    network = {"net_arch": [own["width"]] * own["layers"], "activation_fn": torch.nn.ReLU}
    both = {"policy": "MlpPolicy", "env": learned, "learning_rate": own["rate"], "gamma": 1 - 1 / own["horizon"],
            "batch_size": own["batch"], "seed": seed, "device": "cpu"}
    if agent == "ppo":
        network |= {"ortho_init": False, "log_std_init": math.log(own.get("spread", 1))}
        model = PPO(n_steps=own["rollout"], n_epochs=own["epochs"], gae_lambda=own["lambda"], clip_range=own["clip"],
                    ent_coef=own["entropy"], max_grad_norm=1e9, policy_kwargs=network, **both)
    else:
        both |= {"buffer_size": 100000, "learning_starts": own["warmup"], "tau": own["target_rate"], "train_freq": 1,
                 "gradient_steps": 1, "policy_kwargs": network}
    if agent == "dqn":
        model = DQN(target_update_interval=1, exploration_initial_eps=1.0, max_grad_norm=1e9,
                    exploration_final_eps=own["epsilon"], exploration_fraction=own["explore"] / steps, **both)
    elif agent == "sac":
        model = SAC(ent_coef="auto_1", target_entropy=-own["entropy"], **both)
    elif agent == "td3":
        n = env.action_space.shape[0]
        noise = NormalActionNoise(numpy.zeros(n), own["noise"] * numpy.ones(n))
        model = TD3(action_noise=noise, **both)
    model.learn(steps)
    returns = env.get_episode_rewards()
    return len(returns), sum(returns) + sum(env.rewards if hasattr(env, "rewards") else [])


def read():
    if not ROWS.exists():
        return []
    with open(ROWS, newline="") as f:
        return list(csv.DictReader(f))


def table(first):
    rows = [r for r in read() if int(r["seed"]) >= first]
    print(f"{'case':18} {'ours':>22} {'Stable-Baselines3':>22} {'difference, 95 %':>30}")
    for case in CASES:
        side = {s: [float(r["score"]) for r in rows if r["case"] == case and r["side"] == s] for s in ("ours", "sb3")}
        a, b = side["ours"], side["sb3"]
        if len(a) < 2 or len(b) < 2:
            continue
        from scipy.stats import t
        va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
        degrees = (va + vb)**2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
        d, half = statistics.mean(a) - statistics.mean(b), t.ppf(0.975, degrees) * math.sqrt(va + vb)
        print(f"{case:18} {statistics.mean(a):12.1f} of {len(a):2} runs {statistics.mean(b):12.1f} of {len(b):2} runs"
              f" {d:10.1f} ({d - half:.1f} to {d + half:.1f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--side", choices=["ours", "sb3"])
    parser.add_argument("--environment", metavar="NAME", help="be the exec program of this environment")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="of the table")
    asked = parser.parse_args()
    if asked.environment:
        return environment(asked.environment)
    if asked.table:
        return table(asked.first)
    done = {(r["case"], r["side"], int(r["seed"])) for r in read()}
    if not done:
        ROWS.write_text(",".join(FIELDS) + "\n")
    for seed in range(1, asked.seeds + 1):
        for case in [asked.case] if asked.case else CASES:
            for side in [asked.side] if asked.side else ["ours", "sb3"]:
                if (case, side, seed) in done:
                    continue
                before = time.process_time()
                episodes, total = (ours if side == "ours" else sb3)(case, seed)
                row = [case, side, seed, CASES[case][2], episodes, f"{total:.6g}", f"{total / max(episodes, 1):.6g}",
                       f"{time.process_time() - before:.1f}" if side == "sb3" else ""]
                with open(ROWS, "a", newline="") as f:
                    csv.writer(f, lineterminator="\n").writerow(row)
                print(*row, flush=True)


if __name__ == "__main__":
    main()
