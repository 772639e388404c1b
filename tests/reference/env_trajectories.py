"""Reference trajectories of the simulators, from the textbook forms of their equations.

    python3 env_trajectories.py          writes env_<name>.csv beside this script

The committed files were made with Python 3 and numpy 2.4 on x86-64 Linux, where numpy's
longdouble has 64 bits of mantissa: states are computed with it and rounded to double on writing,
so that what a test measures is the rounding of the C and not of the reference. On a machine whose
longdouble is a double the last digits differ.

Nothing here is derived from the C. A row is the name of its case and its numbers; what they are
is said by the line that starts with "#" above each case.
"""

import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
R = np.longdouble
PI = R("3.14159265358979323846264338327950288")


class File:
    def __init__(self, name):
        self.path = HERE / f"env_{name}.csv"
        self.line = [f"# made by env_trajectories.py with numpy {np.__version__}"]

    def case(self, name, columns):
        self.name = name
        self.line.append(f"# {name}: {columns}")

    def row(self, *values):
        self.line.append(",".join([self.name] + [f"{float(v):.17g}" for v in values]))

    def write(self):
        self.path.write_text("\n".join(self.line) + "\n")
        print(self.path.name, self.path.stat().st_size, "bytes")


def to_double(state):
    """What a test can start from: a state of doubles, held in longdouble."""
    return np.array([R(float(x)) for x in state], dtype=R)


# ------------------------------------------------------------------------------ acrobot


class Acrobot:
    m1 = m2 = l1 = R(1)
    lc1 = lc2 = R(1) / 2
    i1 = i2 = R(1)
    g = R("9.8")
    dt = R("0.2")
    max1, max2 = 4 * PI, 9 * PI

    def __init__(self, **changed):
        for name, value in changed.items():
            setattr(self, name, R(float(value)))
        # the constants the C holds are doubles
        for name in "m1 m2 l1 lc1 lc2 i1 i2 g dt max1 max2".split():
            setattr(self, name, R(float(getattr(self, name))))

    def derivative(self, s, torque):
        t1, t2, w1, w2 = s
        cos, sin = np.cos, np.sin
        d1 = (self.m1 * self.lc1**2
              + self.m2 * (self.l1**2 + self.lc2**2 + 2 * self.l1 * self.lc2 * cos(t2))
              + self.i1 + self.i2)
        d2 = self.m2 * (self.lc2**2 + self.l1 * self.lc2 * cos(t2)) + self.i2
        phi2 = self.m2 * self.lc2 * self.g * cos(t1 + t2 - PI / 2)
        phi1 = (-self.m2 * self.l1 * self.lc2 * w2**2 * sin(t2)
                - 2 * self.m2 * self.l1 * self.lc2 * w2 * w1 * sin(t2)
                + (self.m1 * self.lc1 + self.m2 * self.l1) * self.g * cos(t1 - PI / 2)
                + phi2)
        a2 = ((torque + d2 / d1 * phi1 - self.m2 * self.l1 * self.lc2 * w1**2 * sin(t2) - phi2)
              / (self.m2 * self.lc2**2 + self.i2 - d2**2 / d1))
        a1 = -(d2 * a2 + phi1) / d1
        return np.array([w1, w2, a1, a2], dtype=R)

    def step(self, s, torque):
        f, h = self.derivative, self.dt
        k1 = f(s, torque)
        k2 = f(s + h / 2 * k1, torque)
        k3 = f(s + h / 2 * k2, torque)
        k4 = f(s + h * k3, torque)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        for i in (0, 1):
            while s[i] > PI:
                s[i] -= 2 * PI
            while s[i] < -PI:
                s[i] += 2 * PI
        s[2] = min(max(s[2], -self.max1), self.max1)
        s[3] = min(max(s[3], -self.max2), self.max2)
        return s

    @staticmethod
    def terminal(s):
        return -np.cos(s[0]) - np.cos(s[1] + s[0]) > 1


def acrobot():
    out = File("acrobot")
    columns = "torque of the step to here, theta1, theta2, speed1, speed2, terminal"
    rng = np.random.default_rng(1)

    def wild(name, env, torques, start, nstep):
        # every step starts from the doubles written; what follows a terminal state counts too
        out.case(name, columns)
        s = to_double(start)
        out.row(0, *s, env.terminal(s))
        for i in range(nstep):
            torque = R(float(rng.choice(torques)))
            s = to_double(env.step(s, torque))
            out.row(torque, *s, env.terminal(s))

    wild("wild", Acrobot(), [1, 0, -1], [3.0, -2.0, 12.0, -27.0], 250)
    wild("swing", Acrobot(), [1, 0, -1], [0.05, -0.03, 0.02, 0.01], 100)
    wild("two", Acrobot(), [1, -1], [1.0, 0.5, -2.0, 3.0], 60)
    wild("changed", Acrobot(l1=2, m1=2), [1, 0, -1], [2.5, 1.0, 5.0, -9.0], 120)
    every = Acrobot(l1=1.3, m1=0.7, m2=1.9, lc1=0.4, lc2=0.8, i1=0.6, i2=1.7, g=3.7, dt=0.11,
                    max1=3.1, max2=4.2)
    wild("every", every, [1.5, 0, -1.5], [2.5, 1.0, 1.0, -2.0], 60)

    # from anywhere: both speeds are clipped and both angles wrapped many times
    out.case("anywhere", "torque, theta1, theta2, speed1, speed2, the same four after, terminal")
    env = Acrobot()
    for i in range(150):
        reach = [np.pi, np.pi, 4 * np.pi, 9 * np.pi]
        s = to_double(rng.uniform(-1, 1, 4) * reach)
        torque = R(int(rng.integers(-1, 2)))
        after = env.step(s, torque)
        out.row(torque, *s, *after, env.terminal(after))

    # a free fall from a small angle is regular, so that rounding grows slowly
    out.case("calm", "theta1, theta2, speed1, speed2, at every step")
    env, s = Acrobot(), to_double([0.08, -0.05, 0.03, 0.06])
    for i in range(401):
        out.row(*s)
        s = env.step(s, R(0))
    out.write()


# ------------------------------------------------------------------------------ cartpole


def cartpole_step(s, force, dt=R(0.02), g=R(9.8), mc=R(1.0), mp=R(0.1), l=R(0.5)):
    x, xd, t, td = s
    temp = (force + mp * l * td**2 * np.sin(t)) / (mc + mp)
    tdd = (g * np.sin(t) - np.cos(t) * temp) / (l * (R(4) / 3 - mp * np.cos(t)**2 / (mc + mp)))
    xdd = temp - mp * l * tdd * np.cos(t) / (mc + mp)
    return np.array([x + dt * xd, xd + dt * xdd, t + dt * td, td + dt * tdd], dtype=R)


def cartpole():
    out = File("cartpole")
    columns = "action, x, x_dot, theta, theta_dot, the same four after one step, failed"
    rng = np.random.default_rng(2)
    limit = 12 * 2 * PI / 360

    def follow(name, nstep, force=R(10), **constants):
        # a switching controller that is wrong now and then; runs begin near the limits too
        out.case(name, columns)
        edge = [(0, 0, 0, 0), (2.3, 1, 0, 0), (-2.3, -1, 0, 0), (0, 0, 0.15, 1), (0, 0, -0.15, -1)]
        run, age, s = 0, 0, to_double(rng.uniform(-0.05, 0.05, 4))
        for i in range(nstep):
            lean = s[2] + R(0.3) * s[3] + R(0.05) * s[0] + R(0.1) * s[1]
            action = int(lean > 0) if rng.random() > 0.1 else int(rng.integers(2))
            after = cartpole_step(s, force if action else -force, **constants)
            failed = abs(after[0]) > R(2.4) or abs(after[2]) > limit
            out.row(action, *s, *after, failed)
            s, age = to_double(after), age + 1
            if failed or age == 60:
                run, age = run + 1, 0
                s = to_double(rng.uniform(-0.05, 0.05, 4) + edge[run % len(edge)])

    follow("balance", 300)
    follow("every", 60, R(15), dt=R(0.03), g=R(3.7), mc=R(2.5), mp=R(0.7), l=R(0.8))

    # hanging, the pole is stable and rounding stays small; upright it grows by e every 13 steps or so
    out.case("hanging", "action, x, x_dot, theta, theta_dot, at every step")
    s = to_double([0.1, -0.2, 2.9, 0.3])
    for i in range(401):
        action = int(i // 7 % 2)
        out.row(action, *s)
        s = cartpole_step(s, R(10 if action else -10))
    out.write()


# ------------------------------------------------------------------------------ mountain car


def mountain_car():
    out = File("mountain_car")
    columns = "action, x, x_dot, at every step; the last row is the goal"

    def follow(name, s, policy, force=R(0.001), gravity=R(0.0025), hills=R(3), top=R(0.07),
               left=R(-1.2), goal=R(0.5)):
        out.case(name, columns)
        for i in range(2000):
            x, v = s
            action = policy(i, v)
            out.row(action, x, v)
            if x >= goal:
                return
            v = v + (action - 1) * force - gravity * np.cos(hills * x)
            v = min(max(v, -top), top)
            x = min(max(x + v, left), goal)
            if x == left:
                v = R(0)
            s = (x, v)
        raise SystemExit(f"{name} did not reach the goal")

    def lazy(i, v):  # pumps, with long rests in between: some hundreds of steps
        return 1 if i % 50 < 40 else (2 if v >= 0 else 0)

    follow("pump", (R(-0.5), R(0)), lambda i, v: 2 if v >= 0 else 0)
    follow("lazy", (R(-0.55), R(0)), lazy)
    follow("wall", (R(-1.0), R(-0.07)), lambda i, v: 0 if i < 5 else 2)
    follow("every", (R(-0.4), R(0)), lambda i, v: 2 if v >= 0 else 0, R(0.002), R(0.003), R(2.5),
           R(0.05), R(-1.1), R(0.45))
    out.write()


# ------------------------------------------------------------------------------ pendulum


def pendulum():
    out = File("pendulum")
    columns = "torque, theta, theta_dot, the same two after one step, reward"
    rng = np.random.default_rng(4)

    def wrapped(theta):
        return (theta + PI) % (2 * PI) - PI

    def step(s, torque, g=R(10), m=R(1), l=R(1), dt=R(0.05), top=R(8), strong=R(2),
             speed_cost=R(0.1), torque_cost=R(0.001)):
        theta, omega = s
        u = min(max(torque, -strong), strong)
        reward = -(wrapped(theta)**2 + speed_cost * omega**2 + torque_cost * u**2)
        omega = omega + (3 * g / (2 * l) * np.sin(theta) + 3 / (m * l**2) * u) * dt
        omega = min(max(omega, -top), top)
        return np.array([wrapped(theta + omega * dt), omega], dtype=R), reward

    def wild(name, nstep, **constants):
        out.case(name, columns)
        s = to_double([0.1, 7.5])
        for i in range(nstep):
            torque = R(float(rng.uniform(-3, 3)))  # a third of them outside the bounds
            after, reward = step(s, torque, **constants)
            out.row(torque, *s, *after, reward)
            s = to_double(after)

    wild("wild", 400)
    wild("every", 60, g=R(3.7), m=R(0.7), l=R(1.3), dt=R(0.11), top=R(3.0), strong=R(1.5),
         speed_cost=R(0.3), torque_cost=R(0.02))

    # damped towards hanging by the torque, rounding dies out
    out.case("calm", "torque, theta, theta_dot, reward of the step from here")
    s = to_double([2.0, -1.0])
    for i in range(401):
        torque = R(float(-s[1] + R(0.5) * np.sin(R(i) / 9)))
        after, reward = step(s, torque)
        out.row(torque, *s, reward)
        s = after
    out.write()


# ------------------------------------------------------------------------------ puddle world


def segment_distance(p, a, b):
    p, a, b = (np.array(v, dtype=R) for v in (p, a, b))
    t = np.dot(p - a, b - a) / np.dot(b - a, b - a) if np.any(a != b) else R(0)
    return np.sqrt(np.sum((p - a - min(max(t, R(0)), R(1)) * (b - a))**2))


def arc_distance(p, centre, lo, hi, radius=R("0.1")):
    """To the arc from angle lo to hi, in degrees, lo >= 0."""
    dx, dy = p[0] - centre[0], p[1] - centre[1]
    angle = np.arctan2(dy, dx) * 180 / PI % 360
    if lo <= angle <= hi:
        return abs(np.hypot(dx, dy) - radius)
    ends = [(centre[0] + radius * np.cos(t * PI / 180), centre[1] + radius * np.sin(t * PI / 180))
            for t in (R(lo), R(hi))]
    return min(np.hypot(p[0] - x, p[1] - y) for x, y in ends)


def union_depth(p):
    """Distance to the outline of Sutton's two puddles, which is these four straight pieces and
    three arcs: the upper puddle's top ends where the circle about (0.45, 0.8) crosses y = 0.85."""
    corner = R("0.45") - R("0.05") * np.sqrt(R(3))
    straight = [
        ((R("0.1"), R("0.65")), (R("0.35"), R("0.65"))),
        ((R("0.1"), R("0.85")), (corner, R("0.85"))),
        ((R("0.35"), R("0.4")), (R("0.35"), R("0.65"))),
        ((R("0.55"), R("0.4")), (R("0.55"), R("0.8"))),
    ]
    edge = [segment_distance(p, a, b) for a, b in straight]
    edge.append(arc_distance(p, (R("0.1"), R("0.75")), 90, 270))
    edge.append(arc_distance(p, (R("0.45"), R("0.4")), 180, 360))
    edge.append(arc_distance(p, (R("0.45"), R("0.8")), 0, 150))
    return min(edge)


FIRST = ((R("0.1"), R("0.75")), (R("0.45"), R("0.75")))
SECOND = ((R("0.45"), R("0.4")), (R("0.45"), R("0.8")))


def depths(p):
    """(union, max, sum)"""
    one = max(R(0), R("0.1") - segment_distance(p, *FIRST))
    two = max(R(0), R("0.1") - segment_distance(p, *SECOND))
    union = union_depth(p) if one > 0 or two > 0 else R(0)
    return union, max(one, two), one + two


def outline(first, second, radius, n=400000):
    """Points of the outline of any two puddles: all points of both outlines that are not inside
    the other."""
    points = []
    for (ax, ay), (bx, by) in (first, second):
        length = np.hypot(bx - ax, by - ay)
        t = np.linspace(0, 1, n)
        angle = 2 * np.pi * t
        if length > 0:
            nx, ny = -(by - ay) / length * radius, (bx - ax) / length * radius
            for side in (-1, 1):
                points.append(np.stack([ax + t * (bx - ax) + side * nx,
                                        ay + t * (by - ay) + side * ny], 1))
        for cx, cy in ((ax, ay), (bx, by)):
            points.append(np.stack([cx + radius * np.cos(angle), cy + radius * np.sin(angle)], 1))
    points = np.concatenate(points)

    def distance(axis):
        a, b = np.array(axis[0]), np.array(axis[1])
        d = b - a
        t = np.clip((points - a) @ d / (d @ d), 0, 1) if d @ d else np.zeros(len(points))
        return np.hypot(*(points - a - t[:, None] * d).T)

    return points[np.minimum(distance(first), distance(second)) >= radius - 1e-12]


def puddle_world():
    out = File("puddle_world")
    rng = np.random.default_rng(5)

    # a walk without noise; depth is that of the union
    out.case("walk", "action, x, y after it, reward, terminal")
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]
    route = [3] * 13 + [1] * 9 + [3] * 3 + [1] * 3 + [2] * 12 + [0] * 25 + [2] * 12 + [3] * 15
    route += [1] * 5 + [int(a) for a in rng.integers(0, 4, 300)] + [1] * 25 + [3] * 25
    x, y = R(0.02), R(0.03)
    for action in route:
        x = min(max(x + R(0.05) * moves[action][0], R(0)), R(1))
        y = min(max(y + R(0.05) * moves[action][1], R(0)), R(1))
        x, y = to_double([x, y])
        terminal = (1 - x) + (1 - y) < R(0.1)
        out.row(action, x, y, -1 - 400 * depths((x, y))[0], terminal)
        if terminal:
            break

    out.case("depth", "x, y, depth by union, max, sum")
    for i in range(400):
        p = to_double(rng.uniform([0, 0.28], [0.57, 0.92]))
        out.row(*p, *depths(p))
    for i in range(200):  # where the puddles meet
        p = to_double(rng.uniform([0.33, 0.62], [0.57, 0.92]))
        out.row(*p, *depths(p))

    # other layouts, by a finely sampled outline: good to 1e-6
    layouts = [
        (((0.2, 0.3), (0.7, 0.6)), ((0.3, 0.7), (0.6, 0.2)), 0.12),
        (((0.2, 0.5), (0.8, 0.5)), ((0.3, 0.62), (0.7, 0.62)), 0.1),
        (((0.4, 0.5), (0.4, 0.5)), ((0.52, 0.5), (0.52, 0.5)), 0.1),
        (((0.4, 0.5), (0.4, 0.5)), ((0.2, 0.42), (0.9, 0.45)), 0.15),
        (((0.1, 0.75), (0.45, 0.75)), ((0.45, 0.4), (0.45, 0.8)), 0.2),
    ]
    out.case("layout", "radius, x1, y1, x2, y2 of the first axis, of the second, x, y, depth")
    for first, second, radius in layouts:
        edge = outline(first, second, radius)
        ends = np.array([*first, *second])
        count = 0
        while count < 60:
            p = rng.uniform(ends.min(0) - radius, ends.max(0) + radius)
            if not (np.all(p > 0.06) and np.all(p < 0.94)):
                continue
            near = min(segment_distance(p, *first), segment_distance(p, *second))
            depth = np.hypot(*(edge - p).T).min() if near < radius else 0.0
            out.row(radius, *first[0], *first[1], *second[0], *second[1], *p, depth)
            count += 1
    out.write()


if __name__ == "__main__":
    acrobot()
    cartpole()
    mountain_car()
    pendulum()
    puddle_world()
