# %% [markdown]
# # Optuna searches, the model of a log scores
#
# `evaluate` lets an agent learn with one setting and nothing else: what the objective does not name keeps
# its initial value. Run r has the same random streams for every setting. `report` sees the runs so far after
# each of them, so bad settings are pruned on the way. `evaluate` releases the GIL: n_jobs works.

# %%
import math
from pathlib import Path

import optuna

import rehearse

log = rehearse.read(Path(__file__).parent.parent / "plant.csv", action="pump", reward="-energy - 50*trip",
                    terminal="trip", episode="shift", missing=-9999)
model = rehearse.fit(log, model="knn", repr="raw", progress=False)


def objective(trial: optuna.Trial) -> float:
    setting = {"alpha": trial.suggest_float("alpha", 1e-3, 1, log=True),
               "tau": trial.suggest_float("tau", 1e-3, 100, log=True)}

    def report(so_far: rehearse.Evaluation) -> None:
        trial.report(so_far.score, so_far.runs)
        if trial.should_prune():
            raise optuna.TrialPruned

    return rehearse.evaluate(model, "esarsa", setting, runs=8, jobs=1, report=report).score


# %%
if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1),
                                pruner=optuna.pruners.MedianPruner(n_startup_trials=5))
    study.optimize(objective, n_trials=20, n_jobs=2)
    pruned = sum(t.state == optuna.trial.TrialState.PRUNED for t in study.trials)
    print(f"best {study.best_value:.4g} with {study.best_params}; {pruned} of {len(study.trials)} trials pruned")
    # the same setting, the same runs, the same score
    assert math.isclose(rehearse.evaluate(model, "esarsa", study.best_params, runs=8).score, study.best_value)
