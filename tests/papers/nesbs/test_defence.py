"""Table 5.4: members attacked, the ensemble answers, each attack kept by itself."""

from __future__ import annotations

import json

import pytest
from tests.papers.nesbs.tiny import SMALL, cells, images, made, shop

from foresee.ensembles.defended import OUTSIDER
from foresee.papers.nesbs.defence import ATTACKED, ATTACKS, ROWS, outsider
from foresee.papers.nesbs.shared import Study
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
    for column in ("outsider", "control"):
        assert 0 <= found["cifar10", "deepens-darts", f"fgsm:{column}"].ours.value <= 100
    (kept,) = (chapter / "results").glob("defence-*")
    (control,) = (chapter / "results").glob("control-*")
    rounds, with_it = (json.loads(one.read_text())["attacks"][0] for one in (kept, control))
    assert with_it["rounds"] == rounds["rounds"], "members are not attacked again"
    assert with_it["control"]["member"] == OUTSIDER
    before = kept.stat().st_mtime_ns
    again = made("thesis-table-5.4", chapter, FEW, rows=["cifar10/deepens-darts"])
    assert kept.stat().st_mtime_ns == before
    assert [line.to_json() for line in again.lines] == [line.to_json() for line in page.lines]


def test_the_outsider_is_no_member_of_any_ensemble(chapter):
    study = Study(shop(chapter, FEW), {**ATTACKED, **FEW}, 0)
    one = outsider(study, "DARTS_V2")
    deep = study.networks("deep:DARTS_V2", size=3)
    assert one.text == deep[0].text
    assert one.key not in {member.key for member in deep}
    assert one.seed(0) not in {member.seed(0) for member in deep}


def test_other_images_stand_apart(chapter):
    rows = ["cifar10/deepens-darts"]
    alone = {**FEW, "outsider": ""}
    page = made("thesis-table-5.4", chapter, alone, data=images(chapter, "mine.npz"), rows=rows)
    found = cells(page)
    assert ("here", "deepens-darts", "fgsm:control") not in found
    assert found["here", "deepens-darts", "fgsm:attack"].ours is not None
    assert found["cifar10", "DeepEns / DARTS", "fgsm:attack"].ours is None
