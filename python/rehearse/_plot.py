"""Plots of a study, by matplotlib: each takes and returns axes."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._errors import InvalidError, missing


def shown(agent: str) -> str:
    """The name for people: module:Name says more than the command of an agent in Python."""
    words = agent.split()
    known = "rehearse.worker" in words
    return f"{words[words.index('rehearse.worker') + 1]} (in Python)" if known else agent


class Plots:
    """The part of Study that draws, and what drawing needs."""

    result: Dict[str, Any]
    _details: Dict[Tuple[int, str], Tuple[List[Any], Any]]  # runs and curve of a trial

    @property
    def steps(self) -> int:
        """Steps of a run."""
        return max((run[4] for runs, _ in self._details.values() for run in runs), default=0)

    @property
    def unit(self) -> str:
        """What scores are: rewards per episode, or per so many steps."""
        steps = self.result["score_steps"]
        return f"per {steps:,} steps" if steps else "per episode"

    def searched(self, trial: Mapping[str, Any]) -> Dict[str, Any]:
        """All hyperparameters that were searched, of any agent; NaN where the trial's agent has none."""
        names = {name: math.nan for t in self.result["trials"] for name in t["parameters"]}
        return {**names, **trial["parameters"]}

    @staticmethod
    def _axes(ax: Any) -> Any:
        if ax is not None:
            return ax
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise missing("matplotlib", "a plot") from None
        return plt.subplots()[1]

    def plot_curve(self, ax: Any = None) -> Any:
        """The mean learning curve of the setting to deploy, and of those tied with it."""
        ax = self._axes(ax)
        steps = self.steps
        for rank, t in enumerate(self.result["tied"]):
            curve = self._details[t["setting"], t["stage"]][1]
            if curve is not None and len(curve):
                x = [steps * (k + 1) / len(curve) for k in range(len(curve))]
                ax.plot(x, curve, color="C0" if rank == 0 else "0.8", zorder=2 if rank == 0 else 1,
                        label="the setting to deploy" if rank == 0 else None)
        ax.set_xlabel("step")
        ax.set_ylabel("reward per segment" if self.result["score_steps"] else "return of an episode")
        ax.legend()
        return ax

    def plot_settings(self, name: Optional[str] = None, ax: Any = None) -> Any:
        """Scores of the search against one hyperparameter, by default the most important one."""
        ax = self._axes(ax)
        if name is None:
            rows = [r for r in self.result["importance"]["parameters"] if r["name"] != "agent"]
            if not rows:
                raise InvalidError("plot_settings: nothing was searched")
            name = max(rows, key=lambda r: r["total_effect"] or 0.0)["name"]
        name = name.rsplit(".", 1)[-1]  # of several agents the name is agent.name
        known = self.searched(self.result["trials"][0]) if self.result["trials"] else {}
        if name not in known:
            raise InvalidError(f"plot_settings: no searched hyperparameter '{name}', expected one of " + ", ".join(known))
        tried = [t for t in self.result["trials"] if t["stage"] == "search" and t["score"] is not None
                 and name in t["parameters"]]
        x = [t["parameters"][name] for t in tried]
        for i, agent in enumerate(dict.fromkeys(t["agent"] for t in tried)):
            at = [k for k, t in enumerate(tried) if t["agent"] == agent]
            ax.plot([x[k] for k in at], [tried[k]["score"] for k in at], "o", color=f"C{i}", label=shown(agent))
        winner = self.result["winner"]
        if winner and name in winner["parameters"]:
            ax.axvline(winner["parameters"][name], color="0.6", zorder=0)
        if len({t["agent"] for t in tried}) > 1:
            ax.legend()
        if all(isinstance(v, (int, float)) and v > 0 for v in x) and x and max(x) > 50 * min(x):
            ax.set_xscale("log")
        ax.set_xlabel(name)
        ax.set_ylabel(f"score, {self.unit}")
        return ax

    def plot_importance(self, ax: Any = None) -> Any:
        """Shares of the score's variance by hyperparameter."""
        ax = self._axes(ax)
        rows = [r for r in self.result["importance"]["parameters"] if r["total_effect"] is not None]
        rows.sort(key=lambda r: r["total_effect"])
        ax.barh([r["name"] for r in rows], [r["total_effect"] for r in rows], color="0.8", label="with interactions")
        ax.barh([r["name"] for r in rows], [r["main_effect"] for r in rows], color="C0", label="alone")
        ax.set_xlabel("share of the score's variance")
        ax.legend()
        return ax
