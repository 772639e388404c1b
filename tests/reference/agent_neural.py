#!/usr/bin/env python3
"""agent_neural.py - updates of dqn, td3, sac and ppo, from their formulas in PyTorch.

    pip install torch==2.15.0 mpmath==1.4.1
    python3 tests/reference/agent_neural.py

Writes agent_neural.csv, a line per array: case, what, name, then the numbers. What is `set` for
hyperparameters, `before` for arrays of an agent's saved state, `after` for what the updates make of
them: three, or three epochs of a rollout. Derivatives are those of autograd, in double precision; steps are those of torch.optim.
Batches and noise are drawn from our own streams (base_rng.py). Moments begin away from 0: the
first step of Adam would turn the rounding of tiny derivatives into steps of full size.

tests/agent/test_neural.c goes the same way.
"""
import pathlib

import numpy as np
import torch

from base_rng import Stream

HERE = pathlib.Path(__file__).resolve().parent
torch.set_default_dtype(torch.float64)
NOBS, WIDTH, LAYERS, ROWS, BATCH, UPDATES = 3, 5, 2, 20, 8, 3
RATE, TARGET_RATE, BEGUN = 0.01, 0.05, 10
numbers = np.random.default_rng(11)


def floats(*shape, lo=-1.0, hi=1.0):
    return numbers.uniform(lo, hi, shape).astype(np.float32).astype(np.float64)


class Net:
    def __init__(self, nin, nout, norm, eps=1e-8):
        size = [nin] + [WIDTH] * LAYERS + [nout]
        self.norm, self.layer = norm, []
        for i, (a, b) in enumerate(zip(size, size[1:])):
            part = [floats(a, b), floats(b)]
            if norm and i < LAYERS:
                part += [1.0 + 0.5 * floats(b), floats(b)]
            self.layer.append([torch.tensor(x.astype(np.float32).astype(np.float64), requires_grad=True)
                               for x in part])
        self.parts = [x for part in self.layer for x in part]
        self.adam = torch.optim.Adam(self.parts, lr=RATE, betas=(0.9, 0.999), eps=eps)
        for x in self.parts:
            self.adam.state[x] = {"step": torch.tensor(float(BEGUN)),
                                  "exp_avg": torch.tensor(0.01 * floats(*x.shape)).float().double(),
                                  "exp_avg_sq": torch.tensor(floats(*x.shape, lo=1e-4, hi=1e-2)).float().double()}

    def __call__(self, x):
        for i, part in enumerate(self.layer):
            x = x @ part[0] + part[1]
            if i == LAYERS:
                return x
            if self.norm:
                x = torch.nn.functional.layer_norm(x, (WIDTH,), part[2], part[3], 1e-5)
            x = torch.relu(x)

    def step(self, loss):
        gradients = torch.autograd.grad(loss, self.parts)
        for x, g in zip(self.parts, gradients):
            x.grad = g
        self.adam.step()

    def follow(self, other):
        with torch.no_grad():
            for x, y in zip(self.parts, other.parts):
                x += TARGET_RATE * (y - x)

    def arrays(self):
        state = self.adam.state
        return {"weights": flat(self.parts), "first": flat(state[x]["exp_avg"] for x in self.parts),
                "second": flat(state[x]["exp_avg_sq"] for x in self.parts)}


def flat(parts):
    return np.concatenate([x.detach().numpy().ravel() for x in parts])


class Case:
    def __init__(self, name, agent, norm, naction, nact):
        self.name, self.agent, self.naction, self.nact = name, agent, naction, nact
        self.set = {"rate": RATE, "target_rate": TARGET_RATE, "batch": BATCH, "width": WIDTH,
                    "layers": LAYERS, "norm": int(norm), "obs_scale": 2, "reward_scale": 2, "n_step": 1}
        critic = nact + NOBS
        shapes = {"dqn": [(NOBS, naction, norm)] * 2,
                  "td3": [(NOBS, nact, False)] + [(critic, 1, norm)] * 4 + [(NOBS, nact, False)],
                  "sac": [(NOBS, 2 * nact, False)] + [(critic, 1, norm)] * 4}[agent]
        self.net = [Net(*shape) for shape in shapes]
        act = numbers.integers(0, naction, (ROWS, 1)) if naction else floats(ROWS, nact)
        discount = np.where(numbers.uniform(size=(ROWS, 1)) < 0.2, 0.0, np.float32(0.99))
        self.memory = np.hstack([floats(ROWS, NOBS), floats(ROWS, NOBS), act, 3.0 * floats(ROWS, 1), discount])
        self.memory = self.memory.astype(np.float32).astype(np.float64)
        self.extra = [np.log(0.3), 0.01, 0.02, 0.9**BEGUN, 0.999**BEGUN] if agent == "sac" else []

    def draw(self, stream):
        m = torch.tensor(np.array([self.memory[stream.below(ROWS)] for _ in range(BATCH)]))
        return (m[:, :NOBS], m[:, NOBS:2 * NOBS], m[:, 2 * NOBS:2 * NOBS + self.nact],
                m[:, -2], m[:, -1])

    def normals(self, stream):
        n = BATCH * self.nact
        z = [float(x) for _ in range((n + 1) // 2) for x in stream.normals()][:n]
        return torch.tensor(np.array(z).astype(np.float32).astype(np.float64).reshape(BATCH, self.nact))

    def update(self, count, stream):
        getattr(self, self.agent)(count, stream, *self.draw(stream))

    def dqn(self, count, stream, s, s2, a, r, d):
        q, follower = self.net
        with torch.no_grad():
            best = q(s2).argmax(1, keepdim=True)
            y = r + d * follower(s2).gather(1, best)[:, 0]
        q.step(torch.nn.functional.smooth_l1_loss(q(s).gather(1, a.long())[:, 0], y))
        follower.follow(q)

    def critics(self, first, s, a):
        x = torch.cat([s, a], 1)
        return self.net[first](x)[:, 0], self.net[first + 1](x)[:, 0]

    def learn(self, s, a, y):
        for net, q in zip(self.net[1:3], self.critics(1, s, a)):
            net.step(0.5 * ((q - y)**2).mean())

    def td3(self, count, stream, s, s2, a, r, d):
        actor, follower = self.net[0], self.net[5]
        with torch.no_grad():
            noise = (0.2 * self.normals(stream)).clamp(-0.5, 0.5)
            a2 = (torch.tanh(follower(s2)) + noise).clamp(-1, 1)
            y = r + d * torch.minimum(*self.critics(3, s2, a2))
        self.learn(s, a, y)
        if (count + 1) % 2 == 0:
            actor.step(-self.critics(1, s, torch.tanh(actor(s)))[0].mean())
            for i in (0, 1):
                self.net[3 + i].follow(self.net[1 + i])
            follower.follow(actor)

    def sample(self, s, stream):
        out = self.net[0](s)
        mean, log_sd = out[:, :self.nact], out[:, self.nact:].clamp(-20, 2)
        u = mean + log_sd.exp() * self.normals(stream)
        a = torch.tanh(u)
        log_p = torch.distributions.Normal(mean, log_sd.exp()).log_prob(u) - torch.log(1 - a**2)
        return a, log_p.sum(1)

    def sac(self, count, stream, s, s2, a, r, d):
        alpha = np.exp(self.extra[0])
        with torch.no_grad():
            a2, log_p = self.sample(s2, stream)
            y = r + d * (torch.minimum(*self.critics(3, s2, a2)) - alpha * log_p)
        self.learn(s, a, y)
        own, log_p = self.sample(s, stream)

        g = -(log_p.detach().numpy() - self.nact).mean()
        x, m, v, power1, power2 = self.extra
        power1, power2 = 0.9 * power1, 0.999 * power2
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x -= RATE * m / (1 - power1) / (np.sqrt(v / (1 - power2)) + 1e-8)
        self.extra = [x, m, v, power1, power2]

        self.net[0].step((alpha * log_p - torch.minimum(*self.critics(1, s, own))).mean())
        for i in (0, 1):
            self.net[3 + i].follow(self.net[1 + i])

    def before(self):
        return {"counts": [1, 200, UPDATES, 0], "memory": self.memory}

    def run(self, stream):
        for count in range(UPDATES):
            self.update(count, stream)

    def arrays(self):
        found = {}
        for i, net in enumerate(self.net):
            for what, x in net.arrays().items():
                found[f"network {i} {what}"] = x
        if self.extra:
            found["numbers"] = np.array(self.extra)
        return found


class Ppo:
    """Rows of the rollout: observation, action, log p, V(s), reward, V(s'), whether the next row is s'."""
    gamma, decay, clip, entropy, agent = 0.99, 0.9, 0.15, 0.02, "ppo"

    def __init__(self, name, norm, naction, nact, value_clip):
        self.name, self.naction, self.nact, self.value_clip = name, naction, nact, value_clip
        self.set = {"rate": RATE, "rollout": ROWS, "epochs": UPDATES, "lambda": self.decay, "clip": self.clip,
                    "entropy": self.entropy, "value_clip": int(value_clip), "batch": BATCH, "width": WIDTH,
                    "layers": LAYERS, "norm": int(norm), "obs_scale": 2, "reward_scale": 2}
        self.net = [Net(NOBS, naction or nact, False, 1e-5), Net(NOBS, 1, norm, 1e-5)]
        act = numbers.integers(0, naction, (ROWS, 1)) if naction else 1.5 * floats(ROWS, nact)
        kind = numbers.integers(0, 6, (ROWS, 1))  # 0: terminal, 1: truncated
        self.rollout = np.hstack([floats(ROWS, NOBS), act, -1.2 + 0.4 * floats(ROWS, 1), floats(ROWS, 1),
                                  2.0 * floats(ROWS, 1), np.where(kind == 0, 0.0, floats(ROWS, 1)), kind > 1])
        self.rollout = self.rollout.astype(np.float32).astype(np.float64)
        self.log_sd = torch.tensor(-0.5 + 0.2 * floats(nact), requires_grad=True)
        self.adam = torch.optim.Adam([self.log_sd], lr=RATE, betas=(0.9, 0.999), eps=1e-5)
        self.adam.state[self.log_sd] = {"step": torch.tensor(float(BEGUN)), "exp_avg": torch.tensor(0.01 * floats(nact)),
                                        "exp_avg_sq": torch.tensor(floats(nact, lo=1e-4, hi=1e-2))}

    def before(self):
        return {"drawn": [1], "rollout": self.rollout}

    def policy(self, s):
        out = self.net[0](s)
        if self.naction:
            return torch.distributions.Categorical(logits=out)
        return torch.distributions.Independent(torch.distributions.Normal(out, self.log_sd.exp()), 1)

    def run(self, stream):
        m = torch.tensor(self.rollout)
        s, a = m[:, :NOBS], m[:, NOBS:NOBS + self.nact]
        log_p, v, r, after, follows = m[:, -5:].unbind(1)
        advantage, later = torch.zeros(ROWS), 0.0
        for i in reversed(range(ROWS)):
            later = r[i] + self.gamma * after[i] - v[i] + self.gamma * self.decay * follows[i] * later
            advantage[i] = later
        order = list(range(ROWS))
        for _ in range(UPDATES):
            for i in range(ROWS - 1, 0, -1):
                k = stream.below(i + 1)
                order[i], order[k] = order[k], order[i]
            for first in range(0, ROWS, BATCH):
                k = order[first:first + BATCH]
                A, target = advantage[k], advantage[k] + v[k]
                A = (A - A.mean()) / (A.std() + 1e-8)
                policy = self.policy(s[k])
                ratio = (policy.log_prob(a[k, 0] if self.naction else a[k]) - log_p[k]).exp()
                loss = -torch.minimum(ratio * A, ratio.clamp(1 - self.clip, 1 + self.clip) * A).mean()
                loss = loss - self.entropy * policy.entropy().mean()
                if not self.naction:
                    self.log_sd.grad = torch.autograd.grad(loss, self.log_sd, retain_graph=True)[0]
                self.net[0].step(loss)
                if not self.naction:
                    self.adam.step()
                own = self.net[1](s[k])[:, 0]
                near = v[k] + (own - v[k]).clamp(-self.clip, self.clip) if self.value_clip else own
                self.net[1].step(0.5 * torch.maximum((own - target)**2, (near - target)**2).mean())

    def arrays(self):
        found = {f"network {i} {what}": x for i, net in enumerate(self.net) for what, x in net.arrays().items()}
        if not self.naction:
            state = self.adam.state[self.log_sd]
            t = float(state["step"])
            found["spread"] = np.concatenate([self.log_sd.detach().numpy(), state["exp_avg"].numpy(),
                                              state["exp_avg_sq"].numpy(), [0.9**t, 0.999**t]])
        return found


def main():
    cases = [Case("dqn", "dqn", True, 3, 1), Case("dqn plain", "dqn", False, 3, 1),
             Case("td3", "td3", True, 0, 2), Case("sac", "sac", True, 0, 2),
             Case("sac plain", "sac", False, 0, 1), Ppo("ppo discrete", True, 3, 1, False),
             Ppo("ppo", False, 0, 2, False), Ppo("ppo values clipped", False, 0, 1, True)]
    with open(HERE / "agent_neural.csv", "w") as f:
        def line(what, name, x):
            f.write(",".join([case.name, what, name] + [format(float(v), ".9g") for v in np.ravel(x)]) + "\n")

        for case in cases:
            line("task", case.agent, [NOBS, case.naction, case.nact])
            for name, x in case.set.items():
                line("set", name, x)
            for name, x in case.before().items():
                line("before", name, x)
            for i in range(len(case.net)):
                line("before", f"network {i} beta^t", [0.9**BEGUN, 0.999**BEGUN])
            for name, x in case.arrays().items():
                line("before", name, x)
            stream = Stream(7, 3, 0, 0)
            case.run(stream)
            for name, x in case.arrays().items():
                line("after", name, x)


if __name__ == "__main__":
    main()
