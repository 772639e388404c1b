"""Keyword arguments of read(), fit() and tune() for type checkers, by scripts/python-options."""

from __future__ import annotations

from os import PathLike
from typing import Any, Mapping, TypedDict, Union


class LogOptions(TypedDict, total=False):
    obs: Any
    action: Any
    reward: Any
    failure: Any
    derive: Any
    stack: Union[int, str]
    every: Any
    every_obs: str
    exogenous: Any
    setpoint: Any
    setpoint_values: str
    episode: Any
    terminal: Any
    truncated: Any
    time: Any
    next: Any
    reward_of: str
    action_kind: str
    actions: Any
    missing: Any
    sentinels: str
    gaps: str
    decimal: str
    dates: str
    skip: Union[int, str]
    pivot: Any
    pivot_value: str
    max_gap: Union[float, str]
    episode_steps: Union[int, str]
    format: str
    max_memory: Union[int, str]


class FitOptions(LogOptions, total=False):
    roles: Union[str, PathLike[str]]
    plugins: Any
    data: Union[str, PathLike[str]]
    accept: Any
    preset: str
    model: str
    model_kind: str
    k: Any
    model_k: Any
    reach: Any
    model_reach: Any
    model_set: Mapping[str, Any]
    members: Union[int, str]
    model_members: Union[int, str]
    resample: str
    model_resample: str
    share: Union[float, str]
    model_share: Union[float, str]
    repr: str
    representation_kind: str
    repr_preset: str
    representation_preset: str
    repr_set: Mapping[str, Any]
    representation: Mapping[str, Any]
    joint: bool
    representation_joint: bool
    representation_circles: str
    task: str
    task_env: str
    env_set: Mapping[str, Any]
    gamma: Union[float, str]
    continuing: str
    resets: str
    range: Mapping[str, Any]
    ranges: Mapping[str, Any]
    limit: Mapping[str, Any]
    limits: Mapping[str, Any]
    seed: Union[int, str]


class TuneOptions(LogOptions, total=False):
    roles: Union[str, PathLike[str]]
    name: Any
    plugins: Any
    data: Union[str, PathLike[str]]
    accept: Any
    preset: str
    agent_name: str
    grid: Any
    set: Mapping[str, Any]
    parameters: Mapping[str, Any]
    method: str
    method_set: Mapping[str, Any]
    ranking: str
    trials: Union[int, str]
    budget_trials: Union[int, str]
    within: Any
    budget_time: Any
    batch: Union[int, str]
    budget_batch: Union[int, str]
    metric_goal: Any
    steps: Union[int, str]
    evaluation_steps: Union[int, str]
    runs: Union[int, str]
    evaluation_runs: Union[int, str]
    criterion: str
    evaluation_criterion: str
    across: str
    evaluation_across: str
    pool: str
    evaluation_pool: str
    cutoff: Any
    evaluation_cutoff: Any
    cutoff_as: str
    evaluation_cutoff_as: str
    curve: Union[int, str]
    evaluation_curve: Union[int, str]
    model: str
    model_kind: str
    k: Any
    model_k: Any
    reach: Any
    model_reach: Any
    model_set: Mapping[str, Any]
    members: Union[int, str]
    model_members: Union[int, str]
    resample: str
    model_resample: str
    share: Union[float, str]
    model_share: Union[float, str]
    repr: str
    representation_kind: str
    repr_preset: str
    representation_preset: str
    repr_set: Mapping[str, Any]
    representation: Mapping[str, Any]
    joint: bool
    representation_joint: bool
    representation_circles: str
    task: str
    task_env: str
    env_set: Mapping[str, Any]
    at_most: Any
    sure: Union[float, str]
    also: Any
    gamma: Union[float, str]
    continuing: str
    resets: str
    range: Mapping[str, Any]
    ranges: Mapping[str, Any]
    limit: Mapping[str, Any]
    limits: Mapping[str, Any]
    confirm: Any
    confirm_settings: Union[int, str]
    confirm_members: Union[int, str]
    confirm_runs: Union[int, str]
    confirm_kinds: Any
    confirm_interval: str
    verdict: str
    check: Union[int, str]
    practice: Union[int, str]
    exec_timeout: Union[float, str]
    evaluation_exec_timeout: Union[float, str]
    seed: Union[int, str]
