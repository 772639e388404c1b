"""Long calls: a thread does the work, the main thread draws the progress and takes Ctrl-C.

The library is called in a thread with the GIL released. The calling thread waits in Python, so a
signal is handled at once: the work is asked to stop, ends in order, and KeyboardInterrupt is raised
after that, on every version of Python. No Python code runs in a callback of the library.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union

from . import _core
from ._errors import Stopped

T = TypeVar("T")

# a bar or none, or a function of the news that returns True to stop
Progress = Union[bool, None, Callable[[Dict[str, Any]], Any]]

_PAUSE = 0.1  # seconds between two looks at the news


def cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Bar:
    """A progress bar by tqdm; nothing without tqdm. None: in a notebook and on a terminal."""

    def __init__(self, shown: Optional[bool]) -> None:
        self._bar: Any = None
        self._stage: Optional[str] = None
        self._make: Any = None
        self._last: Any = None
        if shown is None:
            shown = sys.stderr.isatty() or "ipykernel" in sys.modules
        if shown:
            try:
                from tqdm.auto import tqdm

                self._make = tqdm
            except ImportError:
                pass

    def update(self, news: Dict[str, Any]) -> None:
        stage = news["stage"]
        if self._make is None or stage is None or news == self._last:
            return
        self._last = news
        runs = stage != "fit" and news["runs_max"] > 0
        group = "runs" if runs else "fit"
        if group != self._stage:
            self.close()
            self._stage = group
            self._bar = self._make(total=news["runs_max"] if runs else 100, leave=runs,
                                   unit="run" if runs else "%", dynamic_ncols=True)
        if runs:
            self._bar.total = news["runs_max"]
            self._bar.n = news["runs"]
            self._bar.set_description(f"{stage} {news['settings']}/{news['settings_max']}", refresh=False)
            if news["value"] is not None:
                self._bar.set_postfix_str(f"best {news['value']:.4g}", refresh=False)
        else:
            self._bar.n = round(100 * min(max(news["share"], 0.0), 1.0))
            self._bar.set_description(news["what"] or "fit", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class _CtrlC:
    """While it is in place, Ctrl-C asks the work to stop and is kept for raise_again().

    An exception could come at any line, also between the start of the thread and the first wait for it,
    and the interpreter would end under the work. A second Ctrl-C is raised where it comes, for a callback that hangs.
    Only the main thread gets signals; a handler that somebody else has set is called as it is.
    """

    def __init__(self, watch: _core.Watch) -> None:
        self._watch = watch
        self._usual = signal.getsignal(signal.SIGINT)
        self._mine = threading.current_thread() is threading.main_thread() and callable(self._usual)
        self.caught: List[Any] = []

    def _keep(self, number: int, where: Any) -> None:
        self.caught.append((number, where))
        self._watch.stop()
        if len(self.caught) > 1:
            self._usual(number, where)  # type: ignore[operator, misc]

    def place(self) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, self._keep)

    def remove(self) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, self._usual)

    def raise_again(self) -> None:
        if self.caught:
            self._usual(*self.caught[0])  # type: ignore[operator, misc]


def work(call: Callable[[_core.Watch], T], progress: Progress) -> T:
    """Do call(watch) in a thread; its result, its exception, or that of the caller's thread.

    The end is an Event: before Python 3.13 a join() that a signal interrupts takes a running thread for
    a finished one.
    """
    watch = _core.Watch()
    result: List[T] = []
    fault: List[BaseException] = []
    done = threading.Event()

    def body() -> None:
        try:
            result.append(call(watch))
        except BaseException as error:  # raised again in the caller's thread
            fault.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=body, name="rehearse", daemon=True)
    bar = _Bar(False if callable(progress) else progress)
    raised: Optional[BaseException] = None  # what a callback or the bar raised
    ctrl_c = _CtrlC(watch)
    ctrl_c.place()
    try:
        thread.start()
        while not done.is_set():
            try:
                if done.wait(_PAUSE) or raised is not None or ctrl_c.caught:
                    continue
                news = watch.news()
                if not callable(progress):
                    bar.update(news)
                elif news["stage"] is not None and progress(news):
                    watch.stop()
            except BaseException as error:
                raised = raised or error
                watch.stop()
        thread.join()
        bar.close()
    finally:
        ctrl_c.remove()
    if fault and not ((raised or ctrl_c.caught) and isinstance(fault[0], Stopped)):
        raise fault[0]
    ctrl_c.raise_again()
    if raised:
        raise raised
    return result[0]
