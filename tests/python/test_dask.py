"""A study on the workers of a Dask cluster: the same bits for any number of workers, and a killed one loses nothing."""

import os
import signal
import threading

import pytest
from agents import Slow, Table
from conftest import SMALL

import rehearse

distributed = pytest.importorskip("distributed")
pytest.importorskip("pandas")

CONFIRMED = {**SMALL, "confirm": 2, "check": 2, "confirm_members": 2, "confirm_runs": 2, "confirm_kinds": "chosen"}
SEARCH = {"alpha": [0.1, 0.2, 0.3, 0.4]}


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_the_same_as_in_this_process(log, client, tmp_path):
    pytest.importorskip("cloudpickle")

    def train(env, seed, share=0.5):  # without a file: it is pickled
        env.reset(seed=seed)
        while True:
            _, _, terminal, truncated, _ = env.step(int(env.np_random.random() < share))
            if terminal or truncated:
                env.reset()

    options = dict(agent=["esarsa", Table, train], search={"alpha": [0.1, 0.3], "share": [0.2, 0.6]}, **CONFIRMED)
    here = rehearse.tune(log, folder=tmp_path / "here", jobs=2, **options)
    assert (here.runs["outcome"] == "finished").all() and here.trials["agent"].nunique() == 3
    there = rehearse.tune(log, folder=tmp_path / "there", cluster=client, **options)
    assert there.runs.equals(here.runs) and there.best == here.best and there.score == here.score
    for name in ("runs.csv", "best.yaml"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    assert not client.futures  # nothing is left on the cluster


@pytest.mark.parametrize("nworker", [1, 2])
def test_any_number_of_workers(log, nworker):
    here = rehearse.tune(log, Table, search=SEARCH, jobs=1, **SMALL)
    with distributed.LocalCluster(n_workers=nworker, threads_per_worker=1, processes=True, dashboard_address=None) as few:
        with distributed.Client(few) as client:
            there = rehearse.tune(log, Table, search=SEARCH, cluster=client, **SMALL)
    assert there.runs.equals(here.runs) and there.best == here.best and there.score == here.score


def test_killed_workers_lose_nothing(log, client):
    here = rehearse.tune(log, Slow, search=SEARCH, jobs=2, **SMALL)
    pids = list(client.run(os.getpid).values())[:2]

    def kill(news):  # two of three, one after the other; the last one does the rest, or those that Dask starts again
        if news["stage"] == "search" and news["runs"] >= 1 and pids:
            os.kill(pids.pop(), signal.SIGKILL)

    there = rehearse.tune(log, Slow, search=SEARCH, cluster=client, **{**SMALL, "progress": kill})
    assert not pids and there.runs.equals(here.runs) and (there.runs["outcome"] == "finished").all()


def test_stopped(log, client):
    with pytest.raises(rehearse.Stopped):
        rehearse.tune(log, Slow, search=SEARCH, cluster=client,
                      **{**SMALL, "progress": lambda news: news["stage"] == "search"})
    assert not client.futures


def test_messages(log):
    with pytest.raises(rehearse.InvalidError, match="cluster: str, expected a dask.distributed.Client"):
        rehearse.tune(log, "esarsa", cluster="tcp://127.0.0.1:8786", **SMALL)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster, distributed.Client(cluster) as none:
        with pytest.raises(rehearse.InvalidError, match="cluster: it has no workers"):
            rehearse.tune(log, "esarsa", cluster=none, **SMALL)


def test_the_cluster_goes_away_and_the_study_is_resumed(log, client, tmp_path):  # the last test
    closing = threading.Thread(target=client.cluster.close)

    def close(news):
        if news["stage"] == "search" and news["runs"] >= 2 and not closing.ident:
            closing.start()

    with pytest.raises(rehearse.Error, match="Dask"):
        rehearse.tune(log, Slow, search=SEARCH, folder=tmp_path / "s", cluster=client, **{**SMALL, "progress": close})
    closing.join()
    rest = rehearse.tune(log, Slow, search=SEARCH, folder=tmp_path / "s", **SMALL)
    assert 2 <= rest.result["resumed_runs"] < 8 and rest.runs.equals(rehearse.tune(log, Slow, search=SEARCH, **SMALL).runs)
