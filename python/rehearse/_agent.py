"""One's own agents: how a class or a function is named, described and found by worker processes.

A worker is `python -m rehearse.worker TARGET HASH`, started by the library (docs/exec.md). The command
is the agent's name in the study's journal, so it holds no paths:

1. The interpreter is in the environment variable REHEARSE_PYTHON; without it, it is python3. Folders
   to import from are in REHEARSE_PATH.
2. TARGET is module:name, or script.py:name for what was defined in the script that runs. What has no
   file (a notebook, a function inside a function) is pickled by cloudpickle: pickle:name.
3. HASH is of the source text. An edited agent is another agent: a study that began with the first one
   is not continued with the second.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shlex
import sys
import tempfile
import textwrap
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar, Union

from ._errors import InvalidError, missing

_WIDE = 1e300  # range of a parameter that has none

F = TypeVar("F")


class Param:
    """A hyperparameter: its range, where it starts, and how it is searched."""

    def __init__(self, low: float, high: float, initial: Optional[float] = None, *, log: bool = False,
                 whole: bool = False, search: bool = True, about: str = "") -> None:
        if not low < high:
            raise InvalidError(f"Param({low}, {high}): expected low < high")
        if log and not low > 0:
            raise InvalidError(f"Param({low}, {high}, log=True): expected low above 0")
        if initial is None:
            initial = (low * high) ** 0.5 if log else (low + high) / 2
            initial = float(round(initial)) if whole else initial
        if not low <= initial <= high:
            raise InvalidError(f"Param({low}, {high}, {initial}): expected an initial value between them")
        self.low, self.high, self.initial = low, high, initial
        self.log, self.whole, self.search, self.about = log, whole, search, about

    def describe(self, name: str) -> Dict[str, Any]:
        out: Dict[str, Any] = {"name": name, "about": self.about or name, "low": self.low,
                               "high": self.high, "initial": self.initial, "whole": self.whole,
                               "scale": "log" if self.log else "linear"}
        if self.search:
            out["usual"] = [self.low, self.high]
        return out


def hyperparameters(**params: Union[Param, Tuple[float, ...]]) -> Callable[[F], F]:
    """Declare the hyperparameters of a class or of a train function: @hyperparameters(alpha=Param(...))."""

    def mark(target: F) -> F:
        target.hyperparameters = params  # type: ignore[attr-defined]
        return target

    return mark


def params_of(target: Any) -> Dict[str, Param]:
    """Those that were declared, or the keyword arguments that have a number as default."""
    declared = getattr(target, "hyperparameters", None)
    if isinstance(declared, Mapping):
        return {name: p if isinstance(p, Param) else Param(*p) for name, p in declared.items()}
    out: Dict[str, Param] = {}
    call = target.__init__ if inspect.isclass(target) else target
    for name, arg in inspect.signature(call).parameters.items():
        x = arg.default
        if isinstance(x, (int, float)) and not isinstance(x, bool):
            whole = isinstance(x, int)
            wide = 2.0**53 if whole else _WIDE
            out[name] = Param(-wide, wide, x, whole=whole, search=False)
    return out


def describe(target: Any) -> Dict[str, Any]:
    """The description of docs/exec.md."""
    doc = (inspect.getdoc(target) or "an agent in Python").strip().splitlines()[0]
    train = not inspect.isclass(target)
    return {"rehearse": 1, "about": doc, "actions": getattr(target, "actions", "both"),
            "truncated": train or hasattr(target, "truncate"),
            "parameters": [p.describe(name) for name, p in params_of(target).items()]}


def check(target: Any) -> None:
    """Refuse what no worker can use, before a process is started."""
    if inspect.isclass(target):
        lacking = [name for name in ("start", "step", "end") if not callable(getattr(target, name, None))]
        if lacking:
            raise TypeError(f"agent {target.__name__}: no method {' and '.join(lacking)}, expected "
                            "start(obs), step(reward, obs) and end(reward)")
        return
    if not inspect.isfunction(target):
        raise TypeError(f"agent: {type(target).__name__}, expected a name, a class or a function "
                        "train(env, seed, **hyperparameters)")
    names = list(inspect.signature(target).parameters)
    if names[:2] != ["env", "seed"]:
        raise TypeError(f"agent {target.__name__}({', '.join(names)}): expected the arguments "
                        "env, seed and the hyperparameters")


def _source_hash(target: Any, pickled: Optional[bytes]) -> str:
    try:
        source = textwrap.dedent(inspect.getsource(target)).encode()
    except (OSError, TypeError):
        source = pickled or target.__qualname__.encode()
    table = json.dumps([p.describe(n) for n, p in params_of(target).items()]).encode()
    return hashlib.sha256(source + b"\0" + table).hexdigest()[:8]


def _home_of(target: Any) -> Optional[str]:
    """module:name or script.py:name; None: no file defines it at its top level."""
    module, name = target.__module__, target.__qualname__
    if "<locals>" in name:
        return None
    if module != "__main__":
        return f"{module}:{name}"
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name and not spec.name.endswith("__main__"):
        return f"{spec.name}:{name}"
    path = getattr(main, "__file__", None)
    return f"{os.path.basename(path)}:{name}" if path and path.endswith(".py") else None


def tell_workers(path: Optional[List[str]] = None) -> None:
    """Which interpreter worker processes are, and where they import from: by default as this one."""
    os.environ["REHEARSE_PYTHON"] = sys.executable
    os.environ["REHEARSE_PATH"] = json.dumps([os.path.abspath(p or ".") for p in path or sys.path])


_keep: List["tempfile.TemporaryDirectory[str]"] = []  # of pickles, until the program ends


def pickles() -> str:
    """The folder of agents that are pickled; worker processes know it."""
    if not _keep:
        _keep.append(tempfile.TemporaryDirectory(prefix="rehearse-agent-"))
    os.environ["REHEARSE_PICKLES"] = _keep[0].name
    return _keep[0].name


def command_of(target: Any) -> str:
    """The name of the agent for a plan: exec:COMMAND."""
    check(target)
    home, pickled = _home_of(target), None
    if home is None:
        try:
            import cloudpickle
        except ImportError:
            raise missing("cloudpickle", f"agent {target.__name__}: it has no file that a worker process "
                          "could import; put it into one, or: an agent from a notebook") from None
        pickled = cloudpickle.dumps(target)
        home = f"pickle:{target.__name__}"
    digest = _source_hash(target, pickled)
    if pickled is not None:
        with open(os.path.join(pickles(), f"{target.__name__}-{digest}.pickle"), "wb") as file:
            file.write(pickled)
    tell_workers()
    return f'exec:"${{REHEARSE_PYTHON:-python3}}" -m rehearse.worker {shlex.quote(home)} {digest}'

