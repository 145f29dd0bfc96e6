"""What a comparison says: numbers from rows that are written by hand."""

from __future__ import annotations

import pytest

from foresee.ensembles.finding.compared import Compared, EnsembleComparison
from foresee.errors import RunError

BUDGET = {
    "networks": 3,
    "epochs": 6,
    "supernet_epochs": 2,
    "evaluations": 9,
    "scores": 0,
    "seconds": {"members": 2.0, "a": 1.0},
}


def row(label: str, seed: int, error: float, reason: str = "") -> Compared:
    said = {"samples": 10, "nll": 1.0, "calibration_error": 0.1, "ate": 0.35, "ppd": 0.2}
    measures = {"test": {**said, "error": error, "members": [0.3, 0.4]}}
    return Compared(label, seed, label, ("cell",), {} if reason else measures, {} if reason else BUDGET, reason)


@pytest.fixture
def found() -> EnsembleComparison:
    rows = [
        row("mc", 0, 0.2),
        row("mc", 1, 0.1),
        row("uniform", 0, 0.25),
        row("uniform", 1, 0.2),
        row("deep", 0, 0, "why"),
    ]
    return EnsembleComparison(("mc", "uniform", "deep"), tuple(rows), "uniform")


def test_gain_is_over_the_best_member():
    assert row("mc", 0, 0.2).value("best") == 0.3
    assert row("mc", 0, 0.2).value("gain") == pytest.approx(0.1)


def test_means_and_differences(found):
    assert found.mean("mc").value == pytest.approx(0.15)
    assert found.difference("mc").value == pytest.approx(-0.075)
    assert found.difference("mc").n == 2
    assert found.difference("uniform", against="mc").value == pytest.approx(0.075)
    assert found.spent("mc") == {
        "networks": 3,
        "epochs": 6,
        "supernet_epochs": 2,
        "evaluations": 9,
        "scores": 0,
        "seconds": 3,
    }
    assert found.spent("deep") == {}


def test_it_travels_as_plain_values(found):
    assert EnsembleComparison.from_json(found.to_json()).to_json() == found.to_json()
    assert "deep" not in found.to_json()["means"]


def test_it_is_shown(found):
    lines = str(found).splitlines()
    assert "15.00 ± " in next(line for line in lines if line.startswith("mc"))
    assert "failed" in next(line for line in lines if line.startswith("deep"))
    assert lines[-1] == "deep, seed 0: why"
    with pytest.raises(RunError, match="nothing was kept"):
        found.run("mc", 0)
