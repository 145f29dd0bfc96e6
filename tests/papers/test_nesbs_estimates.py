"""Table 5.6: estimates by inherited weights against the truth of a trained pool."""

from __future__ import annotations

from tests.papers.nesbs_tiny import SMALL, cells, made

from foresee.papers.nesbs_agreement import by_size
from foresee.papers.nesbs_shared import USUAL, Study


def test_table_5_6(chapter):
    page = made("thesis-table-5.6", chapter, SMALL)
    found = cells(page)
    assert 0 <= found["", "Agreement-30%", "n=1"].ours.value <= 100
    assert found["", "Agreement-30%", "n=3"].ours.value == 100, "of one ensemble the foremost is the foremost"
    assert found["", "Spearman", "n=1"].paper == 0.65
    assert "3 ensembles of 3 networks" in found["", "Agreement-30%", "n=1"].reason
    assert "a pool of 3 has no 5 networks" in found["", "Spearman", "n=5"].reason
    assert [line.to_json() for line in made("thesis-table-5.6", chapter, SMALL).lines] == [
        line.to_json() for line in page.lines
    ]


def test_the_pool_is_that_of_nes_rs(chapter):
    from tests.papers.nesbs_tiny import shop

    study = Study(shop(chapter, SMALL), {**USUAL, **SMALL}, 0)
    run = study.run("nes_rs", size=2, pool=3)
    (kept,) = (chapter / "results").glob("agreement-seed-0-*.json")
    import json

    plain = json.loads(kept.read_text())
    assert set(run.architectures) <= set(plain["architectures"])
    assert set(plain["sizes"]) == set(by_size(run.probabilities, run.probabilities, run.labels, (1,))) | {"n=3"}
