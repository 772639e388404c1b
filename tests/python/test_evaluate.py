"""One fixed setting: the runs of the program, the same in parts, pickled and by Optuna's threads."""

import copy
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from agents import Broken, Table, exact
from conftest import ROOT, SMALL

import rehearse


def test_the_program_gives_the_same(model, tmp_path):
    model.write(tmp_path / "m.model")
    out = subprocess.run([sys.executable, "-m", "rehearse", "run", f"model:{tmp_path}/m.model", "--agent=esarsa",
                          "--set", "alpha=0.3", "--runs=4", "--steps=500", "--json"],
                         check=True, capture_output=True, text=True).stdout
    mine = rehearse.evaluate(model, "esarsa", {"alpha": 0.3}, runs=4, steps=500, jobs=1)
    assert [run["score"] for run in json.loads(out)["results"]] == list(mine.scores[0])
    assert mine.setting["alpha"] == 0.3 and mine.setting["tau"] == 1 and mine.steps == 500
    assert mine.curves.shape == (1, 4, 20) and mine.curve.shape == (20,) and mine.failed == 0
    again = rehearse.evaluate(tmp_path / "m.model", "esarsa", {"alpha": 0.3}, runs=4, steps=500)
    assert (again.scores == mine.scores).all()


def test_runs_in_parts(model):
    whole = rehearse.evaluate(model, "esarsa", runs=3, steps=300)
    parts = [rehearse.evaluate(model, "esarsa", runs=1, first_run=i, steps=300).scores[0, 0] for i in range(3)]
    assert list(whole.scores[0]) == parts
    assert whole.standard_error == pytest.approx(np.std(parts, ddof=1) / 3**0.5)
    other = rehearse.evaluate(model, "esarsa", runs=3, steps=300, seed=2)
    assert (other.scores != whole.scores).any()


def test_simulators_environments_and_agents_in_python(model):
    gymnasium = pytest.importorskip("gymnasium")
    mine = rehearse.evaluate("mountain_car", "esarsa", runs=2, steps=300)
    env = gymnasium.make("rehearse/MountainCar-v0")
    assert (rehearse.evaluate(env, "esarsa", runs=2, steps=300).scores == mine.scores).all()
    table = rehearse.evaluate(model, Table, {"alpha": 0.1}, runs=2, steps=300)
    assert table.setting == {"alpha": 0.1, "epsilon": 0.1, "cells": 8} and table.failed == 0
    assert rehearse.evaluate(model, exact, runs=1, steps=300).failed == 0
    assert rehearse.evaluate(model, Broken, runs=2, steps=300).outcomes == ["failed", "failed"]


def test_intermediate_values_and_pruning(model):
    whole = rehearse.evaluate(model, "esarsa", runs=5, steps=300)
    seen = []
    told = rehearse.evaluate(model, "esarsa", runs=5, steps=300, jobs=2, report=lambda e: seen.append((e.runs, e.score)))
    assert (told.scores == whole.scores).all() and (told.curves[0] == whole.curves[0])[np.isfinite(whole.curves[0])].all()
    assert told.outcomes == whole.outcomes and (told.totals == whole.totals).all()
    assert seen == [(n, whole.scores[0, :n].mean()) for n in (2, 4, 5)]
    pruned = rehearse.evaluate(model, "esarsa", runs=5, steps=300, jobs=2, report=lambda e: e.runs >= 4)
    assert (pruned.scores == whole.scores[:, :4]).all()

    def prune(so_far):
        raise StopAsyncIteration

    with pytest.raises(StopAsyncIteration):
        rehearse.evaluate(model, "esarsa", runs=5, steps=300, report=prune)
    members = rehearse.fit(model.log, model="knn", repr="raw", members=2, progress=False)
    parts = rehearse.evaluate(members, "esarsa", runs=3, steps=300, jobs=1, report=lambda e: None)
    assert (parts.scores == rehearse.evaluate(members, "esarsa", runs=3, steps=300).scores).all()


def test_an_objective_of_optuna(model):
    """Threads of n_jobs and pruning: values are those of the settings that Optuna names."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        def report(so_far):
            trial.report(so_far.score, so_far.runs)
            if trial.should_prune():
                raise optuna.TrialPruned

        setting = {p["name"]: p["initial"] for p in rehearse.kinds("agents")["esarsa"]["parameters"]}  # all are fixed
        setting["alpha"] = trial.suggest_float("alpha", 1e-3, 1, log=True)
        return rehearse.evaluate(model, "esarsa", setting, runs=4, steps=300, jobs=1, report=report).score

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1),
                                pruner=optuna.pruners.ThresholdPruner(lower=-45))
    study.optimize(objective, n_trials=12, n_jobs=3)
    done = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    pruned = [t for t in study.trials if t.state == optuna.trial.TrialState.PRUNED]
    assert done and pruned and len(done) + len(pruned) == 12
    for trial in done:
        scores = rehearse.evaluate(model, "esarsa", trial.params, runs=4, steps=300).scores[0]
        assert trial.value == scores.mean()
        assert trial.intermediate_values == {n: scores[:n].mean() for n in range(1, 5)}


def test_the_search_space_of_optuna(log):
    optuna = pytest.importorskip("optuna")
    pytest.importorskip("pandas")
    kinds = optuna.distributions
    space = {"alpha": kinds.FloatDistribution(1e-3, 1, log=True), "tau": kinds.FloatDistribution(0.5, 2),
             "lambda": kinds.FloatDistribution(0.1, 0.9, step=0.4), "tilings": kinds.IntDistribution(4, 16),
             "tiles": kinds.IntDistribution(2, 8, step=3), "optimiser": kinds.CategoricalDistribution(["sgd", "adam"])}
    study = rehearse.tune(log, "esarsa", search=space, trials=12, **{**SMALL, "runs": 1, "steps": 100})
    for name, distribution in space.items():
        assert all(distribution._contains(distribution.to_internal_repr(x)) for x in study.trials[name]), name
    assert set(study.trials["tiles"]) == {2, 5, 8} and study.trials["alpha"].min() < 0.03


def test_messages(model):
    for wrong, text in (({"setting": {"alpa": 1}}, "no parameter 'alpa'; did you mean 'alpha'"),
                        ({"setting": {"alpha": 1e9}}, "alpha = 1000000000.0, expected a number"),
                        ({"agent": "esarsi"}, "no agent 'esarsi'"),
                        ({"criterion": "best"}, "criterion = best, expected one of average"),
                        ({"runs": 0}, "runs = 0, expected 1 or more"),
                        ({"where": 7}, "evaluate: int, expected a Model"),
                        ({"where": "nowhere.model"}, "nowhere.model")):
        call = {"where": model, "agent": "esarsa", **wrong}
        with pytest.raises(rehearse.Error, match=text):
            rehearse.evaluate(**call)


def test_pickled_and_copied(model):
    pytest.importorskip("gymnasium")
    twin = pickle.loads(pickle.dumps(model))
    assert twin.name == model.name and twin.fidelity == model.fidelity and copy.deepcopy(model) is model
    mine = rehearse.evaluate(model, "esarsa", runs=2, steps=300).scores
    assert (rehearse.evaluate(twin, "esarsa", runs=2, steps=300).scores == mine).all()
    env = model.env(cutoff=50)
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert other.cutoff == 50 and (other.reset(seed=1)[0] == env.reset(seed=1)[0]).all()
        assert (other.step(0)[0] == env.step(0)[0]).all()


def test_pickled_vectors(model):
    gymnasium = pytest.importorskip("gymnasium")
    for env in (gymnasium.make_vec("rehearse/Model-v0", num_envs=3, model=model, cutoff=50),
                gymnasium.make_vec("rehearse/Cartpole-v0", num_envs=3, gravity=1.6)):
        for other in (pickle.loads(pickle.dumps(env.unwrapped)), copy.deepcopy(env.unwrapped)):
            assert (other.reset(seed=1)[0] == env.reset(seed=1)[0]).all()
            for a, b in zip(other.step([0, 1, 0]), env.step([0, 1, 0])):
                assert np.array_equal(a, b)


def test_processes_of_joblib(model, log, tmp_path):
    joblib = pytest.importorskip("joblib")
    joblib.dump((log, model), tmp_path / "both")
    twin, _ = joblib.load(tmp_path / "both")
    assert twin.fingerprint == log.fingerprint and joblib.hash(twin) == joblib.hash(log)
    alphas = [0.1, 0.2, 0.3]
    call = joblib.delayed(rehearse.evaluate)
    theirs = joblib.Parallel(n_jobs=2)(call(model, "esarsa", {"alpha": a}, runs=2, steps=300, jobs=1) for a in alphas)
    mine = [rehearse.evaluate(model, "esarsa", {"alpha": a}, runs=2, steps=300) for a in alphas]
    assert [e.score for e in theirs] == [e.score for e in mine]


def test_options_for_type_checkers():
    text = subprocess.run([sys.executable, ROOT / "scripts" / "python-options"], check=True, capture_output=True,
                          text=True).stdout
    where = os.path.join(os.path.dirname(rehearse.__file__), "_options.py")
    assert open(where).read() == text  # or run scripts/python-options again
