"""Logs: from files, data frames, arrays and Minari datasets.

Tables (pandas, Arrow, Parquet) are passed to the library as a temporary CSV file, so that roles,
formulas, missing values, dates and labels have one meaning everywhere, the one of docs/logs.md.
Numbers keep all their digits.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core, _plan
from ._errors import Error, FormatError, InvalidError, LogWarning, missing
from ._show import Finding, findings, frame, html_findings, html_table, number

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from ._options import LogOptions

Columns = Union[str, Sequence[str]]

_KEYS = {row["key"]: row for row in _core.keys("log") if row["option"]}
_ACTION_KINDS: List[str] = _KEYS["action_kind"]["words"]
ROLES = (*_KEYS, "roles")  # the options of read()


class Transition(NamedTuple):
    """One step of a log, or the arrays of several: next_obs is NaN where it is unknown."""

    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    terminal: Any
    truncated: Any


class Log:
    """Transitions of a plant or an environment. Read-only; its arrays are views without copies."""

    def __init__(self, core: _core.Log, name: Optional[str] = None, roles: str = "") -> None:
        self._core = core
        self._roles = roles  # how a file was read, as a study file has it; "": no file that can be read again
        self.name = name or os.path.basename(core.path) or "log"

    def __len__(self) -> int:
        return self._core.n

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return self._core.nepisode

    @property
    def sensors(self) -> List[str]:
        return self._core.sensors

    @property
    def units(self) -> List[str]:
        """Units of the sensors, "" where unknown."""
        return self._core.units

    @property
    def actions(self) -> List[str]:
        """Names of the discrete actions; empty if actions are continuous."""
        return self._core.labels

    @property
    def notes(self) -> List[str]:
        """How the log was read."""
        return self._core.notes

    @property
    def path(self) -> str:
        return self._core.path

    @property
    def fingerprint(self) -> str:
        """A hash of the transitions, as studies keep it."""
        return f"{self._core.fingerprint:016x}"

    @property
    def states(self) -> NDArray[np.float64]:
        """All observations, each once (states x sensors)."""
        return self._core.states

    @property
    def observations(self) -> NDArray[np.float64]:
        """The observation of every transition (n x sensors)."""
        return self._core.states[self._core.from_row]

    @property
    def next_observations(self) -> NDArray[np.float64]:
        """The observation after every transition, NaN where it is unknown (n x sensors)."""
        to = self._core.to_row
        out = self._core.states[to]
        out[to < 0] = np.nan
        return out

    @property
    def action_values(self) -> NDArray[np.float64]:
        """Indices of discrete actions, or the continuous ones (n x numbers)."""
        return self._core.actions

    @property
    def rewards(self) -> NDArray[np.float64]:
        return self._core.rewards

    @property
    def terminal(self) -> NDArray[np.bool_]:
        return (self._core.flags & 1) != 0

    @property
    def truncated(self) -> NDArray[np.bool_]:
        return ((self._core.flags & 2) != 0) & ~self.terminal

    @property
    def episode(self) -> NDArray[np.int32]:
        """The episode of every transition (n)."""
        return self._core.episodes

    @property
    def times(self) -> Optional[NDArray[np.float64]]:
        return self._core.times

    def inspect(self) -> "Report":
        """Look for faults before a model is fitted to the log."""
        return Report(self, self._core.inspect())

    def write(self, path: "os.PathLike[str] | str", format: Optional[str] = None) -> None:
        """Write the log; the format is that of the suffix (.csv, .npz, .hdf5, ...) or by name."""
        self._core.write(os.fspath(path), format)

    def __getitem__(self, which: Union[int, slice]) -> Transition:
        """Transition number `which`, or the arrays of several."""
        at = range(len(self))[which]
        rows: Any = at if isinstance(at, int) else np.arange(at.start, at.stop, at.step)
        to = self._core.to_row[rows]
        after = np.where(np.expand_dims(to, -1) < 0, np.nan, self._core.states[to])
        return Transition(self._core.states[self._core.from_row[rows]], self.action_values[rows], self.rewards[rows],
                          after, self.terminal[rows], self.truncated[rows])

    def to_pandas(self) -> "pandas.DataFrame":
        """One row per transition, with the observation after it; read() takes the table back."""
        table: Dict[str, Any] = {"episode": self.episode}
        if self.times is not None:
            table["time"] = self.times
        observations, after = self.observations, self.next_observations
        for i, name in enumerate(self.sensors):
            table[name] = observations[:, i]
        if self.actions:
            labels = np.array(self.actions, dtype=object)
            table[self._core.action_names[0]] = labels[self.action_values[:, 0].astype(int)]
        else:
            for i, name in enumerate(self._core.action_names):
                table[name] = self.action_values[:, i]
        table["reward"] = self.rewards
        table["terminal"] = self.terminal
        table["truncated"] = self.truncated
        for i, name in enumerate(self.sensors):
            table[f"{name}_next"] = after[:, i]
        out = frame(table)
        roles = {"obs": self.sensors, "action": self._core.action_names, "next": [f"{n}_next" for n in self.sensors],
                 **{k: k for k in ("episode", "time", "reward", "terminal", "truncated") if k in table}}
        kind = "discrete" if self.actions else "continuous"
        out.attrs["rehearse"] = {**roles, "action_kind": kind, "gaps": "cut"}  # what is missing stays so
        return out

    def __reduce__(self) -> "Tuple[Any, ...]":
        return _from_parts, (self._core.parts, self.name, self._roles)

    def __deepcopy__(self, memo: Any) -> "Log":
        return self  # read-only

    def __repr__(self) -> str:
        kinds = f"{len(self.actions)} actions" if self.actions else "continuous actions"
        return (f"<rehearse.Log {self.name}: {len(self):,} transitions, {self.episodes:,} episodes, "
                f"{len(self.sensors)} sensors, {kinds}>")

    def _repr_html_(self) -> str:
        states = self.states
        with np.errstate(all="ignore"):
            rows = [(name, unit, number(float(np.nanmin(states[:, i]))),
                     number(float(np.nanmean(states[:, i]))), number(float(np.nanmax(states[:, i]))))
                    for i, (name, unit) in enumerate(zip(self.sensors, self.units))]
        about = f"{len(self):,} transitions, {self.episodes:,} episodes"
        actions = ", ".join(self.actions) if self.actions else ", ".join(self._core.action_names)
        return (f"<b>{self.name}</b>: {about}; actions: {actions}"
                + html_table(("sensor", "unit", "min", "mean", "max"), rows))


def _from_parts(parts: "Tuple[Any, ...]", name: str, roles: str) -> Log:
    return Log(_core.log_from_parts(*parts), name, roles)


def _columns_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A row per sensor or action, with the statistics of its values beside the rest."""
    return frame([{**row, **row.get("values", {})} for row in rows]).drop(
        columns="values", errors="ignore").set_index("name")


class Report:
    """What inspect() found in a log: `facts` has the keys of `rehearse inspect --json`."""

    def __init__(self, log: Log, of: Mapping[str, Any]) -> None:
        self._log = log
        self.facts = dict(of)
        self.findings: List[Finding] = findings(of["findings"])

    @property
    def ok(self) -> bool:
        """No finding is an error."""
        return all(f.severity != "error" for f in self.findings)

    @property
    def sensors(self) -> Any:
        """A table of the sensors, as pandas."""
        return _columns_frame(self.facts["sensors"])

    @property
    def actions(self) -> Any:
        """A table of the actions, as pandas."""
        return _columns_frame(self.facts["actions"])

    def __repr__(self) -> str:
        f, e = self.facts, self.facts["episodes"]
        lines = [repr(self._log),
                 f"episodes   {e['terminal']:,} terminated, {e['truncated']:,} truncated; "
                 f"median length {number(e['lengths']['median'])}, "
                 f"return {number(e['returns']['median'])}",
                 f"reward     {number(f['reward']['min'])} to {number(f['reward']['max'])}, "
                 f"mean {number(f['reward']['mean'])}"]
        lines += [repr(one) for one in self.findings] or ["no findings"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self._log._repr_html_() + html_findings(self.findings)


def checked(plan: _core.Plan, log: Log) -> _core.Checked:
    """What inspect() says, first: errors are refused unless accepted by name, others warned of."""
    core = _core.check_log(plan, log._core)
    found = [f for f in findings(core.findings) if f.severity != "notice"]
    errors = [f for f in found if f.severity == "error" and not f.accepted]
    if errors:
        lines = [f"{log.name}: error {f.id}: {f.evidence}" for f in errors]
        names = ", ".join(repr(f.id) for f in found if f.severity == "error")
        raise InvalidError("\n".join([*lines, "log.inspect() says what to do; "
                                      f"accept=[{names}] goes on nevertheless, with low trust at best"]))
    for f in found:
        warnings.warn(f"{log.name}: {f.severity} {f.id}: {'(accepted) ' if f.accepted else ''}{f.evidence}",
                      LogWarning, stacklevel=3)
    return core


# ------------------------------------------------------------------------------- reading


def _options(roles: Mapping[str, Any]) -> Dict[str, str]:
    """Options as a file of roles has them."""
    out: Dict[str, str] = {}
    for key, value in roles.items():
        if key not in _KEYS:
            raise TypeError(f"read() has no option '{key}', expected one of: {', '.join(ROLES)}")
        if key == "derive" and isinstance(value, Mapping):
            value = [f"{name} = {formula}" for name, formula in value.items()]
        if key == "derive" and not isinstance(value, str):
            value = "; ".join(value)
        out[key] = _plan.text(value)
    return out


def _by_path(path: Optional[str], roles: Optional[str], options: Mapping[str, Any],
             name: Optional[str] = None) -> Log:
    core = _core.read_log(path, roles, _options(options))
    return Log(core, name, core.roles if name is None else "")


def _flat_arrow(table: Any) -> Any:
    """One column per number: a list of numbers in a cell becomes several columns."""
    import pyarrow
    import pyarrow.types

    arrays, names = [], []
    for name, column in zip(table.column_names, table.columns):
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        kind = column.type
        if pyarrow.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
        if pyarrow.types.is_struct(kind) or pyarrow.types.is_map(kind) or pyarrow.types.is_union(kind):
            raise InvalidError(f"column {name}: {kind}, expected numbers, text, times or lists of numbers; "
                               "pyarrow's Table.flatten() makes columns of its fields")
        if pyarrow.types.is_boolean(kind):
            column = column.cast(pyarrow.int8())
        if not (pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)
                or pyarrow.types.is_fixed_size_list(kind)):
            arrays.append(column)
            names.append(name)
            continue
        try:
            cells = np.array(column.to_pylist(), dtype=float)
        except (TypeError, ValueError):  # of text or structs; a missing list, or one of another length
            cells = np.empty(0)
        if cells.ndim != 2:
            raise InvalidError(f"column {name}: {kind}, expected lists of numbers of one length in all rows")
        for i in range(cells.shape[1]):
            arrays.append(pyarrow.array(cells[:, i]))
            names.append(f"{name}_{i}")
    return pyarrow.table(arrays, names=names)


def _write_arrow(table: Any, path: str) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(_flat_arrow(table), path)


def _write_pandas(table: Any, path: str) -> None:
    import pandas

    named = isinstance(table.index, (pandas.DatetimeIndex, pandas.MultiIndex)) or table.index.name
    if named:
        index = table.index
        if not isinstance(index, pandas.MultiIndex) and index.name is None:
            table = table.rename_axis("time")
        table = table.reset_index()
    truths = [c for c in table.columns if pandas.api.types.is_bool_dtype(table[c].dtype)]
    if truths:
        table = table.astype({c: "int8" for c in truths})
    table.to_csv(path, index=False)


def _by_table(table: Any, write: Any, name: str, options: Mapping[str, Any]) -> Log:
    with tempfile.TemporaryDirectory(prefix="rehearse-") as folder:
        path = os.path.join(folder, "table.csv")
        try:
            write(table, path)
            return _by_path(path, None, {**options, "format": "csv"}, name)
        except Error as error:  # the file is ours; the user knows a table
            text = str(error).replace(path, name).replace("table.csv", name)
            raise type(error)(text if text.startswith(name) else f"{name}: {text}") from None


def _by_arrow_file(path: str, options: Mapping[str, Any]) -> Log:
    try:
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise missing("pyarrow", f"{path}: reading Parquet and Arrow") from None
    with open(path, "rb") as file:
        parquet = file.read(4) == b"PAR1"
    try:
        table = pyarrow.parquet.read_table(path) if parquet else pyarrow.feather.read_table(path)
    except pyarrow.ArrowException as error:
        raise FormatError(f"{path}: {error}") from None
    return _by_table(table, _write_arrow, os.path.basename(path), options)


def _by_minari(dataset: Any, options: Mapping[str, Any]) -> Log:
    """From the dataset's file where it is HDF5, otherwise episode by episode."""
    folder = str(getattr(dataset.storage, "data_path", ""))
    name = str(getattr(dataset, "id", None) or getattr(dataset.spec, "dataset_id", "minari"))
    if os.path.isfile(os.path.join(folder, "main_data.hdf5")):
        return _by_path(os.path.join(folder, "main_data.hdf5"), None, options, name)
    parts: Dict[str, List[NDArray[Any]]] = {k: [] for k in ("obs", "next", "act", "rew", "term",
                                                          "cut", "begin")}
    for episode in dataset.iterate_episodes():
        seen = np.asarray(episode.observations, dtype=float)
        n = len(episode.rewards)
        seen = seen.reshape(n + 1, -1)
        parts["obs"].append(seen[:-1])
        parts["next"].append(seen[1:])
        parts["act"].append(np.asarray(episode.actions).reshape(n, -1))
        parts["rew"].append(np.asarray(episode.rewards, dtype=float))
        parts["term"].append(np.asarray(episode.terminations, dtype=bool))
        parts["cut"].append(np.asarray(episode.truncations, dtype=bool))
        begin = np.zeros(n, dtype=bool)
        begin[:1] = True
        parts["begin"].append(begin)
    whole = {k: np.concatenate(v) for k, v in parts.items()}
    return from_arrays(whole["obs"], whole["act"], whole["rew"], terminal=whole["term"],
                       truncated=whole["cut"], begins=whole["begin"], next_obs=whole["next"], name=name)


def read(source: Any, *, roles: "os.PathLike[str] | str | None" = None, **given: Unpack[LogOptions]) -> Log:
    """Read a log.

    source: the path of a CSV, HDF5, NPZ, JSON lines, Parquet or Arrow file, or of a YAML file with
    roles; a pandas DataFrame; a pyarrow Table; a Minari dataset; or a list of these: logs of one plant, which
    are joined. roles: such a YAML file for another source. The other arguments are the options of
    `rehearse inspect` (docs/logs.md); what is not given is detected. Lists of columns may be Python lists.
    """
    _plan.known("read", given, _KEYS)
    options = {k: v for k, v in given.items() if v is not None}
    file = None if roles is None else os.fspath(roles)
    if isinstance(source, Log):
        if options or roles:
            raise InvalidError("read: a log that has been read takes no options")
        return source
    if isinstance(source, (list, tuple)):  # logs of one plant
        if not source or any(isinstance(one, (list, tuple)) for one in source):
            raise InvalidError("read: an empty or nested list, expected logs of one plant")
        logs = [one if isinstance(one, Log) else read(one, roles=roles, **given) for one in source]
        return Log(_core.join_logs([one._core for one in logs]), ", ".join(one.name for one in logs))
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.endswith((".yaml", ".yml")):
            if file is not None:
                raise InvalidError(f"read: {path} and roles = {file}: two files of roles, expected one")
            return _by_path(None, path, options)
        head = b""
        if os.path.isfile(path):
            with open(path, "rb") as opened:
                head = opened.read(6)
        if head[:4] == b"PAR1" or head == b"ARROW1":
            return _by_arrow_file(path, options)
        return _by_path(path, file, options)
    if file is not None:
        raise InvalidError("read: roles of a file are for files, expected keyword arguments")
    if hasattr(source, "iterate_episodes") and hasattr(source, "storage"):
        return _by_minari(source, options)
    if hasattr(source, "to_csv") and hasattr(source, "iloc"):
        return _by_table(source, _write_pandas, "DataFrame", {**source.attrs.get("rehearse", {}), **options})
    if hasattr(source, "to_arrow"):  # polars
        source = source.to_arrow()
    if hasattr(source, "column_names") and hasattr(source, "columns"):
        return _by_table(source, _write_arrow, "Table", options)
    raise TypeError(f"read: {type(source).__name__}, expected a path, a pandas DataFrame, a pyarrow "
                    "Table or a Minari dataset; rehearse.from_arrays() takes NumPy arrays")


_plan.document(read, _KEYS)


def from_arrays(
    obs: ArrayLike,
    action: ArrayLike,
    reward: ArrayLike,
    *,
    terminal: Optional[ArrayLike] = None,
    truncated: Optional[ArrayLike] = None,
    begins: Optional[ArrayLike] = None,
    next_obs: Optional[ArrayLike] = None,
    sensors: Optional[Sequence[str]] = None,
    actions: Optional[Sequence[str]] = None,
    action_kind: str = "auto",
    name: str = "arrays",
) -> Log:
    """A log of NumPy arrays with a row per step.

    obs (n x sensors), action (n, or n x numbers), reward (n); terminal, truncated and begins (n)
    mark where episodes end and begin. next_obs: the observations after the steps; by default those
    of the next row. actions: names of the actions 0, 1, ...
    """
    o = np.ascontiguousarray(obs, dtype=np.float64)
    raw = np.asarray(action)
    a = np.ascontiguousarray(raw, dtype=np.float64)
    r = np.ascontiguousarray(reward, dtype=np.float64)
    if o.ndim == 1:
        o = o[:, None]
    if a.ndim == 1:
        a = a[:, None]
    n = len(r)
    if r.ndim != 1 or o.ndim != 2 or a.ndim != 2 or len(o) != n or len(a) != n:
        raise InvalidError(f"from_arrays: shapes {o.shape}, {a.shape}, {r.shape} of obs, action and "
                           "reward, expected one row per step in each")
    if action_kind not in _ACTION_KINDS:
        raise InvalidError(f"action_kind = {action_kind!r}, expected " + " or ".join(_ACTION_KINDS))

    def marks(x: Optional[ArrayLike], what: str) -> NDArray[np.uint8]:
        out = np.zeros(n, np.uint8) if x is None else np.ascontiguousarray(x).astype(np.uint8)
        if out.shape != (n,):
            raise InvalidError(f"from_arrays: {what} has shape {out.shape}, expected ({n},)")
        return out

    following = None
    if next_obs is not None:
        following = np.ascontiguousarray(next_obs, dtype=np.float64).reshape(n, -1)
        if following.shape != o.shape:
            raise InvalidError(f"from_arrays: next_obs has shape {following.shape}, expected {o.shape}")
    if sensors is not None and len(sensors) != o.shape[1]:
        raise InvalidError(f"from_arrays: {len(sensors)} names of sensors, expected {o.shape[1]}")
    return Log(_core.log_from_arrays(
        o, a, r, marks(terminal, "terminal"), marks(truncated, "truncated"), marks(begins, "begins"),
        following, _ACTION_KINDS.index(action_kind), bool(np.issubdtype(raw.dtype, np.integer)),
        list(sensors or ()), list(actions or ()), name), name)
