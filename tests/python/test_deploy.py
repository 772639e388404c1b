"""Deployments: the replies of the program, what is kept, and messages."""

import json
import subprocess
import sys

import pytest
from agents import Table
from conftest import SMALL

import rehearse

SEEN = [(40.6, 1.65), (40.9, 1.61), (41.3, 1.58), (41.0, 1.62), (40.2, 1.7)]


@pytest.fixture(scope="module")
def study(log, tmp_path_factory):
    return rehearse.tune(log, "esarsa", search={"alpha": [0.1, 0.2]}, folder=tmp_path_factory.mktemp("s") / "study", **SMALL)


def test_the_program_gives_the_same(study, tmp_path):
    with study.deploy(tmp_path / "a") as agent:
        replies = [agent.step({"temp": t, "level": v}, None if i == 0 else -0.4, seq=i, terminal=i == 4)
                   for i, (t, v) in enumerate(SEEN)]
    lines = "".join(json.dumps({"obs": {"temp": t, "level": v}, "seq": i, "terminal": i == 4,
                                **({"reward": -0.4} if i else {})}) + "\n" for i, (t, v) in enumerate(SEEN))
    program = [sys.executable, "-m", "rehearse", "deploy", study.folder + "/best.yaml", "-o", tmp_path / "b"]
    said = subprocess.run(program, input=lines, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [r.action for r in replies] == [json.loads(line)["action"] for line in said]
    assert replies[0].index in (0, 1, 2) and replies[0].source == "agent" and replies[-1].action is None
    assert (tmp_path / "a" / "log.csv").read_text() == (tmp_path / "b" / "log.csv").read_text()
    assert (tmp_path / "a" / "agent.state").exists()
    assert agent.status["steps"] == 5
    with study.deploy(tmp_path / "a", freeze=True) as agent:  # resumed
        assert agent.step([40.0, float("nan")], seq=5).notes == ["missing"]
    assert agent.status["steps"] == 6


def test_modes_and_commands(study, tmp_path):
    guard = tmp_path / "guard.yaml"
    guard.write_text("fallback: hold\n")
    with study.deploy(tmp_path / "m", mode="shadow", guard=guard) as agent:
        assert agent.step(SEEN[0], seq=0).source == "shadow"
        assert agent.step(SEEN[1], -0.4, seq=1, action=0, command="control").source == "agent"
        assert agent.step(SEEN[2], -0.4, seq=2, command="fallback").source == "hold"
        assert agent.step(SEEN[3], -0.4, seq=3, command="agent").source == "agent"
        with pytest.raises(rehearse.InvalidError, match="command: found"):
            agent.step(SEEN[4], -0.4, seq=4, command="sing")
    assert agent.status["mode"] == "control"
    guard.write_text("fallback: none\nblend: {away: 0}\n")
    with study.deploy(tmp_path / "c", guard=guard) as agent:
        replies = [agent.step(seen, None if i == 0 else -0.4, seq=i, controller=i % 3) for i, seen in enumerate(SEEN)]
        assert [r.index for r in replies] == [0, 1, 2, 0, 1] and {r.source for r in replies} <= {"agent", "blend"}
        assert agent.step(SEEN[0], -0.4, seq=5).notes == ["no-fallback"]
    assert "controller" in (tmp_path / "c" / "log.csv").read_text().splitlines()[0]
    with pytest.raises(rehearse.InvalidError, match="MODE|mode"):
        study.deploy(tmp_path / "n", mode="dance")


def test_messages(study, tmp_path):
    with pytest.raises(rehearse.InvalidError, match="best.yaml"):
        rehearse.deploy(tmp_path / "best.yaml", tmp_path / "d")
    with study.deploy(tmp_path / "d") as agent:
        with pytest.raises(rehearse.InvalidError, match="another process|in use|locked"):
            study.deploy(tmp_path / "d")
        with pytest.raises(rehearse.InvalidError, match="deployment: .*obs"):
            agent.step([1.0])
        assert agent.step(dict(temp=40.6, level=1.65), action=None).action  # and still answers
    with pytest.raises(rehearse.InvalidError, match="closed"):
        agent.step([1.0, 2.0])
    agent.close()
    with pytest.raises(TypeError, match="gaurd"):
        study.deploy(tmp_path / "e", gaurd="x")


def test_a_program_that_says_why_before_it_ends(tmp_path, monkeypatch):
    program = tmp_path / "rehearse"
    program.write_text("#!/bin/sh\necho 'rehearse: best.yaml: cannot read' >&2\nsleep 0.3\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setattr(rehearse._deploy, "_PROGRAM", str(program))
    with pytest.raises(rehearse.InvalidError, match="^best.yaml: cannot read$"):
        rehearse.deploy("best.yaml", tmp_path / "d")


def test_an_agent_in_python(log, tmp_path):
    study = rehearse.tune(log, Table, search={"alpha": [0.1, 0.2]}, folder=tmp_path / "study", **SMALL)
    with pytest.raises(rehearse.InvalidError, match="allow-exec"):
        rehearse.deploy(tmp_path / "study" / "best.yaml", tmp_path / "d")
    with pytest.raises(rehearse.InvalidError, match="an agent in Python .* cannot be saved"):
        study.deploy(tmp_path / "d")
    free = rehearse.tune(log, "esarsa", search={"alpha": [0.1]}, **{**SMALL, "runs": 1})
    with pytest.raises(rehearse.InvalidError, match="the study has no folder"):
        free.deploy()
