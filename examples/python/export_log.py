"""export_log.py - logs that rehearse does not read itself, written as NPZ, CSV or plain HDF5.

Copy the function that you need; each imports what it uses.
"""
import numpy as np


def split_lists(path, out, column="obs"):
    """CSV with a list per cell ("[0.1, 0.2]", or [0.1 0.2] as NumPy prints it): a column each."""
    import pandas as pd

    table = pd.read_csv(path)
    cells = table.pop(column)
    rows = [np.array(cell.strip("[]").replace(",", " ").split(), float) for cell in cells]
    table.join(pd.DataFrame(np.stack(rows)).add_prefix(f"{column}_")).to_csv(out, index=False)


def repack(path, out):
    """HDF5 packed with lzf, blosc or another filter that libhdf5 does not have: gzip."""
    import h5py

    with h5py.File(path) as old, h5py.File(out, "w") as new:
        for name in old:
            new.create_dataset(name, data=old[name][()], compression="gzip")


def minari_arrow(dataset, out):
    """A Minari dataset stored as Arrow or Parquet: one padded row per episode, so Minari reads it."""
    import minari

    episodes = list(minari.load_dataset(dataset).iterate_episodes())

    def join(rows):
        return np.concatenate([rows(e) for e in episodes])

    np.savez(out, obs=join(lambda e: e.observations[:-1]), next_obs=join(lambda e: e.observations[1:]),
             action=join(lambda e: e.actions), reward=join(lambda e: e.rewards),
             terminal=join(lambda e: e.terminations), truncated=join(lambda e: e.truncations),
             episode=join(lambda e: np.full(len(e.rewards), e.id)))


def robomimic(path, out):
    """robomimic: data/demo_0/obs/..."""
    import h5py

    with h5py.File(path) as file:
        demos = [d for _, d in sorted(file["data"].items(), key=lambda d: int(d[0][5:]))]

        def flat(group):
            return np.concatenate([np.reshape(group[k], (len(group[k]), -1)) for k in group], axis=1)

        def join(rows):
            return np.concatenate([rows(d) for d in demos])

        np.savez(out, obs=join(lambda d: flat(d["obs"])), next_obs=join(lambda d: flat(d["next_obs"])),
                 action=join(lambda d: d["actions"]), reward=join(lambda d: d["rewards"]),
                 terminal=join(lambda d: d["dones"]),
                 episode=np.repeat(np.arange(len(demos)), [len(d["rewards"]) for d in demos]))


def sb3_buffer(path, out):
    """A replay buffer of Stable-Baselines3: several environments side by side; once it is full, its
    oldest row is in the middle."""
    from stable_baselines3.common.save_util import load_from_pkl

    b = load_from_pkl(path)
    rows = np.r_[b.pos:b.buffer_size, 0:b.pos] if b.full else np.r_[0:b.pos]

    def take(x):
        return np.concatenate([x[rows, env] for env in range(b.n_envs)])

    done, timeout = take(b.dones) > 0, take(b.timeouts) > 0
    ends = np.cumsum(np.full(b.n_envs, len(rows)))  # an environment's last row ends its episode
    timeout[ends - 1] |= ~done[ends - 1]
    np.savez(out, obs=take(b.observations), action=take(b.actions), reward=take(b.rewards),
             next_obs=take(b.next_observations), terminal=done & ~timeout, truncated=timeout)


def rlds(dataset, out):
    """RLDS, as tfds.as_numpy(tfds.load(...)["train"]): the last step of an episode has no action of
    its own, only the final observation."""
    obs, act, rew, following, end, cut = [], [], [], [], [], []
    for episode in dataset:
        steps = list(episode["steps"])
        for now, after in zip(steps, steps[1:]):
            obs.append(now["observation"])
            act.append(now["action"])
            rew.append(now["reward"])
            following.append(after["observation"])
            end.append(after["is_terminal"])
            cut.append(after["is_last"] and not after["is_terminal"])
    np.savez(out, obs=obs, action=act, reward=rew, next_obs=following, terminal=end, truncated=cut)
