"""Table 5.5 and Figure 5.4: errors and disagreement of members, boxes and maps."""

from __future__ import annotations

import pytest
from tests.papers.nesbs.tiny import SMALL, cells, made

import foresee.papers.nesbs.members as tables
from foresee.papers.nesbs.members import COMPARED
from foresee.papers.numbers import published
from foresee.papers.trained import seeds
from foresee.report.papers import figure


@pytest.fixture
def made_up(monkeypatch):
    """Two members of which one is always right, whatever the sampler."""
    test = {
        "ate": 0.25, "error": 0.2, "members": [0.0, 0.5], "ppd": 0.5, "nll": 1.0, "calibration_error": 0.1, "samples": 4
    }  # fmt: skip
    one = {"test": test, "answers": [[0, 1, 2, 3], [0, 1, 3, 2]], "architectures": ["a", "b"]}
    monkeypatch.setattr(tables, "ensembles", lambda workshop, *_: dict.fromkeys(seeds(workshop), one))


def test_table_5_5(tmp_path, made_up):
    assert set(COMPARED) == {row.key for row in published("thesis-table-5.5").rows}
    page = made("thesis-table-5.5", tmp_path, SMALL, repeats=2)
    found = cells(page)
    assert found["", "NES-RS", "cifar10:ate"].ours.value == 25.0
    assert found["", "NES-RS", "cifar10:ppd"].ours.value == 50.0
    assert found["", "NES-RS", "cifar10:ate"].paper == 2.87
    assert found["", "nes-rs", "cifar10:gain over the best member"].ours.value == pytest.approx(-20.0)
    assert "other images" in found["", "NES-RS", "cifar100:ate"].reason
    assert found["", "uniform at equal budget", "cifar10:ate"].ours.value == 25.0


def test_figure_5_4(tmp_path, made_up):
    page = made("thesis-figure-5.4", tmp_path, SMALL, repeats=2, seed=3)
    errors, *maps = page.scatters
    assert errors.boxes == tuple(COMPARED)
    assert len(errors.y) == 2 * 2 * len(COMPARED)
    assert [one.name for one in maps] == ["map-seed-3", "map-seed-4"]
    assert set(maps[0].kinds) == set(COMPARED)
    # all samplers gave the same two members: two places, half of the samples apart
    assert sorted({round(x, 6) for x in maps[0].x}) == [-0.25, 0.25]
    assert figure(maps[0]).axes[0].get_legend() is not None
    assert cells(page)["", "nes-rs", "least error of a member"].ours.value == 0.0
