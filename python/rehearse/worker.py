"""A worker process: serves an agent in Python to a study, by the protocol of docs/exec.md.

    python -m rehearse.worker module:Name [HASH]

A class is an agent: Name(task, seed, **hyperparameters), start(obs), step(reward, obs), end(reward). A
function train(env, seed, **hyperparameters) gets the questions as a gymnasium environment: reset() and
step() read the next observation and write the action.

1. Everything that is random is seeded at the beginning of a run: random, numpy.random, and torch where it
   is loaded. A run then gives the same result in any process and in any order.
2. One thread for linear algebra: runs in parallel have a process each, and sums have one order.
3. What the agent prints goes to standard error; standard output belongs to the protocol.
4. A train function ends when its run ends: env.step() raises EndOfRun. If it returns earlier, its run
   has failed. After env.budget steps it may return.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded

import importlib
import importlib.util
import inspect
import json
import random
import sys
import traceback
from typing import Any, Dict, Iterator, List, Optional

import numpy as np

from ._agent import check, describe, params_of
from ._task import EndOfRun, Task

Question = Dict[str, Any]


class Channel:
    """Questions in, answers out."""

    def __init__(self, source: Any, sink: Any) -> None:
        self._source, self._sink = source, sink

    def ask(self) -> Optional[Question]:
        """The next question; None when there are no more."""
        try:
            line = self._source.readline()
        except ConnectionError:  # the study was killed
            line = ""
        return json.loads(line) if line else None

    def answer(self, text: str) -> None:
        try:
            self._sink.write(text + "\n")
            self._sink.flush()
        except ConnectionError:
            os._exit(1)  # the study was killed: there is nobody to tell

    def act(self, action: Any) -> None:
        if isinstance(action, (int, float)):
            self.answer('{"action":%r}' % action)
            return
        value = np.asarray(action)
        self.answer('{"action":%s}' % json.dumps(value.item() if value.ndim == 0 else value.ravel().tolist()))

    def fail(self, reason: str) -> None:
        self.answer(json.dumps({"error": reason[:200]}))


def _seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def _setting(target: Any, given: Dict[str, float]) -> Dict[str, Any]:
    known = params_of(target)
    return {name: int(x) if known[name].whole else x for name, x in given.items()}


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")


# ------------------------------------------------------------------------------- classes


def _serve_class(kind: Any, channel: Channel) -> None:
    agent: Any = None
    question: Optional[Question] = channel.ask()
    while question is not None:
        asked = bool(question.keys() & {"start", "step", "act"})
        try:
            if "step" in question:
                channel.act(agent.step(question["reward"], np.array(question["step"])))
            elif "start" in question:
                channel.act(agent.start(np.array(question["start"])))
            elif "end" in question:
                agent.end(question["reward"])
            elif "truncated" in question:
                agent.truncate(question["reward"], np.array(question["truncated"]))
            elif "run" in question:
                seed = int(question["seed"]) % 2**32
                _seed_all(seed)
                agent = kind(Task(question["task"]), seed, **_setting(kind, question["parameters"]))
            elif "act" in question:
                if not hasattr(agent, "act"):
                    raise TypeError("no method act(obs), which chooses an action without learning")
                channel.act(agent.act(np.array(question["act"])))
            elif "describe" in question:
                channel.answer(json.dumps(describe(kind)))
        except Exception as error:  # the run fails, with this reason, and a new worker begins
            traceback.print_exc()
            while not asked:
                question = channel.ask()
                if question is None:
                    return
                asked = bool(question.keys() & {"start", "step", "act"})
            channel.fail(_reason(error))
        question = channel.ask()


# ------------------------------------------------------------------------------- functions


def _serve_train(train: Any, channel: Channel) -> None:
    from ._train import TrainEnv

    question = channel.ask()
    while question is not None:
        if "describe" in question:
            channel.answer(json.dumps(describe(train)))
            question = channel.ask()
            continue
        if "run" not in question:
            channel.fail("a train function cannot be frozen; choose another criterion than final")
            question = channel.ask()
            continue
        seed = int(question["seed"]) % 2**32
        _seed_all(seed)
        env = TrainEnv(Task(question["task"]), channel)
        reason = None
        try:
            train(env, seed, **_setting(train, question["parameters"]))
            reason = (f"train() returned after {env.steps:,} of {env.budget:,} steps, expected it to train "
                      "until the environment stops it")
        except EndOfRun:
            pass
        except Exception as error:
            traceback.print_exc()
            reason = _reason(error)
        question = env.finish(reason)


# ------------------------------------------------------------------------------- finding it


def _folders() -> Iterator[str]:
    yield from json.loads(os.environ.get("REHEARSE_PATH", "[]"))
    yield os.getcwd()


def _load(target: str, digest: str = "") -> Any:
    home, _, name = target.partition(":")
    if not name:
        raise SystemExit(f"rehearse.worker: '{target}', expected module:Name or script.py:Name")
    for folder in _folders():
        if folder not in sys.path:
            sys.path.append(folder)
    if home == "pickle":
        import pickle

        with open(os.path.join(os.environ.get("REHEARSE_PICKLES", ""), f"{name}-{digest}.pickle"), "rb") as file:
            return pickle.load(file)
    if home.endswith(".py"):
        path = next((p for p in (os.path.join(f, home) for f in _folders()) if os.path.isfile(p)), None)
        if path is None:
            raise SystemExit(f"rehearse.worker: no file {home} in the current folder or REHEARSE_PATH")
        spec = importlib.util.spec_from_file_location("__mp_main__", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["__mp_main__"] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(home)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise SystemExit(f"rehearse.worker: {home} has no {name}")
    return found


def main(words: List[str]) -> None:
    source = os.fdopen(os.dup(0), "r", encoding="utf-8")
    sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the agent prints
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    if not words:
        raise SystemExit("rehearse.worker: no agent, expected module:Name")
    target = _load(*words[:2])
    check(target)
    serve = _serve_class if inspect.isclass(target) else _serve_train
    serve(target, Channel(source, sink))


if __name__ == "__main__":
    main(sys.argv[1:])
