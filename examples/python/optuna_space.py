# %% [markdown]
# # The search space of an Optuna study
#
# `search` takes Optuna's distributions. So what was searched with Optuna before, here in a simulator, is
# searched again in the model of a log, with a race, a confirmation and a verdict.

# %%
from pathlib import Path

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import rehearse

SPACE = {"alpha": FloatDistribution(1e-3, 1, log=True), "lambda": FloatDistribution(0, 0.9, step=0.3),
         "tilings": IntDistribution(4, 16), "optimiser": CategoricalDistribution(["sgd", "adam"])}

# %%
if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    before = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(5):
        trial = before.ask(SPACE)
        before.tell(trial, rehearse.evaluate("puddle_world", "esarsa", trial.params, runs=2, steps=500).score)

    log = rehearse.read(Path(__file__).parent.parent / "plant.csv", action="pump", reward="-energy - 50*trip",
                        terminal="trip", episode="shift", missing=-9999)
    study = rehearse.tune(log, "esarsa", search=before.best_trial.distributions, trials=8, runs=2, steps=500, model="knn",
                          repr="raw", confirm=0, check=0, progress=False)
    print(study.trials[["alpha", "lambda", "tilings", "optimiser", "score"]].to_string(index=False))
