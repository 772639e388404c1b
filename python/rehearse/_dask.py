"""The runs of a study on the workers of a Dask cluster: tune(..., cluster=Client(...)).

1. A run is a task: the bytes of its stage (agent, options, models), which every worker gets once, and those of
   the run. Its result depends on nothing else, so a run whose worker was lost is done again by another one.
2. The study is in the client's process, with its journal: nothing is lost when all workers are.
3. The stage is a task, too, not scattered data: Dask makes it again when the workers that had it are gone.
4. An agent in Python runs in a process of its own beside the Dask worker (docs/exec.md).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import uuid
import warnings
from collections import OrderedDict
from functools import partial
from typing import Any, Dict, Mapping, Tuple

from . import _agent, _core
from ._errors import InvalidError

_AHEAD = 2  # runs per thread of a worker: one that runs and one that is ready
_KEPT = 4  # stages that a worker keeps open

Stage = Tuple[bytes, Mapping[str, Any]]

# ------------------------------------------------------------------------------- on a worker

_mine = threading.local()  # .servers: a server is of one thread


def _stage(data: bytes, how: Mapping[str, Any]) -> Stage:
    return data, how


def _prepare(how: Mapping[str, Any]) -> None:
    """Where the processes of agents in Python import from, and how long they may take."""
    _agent.tell_workers([*how["path"], *sys.path])
    _core.set_timeout(how["timeout"])
    for name, data in how["pickles"].items():
        path = os.path.join(_agent.pickles(), name)
        with open(f"{path}.{threading.get_ident()}", "wb") as file:
            file.write(data)
        os.replace(file.name, path)


def _run(stage: Stage, key: str, unit: bytes) -> bytes:
    servers: "OrderedDict[str, _core.Server]" = _mine.__dict__.setdefault("servers", OrderedDict())
    if key not in servers:
        _prepare(stage[1])
        servers[key] = _core.Server(stage[0])
        while len(servers) > _KEPT:
            servers.popitem(last=False)
    return servers[key].run(unit)


# ------------------------------------------------------------------------------- in the study's process


class Engine:
    """Hands out the runs that a study leaves in `core`; close() when the study has ended."""

    def __init__(self, client: Any, timeout: float) -> None:
        if not hasattr(client, "nthreads") or not hasattr(client, "submit") or getattr(client, "asynchronous", False):
            raise InvalidError(f"cluster: {type(client).__name__}, expected a dask.distributed.Client that is not asynchronous")
        threads = sum(client.nthreads().values())
        if not threads:
            raise InvalidError("cluster: it has no workers, expected one or more; client.wait_for_workers() waits for them")
        self.core = _core.Remote(_AHEAD * threads)
        self._client = client
        self._name = uuid.uuid4().hex
        self._how: Dict[str, Any] = {"timeout": timeout}
        self._stages: Dict[int, Any] = {}
        self._open: Dict[int, Any] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._hand_out, name="rehearse-dask", daemon=True)
        self._thread.start()

    def _describe(self) -> Dict[str, Any]:
        folder = os.environ.get("REHEARSE_PICKLES", "")
        pickles = {}
        for name in os.listdir(folder) if folder else ():
            with open(os.path.join(folder, name), "rb") as file:
                pickles[name] = file.read()
        return {**self._how, "pickles": pickles, "path": json.loads(os.environ.get("REHEARSE_PATH", "[]"))}

    def _hand_out(self) -> None:
        while not self._over.is_set():
            task = self.core.next(0.1)
            if task is None:
                continue
            number, stage, data = task
            key = f"rehearse-stage-{self._name}-{stage}"
            try:
                if number < 0:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # that the stage is large: it is sent once
                        self._stages[stage] = self._client.submit(_stage, data, self._describe(), key=key)
                else:
                    future = self._client.submit(_run, self._stages[stage], key, data,
                                                 key=f"rehearse-run-{self._name}-{number}")
                    self._open[number] = future
                    future.add_done_callback(partial(self._bring, number))
            except Exception as error:  # the scheduler is gone
                self.core.fail(number, f"Dask: {type(error).__name__}: {error}")

    def _bring(self, number: int, future: Any) -> None:
        try:
            self.core.finish(number, future.result())
        except BaseException as error:  # of the run's task; cancelled; its workers died too often
            self.core.fail(number, f"Dask: {type(error).__name__}: {error}")
        self._open.pop(number, None)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        try:
            self._client.cancel([*self._open.values(), *self._stages.values()])
        except Exception:  # there is no scheduler any more
            pass
        self._open.clear()
        self._stages.clear()
