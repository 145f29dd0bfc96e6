"""Table 5.4: members attacked, the ensemble answers, each attack kept by itself."""

from __future__ import annotations

import pytest
from tests.papers.nesbs.tiny import SMALL, cells, images, made

from foresee.papers.nesbs.defence import ATTACKS, ROWS
from foresee.papers.numbers import published

FEW = {**SMALL, "samples": 6, "attacks": ("fgsm",)}


def test_every_printed_row_and_column_has_its_ensemble_and_attack():
    table = published("thesis-table-5.4")
    assert {row.key for row in table.rows} == set(ROWS)
    assert {column.name.partition(":")[0] for column in table.columns} == set(ATTACKS)


def test_table_5_4(chapter):
    page = made("thesis-table-5.4", chapter, FEW, rows=["cifar10/deepens-darts"])
    found = cells(page)
    attack, defence = (found["cifar10", "DeepEns / DARTS", f"fgsm:{one}"] for one in ("attack", "defense"))
    assert 0 <= attack.ours.value <= 100
    assert attack.paper == 76.79
    assert "between members" in defence.reason
    assert found["cifar10", "deepens-darts", "clean:member"].ours.value >= attack.ours.value
    gain = found["cifar10", "deepens-darts", "fgsm:defense minus attack"].ours.value
    assert gain == pytest.approx(defence.ours.value - attack.ours.value)
    assert "not asked for" in found["cifar10", "NES-RS", "fgsm:attack"].reason
    assert "other images" in found["cifar100", "DeepEns / DARTS", "fgsm:attack"].reason
    (kept,) = (chapter / "results").glob("defence-*")
    before = kept.stat().st_mtime_ns
    again = made("thesis-table-5.4", chapter, FEW, rows=["cifar10/deepens-darts"])
    assert kept.stat().st_mtime_ns == before
    assert [line.to_json() for line in again.lines] == [line.to_json() for line in page.lines]


def test_other_images_stand_apart(chapter):
    rows = ["cifar10/deepens-darts"]
    page = made("thesis-table-5.4", chapter, FEW, data=images(chapter, "mine.npz"), rows=rows)
    found = cells(page)
    assert found["here", "deepens-darts", "fgsm:attack"].ours is not None
    assert found["cifar10", "DeepEns / DARTS", "fgsm:attack"].ours is None
