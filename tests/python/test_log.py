"""The same transitions from every source, without copies, and our messages as exceptions."""

import bz2
import copy
import lzma
import pickle
import subprocess
import types

import numpy as np
import pytest
from conftest import PLANT, ROLES, ROOT, SMALL

import rehearse
from rehearse._options import LogOptions

pandas = pytest.importorskip("pandas")


def test_every_source_gives_the_same_log(log, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.read_csv(PLANT)
    dated = pandas.read_csv(PLANT, parse_dates=["time"]).set_index("time")
    dated["trip"] = dated["trip"].astype(bool)
    dated["pump"] = dated["pump"].astype("category")
    table = pyarrow.Table.from_pandas(frame)
    frame.to_parquet(tmp_path / "plant.parquet")
    frame.to_feather(tmp_path / "plant.arrow", compression="uncompressed")
    for source in (frame, dated, table, tmp_path / "plant.parquet", str(tmp_path / "plant.arrow")):
        other = rehearse.read(source, **ROLES)
        assert other.fingerprint == log.fingerprint
        assert other.sensors == ["temp", "level"] and other.units == ["degC", "m"]
        assert other.actions == ["high", "low", "off"]
    assert rehearse.read(ROOT / "examples" / "plant.yaml").fingerprint == log.fingerprint
    assert np.array_equal(rehearse.read(dated, **ROLES).times, log.times)


def test_formats_of_files(log, tmp_path):
    for name in ("log.npz", "log.csv", "log.hdf5"):
        log.write(tmp_path / name)
        assert rehearse.read(tmp_path / name, gaps="cut").fingerprint == log.fingerprint


def test_packed_text(log, tmp_path):
    """libarchive's module lies beside the library, where there was libarchive to build it with."""
    if subprocess.run(["pkg-config", "--exists", "libarchive"], check=False).returncode:
        pytest.skip("no libarchive")
    text = PLANT.read_bytes()
    for name, pack in (("plant.csv.xz", lzma.compress), ("plant.csv.bz2", bz2.compress)):
        (tmp_path / name).write_bytes(pack(text))
        assert rehearse.read(tmp_path / name, **ROLES).fingerprint == log.fingerprint


def test_lists_in_cells():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"observation": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "action": [0, 1, 0],
                           "reward": [1.0, 2.0, 3.0], "done": [False, False, True]})
    log = rehearse.read(table, obs="observation_*", terminal="done")
    assert log.states.tolist() == [[1, 2], [3, 4], [5, 6]] and log.terminal.tolist() == [False, False, True]


def test_arrays_are_views(log):
    assert len(log) == 641 and log.episodes == 11
    states = log.states
    assert not states.flags.owndata and not states.flags.writeable
    with pytest.raises(ValueError):
        states[0, 0] = 1
    rewards = rehearse.read(PLANT, **ROLES).rewards  # outlives its log
    assert np.array_equal(rewards, log.rewards)
    frame = log.to_pandas()
    assert len(frame) == len(log) and frame["reward"].sum() == pytest.approx(log.rewards.sum())
    assert set(frame["pump"]) == {"high", "low", "off"}
    assert np.isnan(log.next_observations).any(axis=1).sum() >= 0


def test_from_arrays(log):
    begins = np.r_[True, log.episode[1:] != log.episode[:-1]]
    other = rehearse.from_arrays(log.observations, log.action_values[:, 0].astype(int), log.rewards,
                                 terminal=log.terminal, truncated=log.truncated, begins=begins,
                                 next_obs=log.next_observations, sensors=log.sensors, actions=log.actions)
    assert len(other) == len(log) and other.actions == log.actions
    assert np.array_equal(other.rewards, log.rewards) and np.array_equal(other.terminal, log.terminal)
    assert np.array_equal(other.next_observations, log.next_observations, equal_nan=True)
    with pytest.raises(rehearse.InvalidError, match="expected one row per step"):
        rehearse.from_arrays([[1.0]], [0, 1], [1.0, 2.0])


def test_minari_objects(tmp_path):
    folder = ROOT / "tests" / "reference" / "log" / "minari_box" / "data"
    if not folder.exists():
        folder = folder.parent
    stored = types.SimpleNamespace(storage=types.SimpleNamespace(data_path=folder), id="box-v0",
                                   iterate_episodes=lambda: iter(()))
    by_file = rehearse.read(stored)
    assert by_file.fingerprint == rehearse.read(ROOT / "tests/reference/log/minari_box").fingerprint

    def episodes():
        for k in range(2):
            yield types.SimpleNamespace(observations=np.arange(8.0).reshape(4, 2) + 100 * k,
                                        actions=np.array([0, 1, 0]), rewards=np.array([1.0, 2.0, 3.0]),
                                        terminations=np.array([False, False, k == 0]),
                                        truncations=np.array([False, False, k == 1]))

    arrow = types.SimpleNamespace(storage=types.SimpleNamespace(data_path=tmp_path), id="arrow-v0",
                                  iterate_episodes=episodes)
    log = rehearse.read(arrow)
    assert len(log) == 6 and log.episodes == 2 and log.name == "arrow-v0"
    assert log.terminal.tolist() == [False, False, True, False, False, False]
    assert log.next_observations[2].tolist() == [6, 7] and log.next_observations[5].tolist() == [106, 107]


def test_inspect(log):
    report = log.inspect()
    assert report.ok and {"frozen-sensor", "missing"} <= {f.id for f in report.findings}
    assert report.sensors.loc["temp", "missing"] == 3
    assert report.actions["steps"].sum() == len(log)
    assert report.facts["episodes"]["truncated"] + report.facts["episodes"]["terminal"] == log.episodes
    for shown in (log, report):
        assert "temp" in shown._repr_html_() and "transitions" in repr(shown)


def test_messages(tmp_path):
    frame = pandas.read_csv(PLANT)
    with pytest.raises(OSError, match="nowhere.csv: cannot read: No such file"):
        rehearse.read("nowhere.csv")
    with pytest.raises(rehearse.InvalidError, match="^DataFrame: action: no column 'pumpe'; did you mean 'pump'"):
        rehearse.read(frame, action="pumpe")
    with pytest.raises(ValueError, match="action_kind cannot be 'both'; expected one of auto, discrete, continuous"):
        rehearse.read(frame, action_kind="both")
    with pytest.raises(ValueError, match="max_gap = soon, expected a time"):
        rehearse.read(frame, max_gap="soon")
    with pytest.raises(TypeError, match="read: int, expected a path, a pandas DataFrame"):
        rehearse.read(3)
    (tmp_path / "bad.npz").write_bytes(b"PK\3\4 and no more")
    with pytest.raises(rehearse.FormatError):
        rehearse.read(tmp_path / "bad.npz")


def test_to_pandas_and_back(log):
    table = log.to_pandas()
    assert rehearse.read(table).fingerprint == log.fingerprint
    half = rehearse.read(table[table.episode < 5])
    assert half.episodes == 5 and half.sensors == log.sensors and half.actions == log.actions
    steps = np.random.default_rng(1).normal(size=(30, 2))
    other = rehearse.from_arrays(steps, steps[:, :1] ** 3, steps[:, 0], truncated=np.arange(30) % 10 == 9)
    assert rehearse.read(other.to_pandas()).fingerprint == other.fingerprint


def test_indexed(log):
    obs, action, reward, after, terminal, truncated = log[3]
    assert (obs == log.observations[3]).all() and reward == log.rewards[3] and not terminal and not truncated
    assert (after == log.observations[4]).all() and log[-1].reward == log.rewards[-1]
    some = log[10:20:2]
    assert some.obs.shape == (5, 2) and (some.action == log.action_values[10:20:2]).all()
    with pytest.raises(IndexError):
        log[len(log)]


def test_columns_that_are_no_numbers(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = pyarrow.table({"x": [{"a": 1.0}, {"a": 2.0}], "action": [0, 1], "reward": [0.0, 1.0]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(rehearse.Error, match="column x: struct<a: double>, expected numbers"):
        rehearse.read(tmp_path / "t.parquet")
    for cells in ([["a"], ["b"]], [[1.0, 2.0], None], [[1.0, 2.0], [3.0]], [[{"a": 1.0}], []]):
        with pytest.raises(rehearse.InvalidError, match="^Table: column x: list<.*, expected lists of numbers of one length"):
            rehearse.read(pyarrow.table({"x": cells, "action": [0, 1], "reward": [0.0, 1.0]}))
    (tmp_path / "broken.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-9])
    with pytest.raises(rehearse.FormatError, match="broken.parquet: "):
        rehearse.read(tmp_path / "broken.parquet")


def test_keywords_are_the_rows():
    """The documentation of read(), fit() and tune() has every row of their tables; so do their types."""
    rows = [row["key"] for row in rehearse._core.keys("log") if row["option"]]
    assert list(LogOptions.__annotations__) == rows
    with pytest.raises(TypeError, match="read.. has no option 'rewad'; did you mean 'reward'"):
        rehearse.read(PLANT, rewad="energy")
    for row in rows:
        assert f"\n    {row}: " in rehearse.read.__doc__
    for function, table in ((rehearse.fit, "fit"), (rehearse.tune, "tune")):
        for row in rehearse._core.keys(table):
            name = row["option"] and row["option"].replace("-", "_")
            assert not name or function.__doc__.count(f"\n    {name}: ") == 1


def shifted():
    """A tank whose rows have the action of the row before."""
    rng = np.random.default_rng(1)
    level, before, rows = 5.0, 0, []
    for _ in range(600):
        pump = int(rng.integers(3))
        rows.append((level, before, -(level - 5.0) ** 2))
        level = min(max(level + 0.3 * (pump - 1) + 0.02 * rng.random(), 0.0), 10.0)
        before = pump
    level, pump, reward = zip(*rows)
    return rehearse.from_arrays(np.array(level), np.array(pump), np.array(reward), sensors=["level"], name="tank")


def test_errors_of_a_log_are_refused_unless_accepted():
    tank, quick = shifted(), dict(model="knn", repr="raw", progress=False)
    for call in (lambda: rehearse.fit(tank, **quick),
                 lambda: rehearse.tune(tank, "esarsa", search={"alpha": [0.1, 1]}, runs=2, steps=100, confirm=0, **quick)):
        with pytest.raises(rehearse.InvalidError, match=r"tank: error row-shift: (.|\n)*accept=\['row-shift'\]"):
            call()
    with pytest.raises(rehearse.InvalidError, match="did you mean 'row-shift'"):
        rehearse.fit(tank, accept="row-shif", **quick)
    with pytest.warns(rehearse.LogWarning, match=r"tank: error row-shift: \(accepted\) "):
        study = rehearse.tune(tank, "esarsa", search={"alpha": [0.1, 1]}, runs=2, steps=100, confirm=0,
                              accept=["row-shift"], **quick)
    found = [f for f in study.findings if f.id == "row-shift"]
    assert found and found[0].origin == "log" and found[0].accepted


def test_warnings_of_a_log(log):
    with pytest.warns(rehearse.LogWarning, match="warning frozen-sensor: "):
        rehearse.fit(log, model="knn", repr="raw", progress=False)


def test_lists_of_logs(log, tmp_path):
    both = rehearse.read([PLANT, log], **ROLES)
    assert len(both) == 2 * len(log) and both.episodes == 2 * log.episodes
    assert both.fingerprint != log.fingerprint and both.name == "plant.csv, plant.csv"
    with pytest.raises(rehearse.InvalidError, match="lacks level and has also other"):
        frame = pandas.read_csv(PLANT).rename(columns={"level [m]": "other"})
        rehearse.read([PLANT, frame], **ROLES)
    with pytest.raises(rehearse.InvalidError, match="empty or nested"):
        rehearse.read([])


def same(a, b):
    """Whether all parts of two logs are equal, notes and formulas included."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return len(a) == len(b) and all(map(same, a, b)) if isinstance(a, (list, tuple)) else a == b


@pytest.mark.parametrize("more", [
    dict(derive="dT = temp - 40", stack=2, failure="temp > 60", reward="-energy"), dict(missing=None, gaps="fill")])
def test_pickled_and_copied(more):
    log = rehearse.read(PLANT, **{**ROLES, **more})
    twin = pickle.loads(pickle.dumps(log, protocol=5))
    assert twin is not log and same(log._core.parts, twin._core.parts)
    assert (twin.name, twin.fingerprint, twin.notes) == (log.name, log.fingerprint, log.notes)
    assert twin.inspect().facts == log.inspect().facts
    options = dict(search={"alpha": [0.1, 0.2]}, **SMALL)
    assert rehearse.tune(twin, "esarsa", **options).runs.equals(rehearse.tune(log, "esarsa", **options).runs)
    assert copy.deepcopy(log) is log
    parts = log._core.parts
    with pytest.raises(rehearse.FormatError, match="s is observation 9999"):  # a damaged pickle
        rehearse._core.log_from_parts(parts[0], parts[1] * 0 + 9999, *parts[2:])
    with pytest.raises(rehearse.InvalidError, match="different lengths"):
        rehearse._core.log_from_parts(parts[0], parts[1][1:], *parts[2:])
