"""What all tests share: the log of examples/plant.csv, and studies that take a second."""

from pathlib import Path

import pytest

import rehearse

ROOT = Path(__file__).resolve().parents[2]
PLANT = ROOT / "examples" / "plant.csv"
ROLES = dict(action="pump", reward="-energy - 50*trip", terminal="trip", episode="shift", missing=-9999, gaps="cut")
SMALL = dict(model="knn", repr="raw", runs=2, steps=300, confirm=0, check=0, progress=False)


@pytest.fixture(scope="session")
def log():
    return rehearse.read(PLANT, **ROLES)


@pytest.fixture(scope="session")
def model(log):
    return rehearse.fit(log, model="knn", repr="raw", progress=False)
