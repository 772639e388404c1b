# %% [markdown]
# # Tune a built-in agent from a pandas frame
#
# A plant logged what its controller saw and did. Which hyperparameters should a learning agent have
# that replaces the controller? Run this file as a script, or cell by cell in an editor that knows `# %%`.

# %%
from pathlib import Path

import pandas as pd

import rehearse

frame = pd.read_csv(Path(__file__).parent.parent / "plant.csv", parse_dates=["time"])
print(frame.head(3))

# %% [markdown]
# Roles say what the columns are. The reward is a formula over columns: energy costs, and so does a trip.

# %%
log = rehearse.read(frame, action="pump", reward="-energy - 50*trip", terminal="trip", episode="shift",
                    missing=-9999)
print(log)
for finding in log.inspect().findings:
    if finding.severity != "notice":
        print(finding)

# %% [markdown]
# A study fits a model of the log, lets agents learn in it from scratch with each setting, and runs the
# leading settings again in models that the search has not seen. These numbers are small, so that the
# example takes seconds; leave `trials`, `runs`, `steps`, `model` and the `confirm` ones out for a real one.

# %%
study = rehearse.tune(log, "esarsa",
                      search={"alpha": (0.001, 1, "log"), "tau": (0.001, 100, "log"), "lambda": (0, 0.95)},
                      trials=8, runs=4, steps=1000, model="knn", repr="raw",
                      confirm=2, confirm_members=2, confirm_runs=4, confirm_kinds="chosen")
print(study)
print(study.trials[["alpha", "tau", "lambda", "score", "lo95", "hi95"]])
