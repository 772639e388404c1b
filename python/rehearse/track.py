"""The course and the result of a study where people look: TensorBoard, MLflow, Weights & Biases.

    tracker = rehearse.track.TensorBoard("runs/plant")
    study = rehearse.tune(log, progress=tracker)
    tracker.result(study)

A tracker is a function for `progress`. While the study runs it writes best_score over the finished runs. result()
adds the score of every setting (score, by its number), the promised learning curve (curve, by step), and
the setting to deploy with its score, interval and trust.
"""

from __future__ import annotations

import os
import time
from typing import Any, Dict, Optional, Tuple

from ._errors import missing
from ._study import Study


class Tracker:
    """What the trackers share; a further one defines scalar() and facts()."""

    def __init__(self) -> None:
        self._last: Tuple[int, Optional[float]] = (-1, None)

    def scalar(self, name: str, value: float, step: int) -> None:
        raise NotImplementedError

    def facts(self, of: Dict[str, Any]) -> None:
        """Write the setting to deploy and what is promised of it."""
        raise NotImplementedError

    def __call__(self, news: Dict[str, Any]) -> None:
        now = (news["runs"], news["value"])
        if news["stage"] == "search" and now[1] is not None and now != self._last:
            self.scalar("best_score", now[1], now[0])
            self._last = now

    def result(self, study: Study) -> None:
        for t in study.result["trials"]:
            if t["stage"] == "search" and t["score"] is not None:
                self.scalar("score", t["score"], t["setting"])
        curve = study.result["curve"] or ()
        for i, value in enumerate(curve):
            if value is not None:
                self.scalar("curve", value, study.steps * (i + 1) // len(curve))
        lo, hi = study.interval
        self.facts({"agent": study.agent, **study.best, "promised_score": study.score, "promised_lo95": lo,
                    "promised_hi95": hi, "trust": study.trust["level"]})


class TensorBoard(Tracker):
    """Event files in a folder, for `tensorboard --logdir`; needs the package tensorboard."""

    def __init__(self, folder: "os.PathLike[str] | str") -> None:
        super().__init__()
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.plugins.text.metadata import create_summary_metadata
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
            from tensorboard.util.tensor_util import make_tensor_proto
        except ImportError:
            raise missing("tensorboard", "track.TensorBoard") from None
        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        self._text, self._tensor = create_summary_metadata, make_tensor_proto
        self._file = EventFileWriter(os.fspath(folder))

    def _write(self, value: Any, step: int) -> None:
        self._file.add_event(self._event(wall_time=time.time(), step=step, summary=self._summary(value=[value])))

    def scalar(self, name: str, value: float, step: int) -> None:
        self._write(self._summary.Value(tag=name, simple_value=value), step)

    def facts(self, of: Dict[str, Any]) -> None:
        text = "\n".join(["| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in of.items())])
        self._write(self._summary.Value(tag="deploy", metadata=self._text("deploy", ""),
                                        tensor=self._tensor([text.encode()])), 0)
        self._file.flush()


class MLflow(Tracker):
    """Metrics and parameters of a run, by default the active one; needs the package mlflow."""

    def __init__(self, run_id: Optional[str] = None) -> None:
        super().__init__()
        try:
            import mlflow
        except ImportError:
            raise missing("mlflow", "track.MLflow") from None
        self._client = mlflow.MlflowClient()
        active = mlflow.active_run()
        self._run = run_id or (active or mlflow.start_run()).info.run_id

    def scalar(self, name: str, value: float, step: int) -> None:
        self._client.log_metric(self._run, name, value, step=step)

    def facts(self, of: Dict[str, Any]) -> None:
        for name, value in of.items():
            if name.startswith("promised_") and value is not None:
                self._client.log_metric(self._run, name, value)
            elif value is not None:
                self._client.log_param(self._run, name, value)


class WandB(Tracker):
    """A run of Weights & Biases: wandb.init(...); each curve has its own axis, <name>_at."""

    def __init__(self, run: Any) -> None:
        super().__init__()
        self._run = run
        for name in ("best_score", "score", "curve"):
            run.define_metric(name, step_metric=f"{name}_at")

    def scalar(self, name: str, value: float, step: int) -> None:
        self._run.log({name: value, f"{name}_at": step})

    def facts(self, of: Dict[str, Any]) -> None:
        self._run.summary.update(of)
