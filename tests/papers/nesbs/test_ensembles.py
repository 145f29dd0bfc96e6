"""Tables 5.1 and 5.2: every printed row has its place, sizes are exact, and what is trained is trained once."""

from __future__ import annotations

import pytest
from tests.papers.nesbs.tiny import SMALL, cells, made, shop

import foresee.papers.nesbs.ensembles as tables
from foresee.papers import reproduce
from foresee.papers.nesbs.ensembles import NO_CELL, OTHERS, QUOTED, SINGLES, TOGETHER
from foresee.papers.nesbs.ensembles import SMALL as IN_201
from foresee.papers.numbers import published
from foresee.papers.trained import seeds

MEASURED = {"ate": 0.5, "error": 0.25, "members": [0.4, 0.6], "ppd": 0.3}
BUDGET = {"networks": 2, "epochs": 2, "supernet_epochs": 1, "seconds": {"members": 1.0}}


def test_every_printed_row_is_trained_or_says_why_not():
    rows = {row.address for row in published("thesis-table-5.2").rows}
    assert rows >= {*SINGLES, *TOGETHER}
    assert {row.partition("/")[2] for row in rows - {*SINGLES, *TOGETHER}} == {
        "pnas", "p-darts", "darts-minus-avg", "sdarts-adv"
    }  # fmt: skip
    assert {row.address for row in published("thesis-table-5.1").rows} >= set(IN_201)


@pytest.fixture
def made_up(monkeypatch):
    """Ensembles that nobody trained; which were asked for."""
    asked = []

    def ensembles(workshop, own, sampler, space="darts"):
        asked.append((sampler, space, own["size"], own["pool"]))
        text = str(tables.known("DARTS_V2").architecture)
        one = {"architectures": [text] * 2, "test": MEASURED, "budget": BUDGET}
        return dict.fromkeys(seeds(workshop), one)

    monkeypatch.setattr(tables, "ensembles", ensembles)
    return asked


def test_table_5_2(tmp_path, made_up):
    page = made("thesis-table-5.2", tmp_path, SMALL, repeats=2)
    found = cells(page)
    assert found["NESBS", "NESBS (SVGD-RD)", "cifar10:error"].ours.value == 25.0
    assert found["NESBS", "NESBS (SVGD-RD)", "cifar10:error"].paper == 2.36
    assert found["NAS algorithms", "DARTS", "cifar10:error"].ours.value == 50.0, "the mean of its networks"
    # the members' sizes are those of the printed networks, whether a cell has a name or was found
    for row in (("NAS algorithms", "DARTS"), ("NESBS", "NESBS (MC Sampling)"), (OTHERS, "DeepEns (DARTS)")):
        assert found[*row, "cifar10:params"].ours.value == pytest.approx(3.35, abs=0.01)
        assert found[*row, "cifar100:params"].ours.value == pytest.approx(3.40, abs=0.02)
    assert found[OTHERS, "DeepEns (ENAS)", "cifar10:params"].ours.value == pytest.approx(3.86, abs=0.01)
    assert NO_CELL in found["NAS algorithms", "PNAS", "cifar10:error"].reason
    assert "other images" in found["NESBS", "NESBS (SVGD-RD)", "cifar100:error"].reason
    assert found["NESBS", "nesbs-svgd-rd", "epochs of all trainings"].ours.value == 3.0
    assert found[OTHERS, "uniform at equal budget", "cifar10:error"].ours.value == 25.0
    assert found["NESBS", "nesbs-svgd-rd", "cifar10:error minus uniform sampling's"].ours.value == 0.0
    assert ("nes_rs", "darts", 2, 3) in made_up
    assert ("nes_rs", "darts", 2, 0) in made_up
    assert ("deep:GDAS_V1", "darts", 1, 3) in made_up
    assert all(line.agrees is None for line in page.lines)


def test_singles_need_not_be_trained_and_sizes_need_no_training(tmp_path, made_up):
    found = cells(made("thesis-table-5.2", tmp_path, {**SMALL, "trained": False}))
    assert not made_up
    assert found["NAS algorithms", "GDAS", "cifar10:params"].ours.value == pytest.approx(3.4, abs=0.2)
    assert "only counted" in found["NESBS", "NESBS (MC Sampling)", "cifar10:error"].reason
    made("thesis-table-5.2", tmp_path, {**SMALL, "singles": False})
    assert not [one for one in made_up if one[2] == 1]


def test_rows_can_be_asked_for_one_by_one(tmp_path, made_up):
    made("thesis-table-5.2", tmp_path, SMALL, rows=["NESBS/nesbs-mc-sampling"])
    assert [one[0] for one in made_up] == ["mc"]


def test_table_5_1(tmp_path, made_up):
    page = made("thesis-table-5.1", tmp_path, SMALL)
    found = cells(page)
    assert found["NESBS", "NESBS (MC Sampling)", "nasbench201-cifar10"].ours.value == 25.0
    assert found["manual design", "ResNet", "nasbench201-cifar10"].ours.value == 50.0
    assert QUOTED in found["NAS algorithms", "GDAS", "nasbench201-cifar10"].reason
    assert {one[1] for one in made_up} == {"nasbench201"}
    page = reproduce("thesis-table-5.1", shop(tmp_path, {**SMALL, "images": "cifar100"}))
    assert cells(page)["NESBS", "NESBS (MC Sampling)", "nasbench201-cifar100"].ours.value == 25.0


def test_ensembles_are_found_and_trained(chapter):
    rows = [f"{OTHERS}/deepens-darts", f"{OTHERS}/nes-rs"]
    page = made("thesis-table-5.2", chapter, SMALL, rows=rows)
    found = cells(page)
    for row in ("DeepEns (DARTS)", "NES-RS"):
        assert 0 <= found[OTHERS, row, "cifar10:error"].ours.value <= 100
        assert found[OTHERS, row, "cifar10:params"].ours.value > 1
    assert found[OTHERS, "nes-rs", "networks trained"].ours.value == 3
    kept = sorted(chapter.rglob("*.json"))
    again = made("thesis-table-5.2", chapter, SMALL, rows=rows)
    assert sorted(chapter.rglob("*.json")) == kept
    assert [line.to_json() for line in again.lines] == [line.to_json() for line in page.lines]
    with_ = made("thesis-table-5.1", chapter, SMALL, rows=["ensemble (search) algorithms/deepens"])
    assert 0 <= cells(with_)["ensemble (search) algorithms", "DeepEns", "nasbench201-cifar10"].ours.value <= 100
