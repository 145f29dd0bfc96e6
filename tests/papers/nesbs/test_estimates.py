"""Table 5.6: estimates by inherited weights against the truth of a trained pool."""

from __future__ import annotations

import json

from tests.papers.nesbs.tiny import SMALL, cells, made, shop

from foresee.papers.nesbs.estimates import LIKELY
from foresee.papers.nesbs.shared import USUAL, Study


def test_table_5_6(chapter):
    page = made("thesis-table-5.6", chapter, SMALL)
    found = cells(page)
    assert 0 <= found["", "Agreement-30%", "n=1"].ours.value <= 100
    assert found["", "Agreement-30%", "n=3"].ours.value == 100, "of one ensemble the foremost is the foremost"
    assert -1 <= found[LIKELY, "spearman", "n=1"].ours.value <= 1
    assert found["", "Spearman", "n=1"].paper == 0.65
    assert "3 ensembles of 3 networks" in found["", "Agreement-30%", "n=1"].reason
    assert "a pool of 3 has no 5 networks" in found["", "Spearman", "n=5"].reason
    again = made("thesis-table-5.6", chapter, SMALL)
    assert [line.to_json() for line in again.lines] == [line.to_json() for line in page.lines]


def test_the_pool_is_that_of_nes_rs(chapter):
    made("thesis-table-5.6", chapter, SMALL)
    run = Study(shop(chapter, SMALL), {**USUAL, **SMALL}, 0).run("nes_rs", size=2, pool=3)
    (kept,) = (chapter / "results").glob("agreement-seed-0-*.json")
    assert set(run.architectures) <= set(json.loads(kept.read_text())["architectures"])
