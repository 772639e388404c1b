"""A study in TensorBoard, MLflow and Weights & Biases, read back by their own libraries, offline."""

import pytest
from conftest import SMALL

import rehearse


@pytest.fixture(scope="module")
def tracked(log):
    def study(tracker):
        found = rehearse.tune(log, "esarsa", search={"alpha": [0.1, 0.3, 0.5]}, **{**SMALL, "progress": tracker})
        tracker({"stage": "search", "runs": 6, "value": found.score})  # the study may end before the first look
        tracker.result(found)
        return found

    return study


def test_tensorboard(tracked, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    study = tracked(rehearse.track.TensorBoard(tmp_path))
    events = EventAccumulator(str(tmp_path)).Reload()
    assert {e.step: pytest.approx(e.value, rel=1e-6) for e in events.Scalars("score")} == dict(
        zip(study.trials["setting"], study.trials["score"]))
    assert events.Scalars("best_score")[-1].step == 6
    curve = study.result["curve"]  # 20 points of 15 steps
    assert [e.step for e in events.Scalars("curve")] == [15 * (i + 1) for i, y in enumerate(curve) if y is not None]
    text = events.Tensors("deploy")[0].tensor_proto.string_val[0].decode()
    assert f"| alpha | {study.best['alpha']} |" in text


def test_mlflow(tracked, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        study = tracked(rehearse.track.MLflow())
    client = mlflow.MlflowClient()
    assert [m.value for m in client.get_metric_history(run.info.run_id, "score")] == list(study.trials["score"])
    data = client.get_run(run.info.run_id).data
    assert data.params["agent"] == "esarsa" and float(data.params["alpha"]) == study.best["alpha"]
    assert data.metrics["promised_score"] == study.score


def test_wandb(tracked, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(mode="offline", dir=tmp_path, project="plant") as run:
        study = tracked(rehearse.track.WandB(run))
        assert run.summary["promised_score"] == study.score and run.summary["alpha"] == study.best["alpha"]
    assert list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(ImportError, match="mlflow"):
        rehearse.track.MLflow()
