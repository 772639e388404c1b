"""A deployment: the agent of best.yaml on the plant, one observation at a time.

The agent runs in a process of its own, `rehearse deploy` of the wheel: log, state, guard and alarms are those
of docs/deploy.md, and a Python program that ends takes nothing with it.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from time import sleep
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypedDict, Union

from . import _agent
from ._errors import Error, InvalidError

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rehearse")
_READY = re.compile(rb"; (new, from|resumed at) step [0-9,]+\n")  # cmd_deploy.c, serve()


@dataclass(frozen=True)
class Reply:
    """An action, and what there is to say about it (docs/deploy.md)."""

    action: Any  # its name, or a list of numbers; None: the episode is over
    index: Optional[int]  # of a discrete action
    source: str  # agent, guard, hold, fallback, blend, advice, shadow or nobody
    notes: List[str]
    alarms: List[str]


def _number(x: Any) -> Any:
    return None if x is None or not math.isfinite(float(x)) else float(x)


class Deployment:
    """An agent that learns on the plant; close() saves it. Use it in a `with` statement."""

    def __init__(self, best: str, folder: str, words: Sequence[str]) -> None:
        self.folder = folder
        self._told = False  # why it ended
        _agent.tell_workers()
        self._said = tempfile.TemporaryFile()  # what it says beside its answers
        self._process = subprocess.Popen(
            [_PROGRAM, "deploy", best, "-o", folder, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._said, text=True, encoding="utf-8", start_new_session=True)  # not the terminal's Ctrl-C
        while self._process.poll() is None and not _READY.search(os.pread(self._said.fileno(), 65536, 0)):
            sleep(0.005)  # a program that says why it cannot begin is about to end
        if self._process.poll() is not None:
            fault = self._fault()
            self.close()
            raise fault

    def _ask(self, message: Mapping[str, Any]) -> Dict[str, Any]:
        pipe = self._process
        assert pipe.stdin and pipe.stdout
        try:
            pipe.stdin.write(json.dumps(message) + "\n")
            pipe.stdin.flush()
            line = pipe.stdout.readline()
        except (BrokenPipeError, ValueError):  # it has ended; closed
            line = ""
        if not line:
            raise self._fault()
        return dict(json.loads(line))

    def _fault(self) -> Error:
        code = self._process.wait()
        self._told = True
        if self._said.closed:
            return InvalidError("deployment: closed, expected an open one")
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        text = lines[-1] if lines else f"deployment: it ended with exit code {code}"
        return (InvalidError if code == 2 else Error)(text[len("rehearse: "):] if text.startswith("rehearse: ") else text)

    def step(self, obs: Union[Mapping[str, Any], Sequence[Any]], reward: Optional[float] = None, *, action: Any = None, controller: Any = None,
             seq: Optional[int] = None, time: Optional[float] = None, start: bool = False, terminal: bool = False,
             truncated: bool = False, command: Optional[str] = None) -> Reply:
        """Tell one observation and get the next action.

        obs: {sensor: number} or the numbers in the order of best.yaml; None and NaN are missing. reward: of the
        action before, where best.yaml has no formula. action: the one that was really taken, if it was another.
        controller: what the plant's own controller would do now, for `fallback: none` and shadow.
        seq: number of the observation, one more each time. start, terminal, truncated: of an episode.
        command: shadow, advice, control, fallback or agent: who acts from here on.
        """
        seen = ({k: _number(x) for k, x in obs.items()} if isinstance(obs, Mapping) else [_number(x) for x in obs])
        flags = {"start": start, "terminal": terminal, "truncated": truncated}
        said = {"reward": reward, "action": getattr(action, "tolist", lambda: action)(),
                "controller": getattr(controller, "tolist", lambda: controller)(), "seq": seq, "time": time,
                "command": command}
        reply = self._ask({"obs": seen, **{k: v for k, v in said.items() if v is not None},
                           **{k: v for k, v in flags.items() if v}})
        if "error" in reply:
            raise InvalidError(f"deployment: {reply['error']}")
        return Reply(reply["action"], reply.get("index"), reply["source"], reply.get("notes", []),
                     reply.get("alarms", []))

    @property
    def status(self) -> Dict[str, Any]:
        """How it was doing when it was last saved: the document of `rehearse deploy --status --json`."""
        out = subprocess.run([_PROGRAM, "deploy", "--status", self.folder, "--json"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False)
        if out.returncode not in (0, 1) or not out.stdout:  # 1: there is an alarm
            raise InvalidError(out.stderr.strip())
        return dict(json.loads(out.stdout))

    def close(self) -> None:
        """Save what was learned and end. It can be called twice."""
        if self._said.closed:
            return
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        code = self._process.wait()
        self._process.stdout.close()
        fault = self._fault() if code == 1 and not self._told else None
        self._said.close()
        if fault:
            raise fault

    def __enter__(self) -> "Deployment":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


class DeployOptions(TypedDict, total=False):
    """Options of deploy()."""

    guard: "os.PathLike[str] | str | None"
    load: "os.PathLike[str] | str | None"
    mode: Optional[str]
    switch: Optional[int]
    freeze: bool
    shared: bool
    seed: int
    save_steps: int
    save_seconds: int
    allow_exec: bool


def deploy(
    best: "os.PathLike[str] | str",
    folder: "os.PathLike[str] | str | None" = None,
    *,
    guard: "os.PathLike[str] | str | None" = None,
    load: "os.PathLike[str] | str | None" = None,
    mode: Optional[str] = None,
    switch: Optional[int] = None,
    freeze: bool = False,
    shared: bool = False,
    seed: int = 1,
    save_steps: int = 1000,
    save_seconds: int = 60,
    allow_exec: bool = False,
) -> Deployment:
    """Run the agent of a best.yaml on the plant: step() tells an observation and returns an action.

    folder: for the log, events and learned state, by default the name of the file with .deploy; one that
    exists is resumed. The other options are those of `rehearse deploy` (docs/deploy.md).
    """
    best = os.fspath(best)
    if folder is None:
        folder = os.path.splitext(os.path.basename(best))[0] + ".deploy"
    words = ["--seed", str(seed), "--save-steps", str(save_steps), "--save-seconds", str(save_seconds)]
    for option, file in (("--guard", guard), ("--load", load)):
        words += [] if file is None else [option, os.fspath(file)]
    for option, value in (("--mode", mode), ("--switch", switch)):
        words += [] if value is None else [option, str(value)]
    for option, wanted in (("--freeze", freeze), ("--shared", shared), ("--allow-exec", allow_exec)):
        words += [option] if wanted else []
    return Deployment(best, os.fspath(folder), words)
