#!/usr/bin/env python3
"""Writes the sample logs in tests/reference/log/, and what is to be read of each.

The files are written as the libraries write them: Minari by Minari itself, NPZ by NumPy, D4RL's
and d3rlpy's layouts by h5py in the way of d4rl/scripts/generation and d3rlpy/dataset/io.py.
What is expected is computed here from the episodes, not from the files:

    <name>.txt    n nobs nact naction
                  episode step flag reward known | act (nact) | obs (nobs) | next (nobs)

flag: 1 terminal, 2 truncated. Discrete actions are indices of the labels.

    python3 -m venv v && v/bin/pip install h5py numpy minari gymnasium jax pillow
    v/bin/python tests/reference/log_samples.py tests/reference/log
"""

import os
import shutil
import sys
import tempfile

import h5py
import numpy as np

TERMINAL, TRUNCATED = 1, 2


# ------------------------------------------------------------------------------ episodes


def make_episodes(rng, lengths, terminal, nobs=3, nact=2, discrete=None, dtype=np.float32):
    """Episodes of T steps and T + 1 observations; terminal[i] or else truncated."""
    episodes = []
    for steps, ends in zip(lengths, terminal):
        if discrete is None:
            act = rng.uniform(-1, 1, (steps, nact)).astype(dtype)
        else:
            act = rng.integers(discrete[0], discrete[0] + discrete[1], steps)
        flags = np.zeros((2, steps), bool)
        flags[0 if ends else 1, -1] = True
        episodes.append({
            "obs": rng.normal(size=(steps + 1, nobs)).astype(dtype),
            "act": act,
            "rew": rng.normal(size=steps).astype(dtype),
            "term": flags[0],
            "trunc": flags[1],
        })
    return episodes


def expect(episodes, last_known, start=None):
    """The transitions of the episodes; last_known: s' of the last step is in the file."""
    rows, number = [], 0
    for e in episodes:
        steps = len(e["rew"])
        kept = steps if last_known or e["term"][-1] else steps - 1
        for t in range(kept):
            known = last_known or t + 1 < steps
            flag = TERMINAL * bool(e["term"][t]) + TRUNCATED * bool(e["trunc"][t])
            if t == kept - 1 and not flag & TERMINAL:
                flag |= TRUNCATED
            act = np.atleast_1d(e["act"][t]).astype(float).ravel()
            if start is not None:
                act = act - start
            after = e["obs"][t + 1] if known else np.full_like(e["obs"][t], np.nan)
            rows.append((number, t, flag, float(e["rew"][t]), int(known), act,
                         np.ravel(e["obs"][t]).astype(float), np.ravel(after).astype(float)))
        number += kept > 0
    return rows


def expect_few(episodes, last_known):
    """The same where actions are those that occur in the transitions."""
    rows = expect(episodes, last_known)
    labels = np.unique([row[5][0] for row in rows])
    rows = [(*row[:5], np.searchsorted(labels, row[5]), *row[6:]) for row in rows]
    return rows, len(labels)


def write_expected(path, rows, naction):
    with open(path, "w") as f:
        print(len(rows), len(rows[0][6]), len(rows[0][5]), naction, file=f)
        for row in rows:
            numbers = [x for part in row[5:] for x in part]
            print(*row[:3], repr(row[3]), row[4], *[repr(float(x)) for x in numbers], file=f)


def flat(episodes, key):
    return np.concatenate([e[key] if key != "obs" else e["obs"][:-1] for e in episodes])


def after(episodes):
    return np.concatenate([e["obs"][1:] for e in episodes])


# ------------------------------------------------------------------------------ D4RL


def d4rl(path, rng, scale=1):
    """As mujoco/collect_data.py: float32, numpy bool, gzip, metadata of other lengths."""
    e = make_episodes(rng, [7 * scale, 5 * scale, 6 * scale], [True, False, True])
    with h5py.File(path, "w") as f:
        for name, key in [("observations", "obs"), ("actions", "act"), ("rewards", "rew"),
                          ("terminals", "term"), ("timeouts", "trunc")]:
            f.create_dataset(name, data=flat(e, key), compression="gzip")
        f.create_dataset("infos/qpos", data=flat(e, "obs")[:, :2], compression="gzip")
        f["metadata/algorithm"] = np.bytes_("SAC")
        f["metadata/iteration"] = np.array([3000], np.int32)[0]
        f.create_dataset("metadata/policy/fc0/weight", data=np.zeros((4, 4), np.float32))
    return expect(e, False), 0


def d4rl_next(path, rng, scale=1):
    """Float flags as in kitchen, (N, 1), big-endian, with next_observations, no timeouts."""
    e = make_episodes(rng, [4 * scale, 9 * scale], [True, True], nobs=2, nact=1)
    with h5py.File(path, "w") as f:
        f.create_dataset("observations", data=flat(e, "obs").astype(">f8"), chunks=(4, 1),
                         shuffle=True, compression="gzip")
        f.create_dataset("actions", data=flat(e, "act").astype(">f4"))
        f.create_dataset("rewards", data=flat(e, "rew")[:, None])
        f.create_dataset("terminals", data=flat(e, "term").astype(np.float32)[:, None])
        f.create_dataset("next_observations", data=after(e))
    return expect(e, True), 0


# ------------------------------------------------------------------------------ d3rlpy


def d3rlpy_v2(path, rng, scale=1):
    """As d3rlpy.dataset.io.dump(): one set of arrays per episode, the last s' not stored."""
    e = make_episodes(rng, [6 * scale, 4 * scale, 5 * scale] + 9 * [2], [True, False, True] + 9 * [True],
                      discrete=(0, 3))
    with h5py.File(path, "w") as h5:
        keys = ["observations", "actions", "rewards", "terminated"]
        h5.create_dataset("columns", data=keys)
        h5.create_dataset("num_episodes", data=len(e))
        for i, x in enumerate(e):
            h5.create_dataset(f"observations_{i}", data=x["obs"][:-1])
            h5.create_dataset(f"actions_{i}", data=x["act"][:, None])
            h5.create_dataset(f"rewards_{i}", data=x["rew"][:, None])
            h5.create_dataset(f"terminated_{i}", data=x["term"][-1])
        h5.create_dataset("version", data="2.1")
        h5.flush()
    return expect_few(e, False)


def d3rlpy_tuple(path, rng, scale=1):
    """Tuple observations: observations_<i>_<j>, one of them an integer image."""
    e = make_episodes(rng, [5 * scale, 4 * scale], [False, True], nobs=6)
    for x in e:
        x["obs"][:, 2:] = rng.integers(0, 256, x["obs"][:, 2:].shape)
    with h5py.File(path, "w") as h5:
        h5.create_dataset("columns", data=["observations", "actions", "rewards", "terminated"])
        h5.create_dataset("num_episodes", data=len(e))
        for i, x in enumerate(e):
            obs = x["obs"][:-1]
            h5.create_dataset(f"observations_{i}_0", data=obs[:, :2])
            h5.create_dataset(f"observations_{i}_1",
                              data=obs[:, 2:].astype(np.uint8).reshape(-1, 1, 2, 2))
            h5.create_dataset(f"actions_{i}", data=x["act"])
            h5.create_dataset(f"rewards_{i}", data=x["rew"][:, None])
            h5.create_dataset(f"terminated_{i}", data=x["term"][-1])
        h5.create_dataset("version", data="2.1")
    return expect(e, False), 0


def d3rlpy_v1(path, rng, scale=1):
    """As MDPDataset.dump() of 1.x: flat, with episode_terminals."""
    e = make_episodes(rng, [6 * scale, 5 * scale, 3 * scale], [False, True, False], discrete=(0, 4))
    with h5py.File(path, "w") as f:
        f.create_dataset("observations", data=flat(e, "obs"))
        f.create_dataset("actions", data=flat(e, "act"))
        f.create_dataset("rewards", data=flat(e, "rew"))
        f.create_dataset("terminals", data=flat(e, "term").astype(np.float32))
        f.create_dataset("episode_terminals",
                         data=(flat(e, "term") | flat(e, "trunc")).astype(np.float32))
        f.create_dataset("discrete_action", data=True)
        f.create_dataset("create_mask", data=False)
        f.create_dataset("mask_size", data=1)
        f.create_dataset("version", data="1.0")
        f.flush()
    return expect_few(e, False)


# ------------------------------------------------------------------------------ NPZ


def neorl(path, rng, scale=1):
    """NeoRL: done, and index of cumulative ends as float32; no time-outs are marked."""
    e = make_episodes(rng, [5 * scale, 4 * scale, 6 * scale], [False, True, False])
    np.savez_compressed(path, obs=flat(e, "obs"), next_obs=after(e), action=flat(e, "act"),
                        reward=flat(e, "rew")[:, None], done=flat(e, "term")[:, None],
                        index=np.cumsum([len(x["rew"]) for x in e]).astype(np.float32))
    return expect(e, True), 0


def neorl2(path, rng, scale=1):
    """NeoRL-2: done is true at every end, truncated at time-outs; no index."""
    e = make_episodes(rng, [5 * scale, 4 * scale, 6 * scale], [False, True, True], discrete=(1, 5))
    trunc = flat(e, "trunc")
    np.savez(path, obs=flat(e, "obs"), next_obs=after(e), action=flat(e, "act"),
             reward=flat(e, "rew"), done=flat(e, "term") | trunc, truncated=trunc)
    return expect_few(e, True)


def plain(path, rng, scale=1):
    """Usual names, odd types: Fortran order, float16, big-endian, episode ids, time."""
    e = make_episodes(rng, [5 * scale, 3 * scale], [True, False], dtype=np.float16)
    ids = np.repeat([7, 9], [len(x["rew"]) for x in e]).astype(">i2")
    np.savez(path, observations=np.asfortranarray(flat(e, "obs").astype(np.float64)),
             actions=np.asfortranarray(flat(e, "act")), rewards=flat(e, "rew").astype(">f4"),
             terminals=flat(e, "term").astype(np.uint8), episode_id=ids,
             timestamps=np.arange(len(ids), dtype=np.uint32), comment=np.array("a text"),
             gamma=0.99)
    return expect(e, False), 0


# ------------------------------------------------------------------------------ Minari


def _minari(path, dataset_id, episodes, **spaces):
    import minari
    from minari.data_collector import EpisodeBuffer

    root = tempfile.mkdtemp()
    os.environ["MINARI_DATASETS_PATH"] = root
    buffers = [EpisodeBuffer(id=i, observations=x["minari_obs"], actions=x["minari_act"],
                             rewards=list(x["rew"].astype(float)),
                             terminations=list(x["term"]), truncations=list(x["trunc"]))
               for i, x in enumerate(episodes)]
    minari.create_dataset_from_buffers(dataset_id, buffers, **spaces)
    if os.path.exists(path):
        shutil.rmtree(path)
    shutil.move(os.path.join(root, dataset_id), path)
    shutil.rmtree(root)


def minari_box(path, rng, scale=1):
    """Unbounded Box observations, Discrete actions that start at -1."""
    from gymnasium import spaces

    e = make_episodes(rng, [5 * scale, 3 * scale], [True, False], discrete=(-1, 3))
    for x in e:
        x["minari_obs"], x["minari_act"] = x["obs"], x["act"]
    _minari(path, "test/box-v0", e,
            observation_space=spaces.Box(-np.inf, np.inf, (3,), np.float32),
            action_space=spaces.Discrete(4, start=-1))
    return expect(e, True, start=-1), 4


def minari_dict(path, rng, scale=1):
    """A Dict with a Tuple in it; its keys in Gymnasium's order. Box actions."""
    from gymnasium import spaces

    e = make_episodes(rng, [3 * scale], [False], nobs=6)
    for x in e:
        x["obs"][:, 2] = rng.integers(5, 9, len(x["obs"]))
        o = x["obs"]
        x["minari_obs"] = {"goal": o[:, :2], "pair": (o[:, 2].astype(np.int64), o[:, 3:4]),
                           "b": o[:, 4:]}
        x["minari_act"] = x["act"]
        x["obs"] = np.concatenate([o[:, 4:], o[:, :4]], 1)
    box = spaces.Box(-9, 9, (2,), np.float32)
    _minari(path, "test/dict-v0", e,
            observation_space=spaces.Dict({
                "goal": box, "b": box,
                "pair": spaces.Tuple([spaces.Discrete(9), spaces.Box(-9, 9, (1,), np.float32)])}),
            action_space=spaces.Box(-1, 1, (2,), np.float32))
    return expect(e, True), 0


def minari_04(path, rng, scale=1):
    """Up to 0.4.3: no metadata.json, the spaces are attributes of the root; one file."""
    e = make_episodes(rng, [4 * scale] + 10 * [1], [True] + 10 * [False], nobs=1, discrete=(2, 3))
    with h5py.File(path, "w", libver=("earliest", "v110")) as f:
        f.attrs["observation_space"] = \
            '{"type": "Box", "dtype": "float32", "shape": [1], "low": [-Infinity], "high": [NaN]}'
        f.attrs["action_space"] = '{"type": "Discrete", "dtype": "int64", "start": 2, "n": 3}'
        f.attrs["total_episodes"] = len(e)
        f.attrs["minari_version"] = "0.4.3"
        for i, x in enumerate(e):
            g = f.create_group(f"episode_{i}")
            g.attrs["id"] = i
            g.attrs["total_steps"] = len(x["rew"])
            g["observations"] = x["obs"]
            g["actions"] = x["act"]
            g["rewards"] = x["rew"]
            g["terminations"] = x["term"]
            g["truncations"] = x["trunc"]
    return expect(e, True, start=2), 3


def d4rl_never(path, rng, scale=1):
    """A dataset beside the others that was made and never written."""
    e = make_episodes(rng, [4 * scale, 3 * scale], [True, False])
    with h5py.File(path, "w") as f:
        for name, key in [("observations", "obs"), ("actions", "act"), ("rewards", "rew"),
                          ("terminals", "term"), ("timeouts", "trunc")]:
            f[name] = flat(e, key)
        f.create_dataset("infos/never", shape=(10**9,), dtype=np.float64)
    return expect(e, False), 0


SAMPLES = {
    "d4rl.hdf5": d4rl,
    "d4rl_next.hdf5": d4rl_next,
    "d3rlpy_v2.h5": d3rlpy_v2,
    "d3rlpy_tuple.h5": d3rlpy_tuple,
    "d3rlpy_v1.h5": d3rlpy_v1,
    "neorl.npz": neorl,
    "neorl2.npz": neorl2,
    "plain.npz": plain,
    "minari_box": minari_box,
    "minari_dict": minari_dict,
    "minari_04.hdf5": minari_04,
    "d4rl_never.hdf5": d4rl_never,
}


def main():
    folder = sys.argv[1]
    for i, (name, write) in enumerate(SAMPLES.items()):
        rows, naction = write(os.path.join(folder, name), np.random.default_rng(i))
        write_expected(os.path.join(folder, name + ".txt"), rows, naction)


if __name__ == "__main__":
    main()
