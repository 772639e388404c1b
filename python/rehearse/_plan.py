"""Keyword arguments of fit() and tune() become the keys of a study file."""

from __future__ import annotations

import difflib
from typing import Any, Callable, Dict, Iterable, List, Mapping, Tuple, Union

from . import _core
from ._errors import InvalidError

Axis = Union[float, str, List[Any], Tuple[Any, ...], range]

_names: Dict[str, Dict[str, Dict[str, Any]]] = {}


def names(command: str) -> Dict[str, Dict[str, Any]]:
    """{keyword: key} of a command: the options of the program, with underscores."""
    if command not in _names:
        table: Dict[str, Dict[str, Any]] = {}
        for key in _core.keys(command):
            plain = key["key"].replace(".*", "").replace(".", "_")
            for name in (key["option"].replace("-", "_") if key["option"] else plain, plain):
                table.setdefault(name, key)
        _names[command] = table
    return _names[command]


def document(function: Callable[..., Any], table: Mapping[str, Mapping[str, Any]]) -> None:
    """Append what every keyword argument is to the documentation of a function, rows once."""
    lines = [function.__doc__ or "", "    Keyword arguments:\n"]
    first: Dict[str, str] = {}
    for name, row in table.items():
        if first.setdefault(row["key"], name) != name:
            continue
        default = f" (default: {row['initial']})" if row["initial"] else ""
        words = f" ({', '.join(row['words'])})" if row["words"] else ""
        lines.append(f"    {name}: {row['about']}{words}{default}")
    function.__doc__ = "\n".join(lines)


def text(value: Any) -> str:
    """A value as a study file has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return ",".join(text(v) for v in value)
    return str(value)


def axis(value: Axis) -> str:
    """The values to try: 0.1; [1, 10]; (0.01, 1); (0.01, 1, "log"); "0.01:1:log"; a distribution of Optuna."""
    if isinstance(value, tuple):
        if len(value) not in (2, 3):
            raise InvalidError(f"search: {value!r}, expected (low, high) or (low, high, 'log'); "
                               "a list has the values to try")
        return ":".join(text(v) for v in value)
    if isinstance(value, range):
        return ",".join(text(v) for v in value)
    if hasattr(value, "tolist"):  # NumPy
        value = value.tolist()
    if type(value).__module__ == "optuna.distributions":
        return _of_optuna(value)
    return text(value)


def _of_optuna(of: Any) -> str:
    """A distribution of Optuna as the values to try."""
    if hasattr(of, "choices"):
        return text(of.choices)
    ends = f"{text(of.low)}:{text(of.high)}"
    if of.log:
        return f"{ends}:log"
    if isinstance(of.low, int) and of.step == 1:
        return f"{ends}:int"
    if of.step is None:
        return ends
    return text([of.low + i * of.step for i in range(round((of.high - of.low) / of.step) + 1)])


def known(command: str, options: Iterable[str], table: Mapping[str, Any]) -> None:
    """Refuse keyword arguments that a table does not have."""
    for name in options:
        if name not in table:
            near = difflib.get_close_matches(name, table, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"{command}() has no option '{name}'{hint}")


def apply(plan: _core.Plan, command: str, options: Mapping[str, Any]) -> None:
    table = names(command)
    known(command, options, table)
    for name, value in options.items():
        key = table[name]
        if value is None:
            continue
        if key["type"] == "pairs":
            if not isinstance(value, Mapping):
                raise InvalidError(f"{name} = {value!r}, expected a dict of names and values")
            for one, x in value.items():
                lo_hi = isinstance(x, tuple) and len(x) == 2
                plan.set(key["key"][:-1] + str(one), axis(x) if lo_hi else text(x), name)
        else:
            several = key["repeats"] and isinstance(value, (list, tuple))
            plan.set(key["key"], "; ".join(text(v) for v in value) if several else text(value), name)
