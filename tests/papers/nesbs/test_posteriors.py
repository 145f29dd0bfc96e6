"""Figure 5.5 and Table 5.7: both posteriors, each with its own supernet."""

from __future__ import annotations

import pytest
from tests.papers.nesbs.tiny import SMALL, TINY, cells, made

from foresee.papers.nesbs.posteriors import CALLED
from foresee.papers.nesbs.shared import Study


def test_figure_5_5(chapter):
    page = made("thesis-figure-5.5", chapter, {**TINY, "uniform": 3, "drawn": 2})
    found = cells(page)
    for row in CALLED:
        best, likeliest, gap = (
            found["", row, one].ours.value for one in ("best-performing", "maximal-probability", "gap")
        )
        assert 0 <= best <= likeliest <= 100
        assert gap == pytest.approx(likeliest - best)
        assert found["", row, "divergence from uniform"].ours.value >= 0
    (scatter,) = page.scatters
    assert scatter.kinds == ("best-performing", "maximal-probability") * 2
    assert len([one for one in chapter.iterdir() if one.name.startswith("darts-best_response")]) == 1


def test_table_5_7_pairs_the_seeds(tmp_path, monkeypatch):
    def ensemble(self, sampler, **changes):
        worse = 0.125 if self.settings.posterior == "best_response" else 0.0
        return {"test": {"error": 0.25 + worse + 0.0625 * self.seed}}

    monkeypatch.setattr(Study, "ensemble", ensemble)
    found = cells(made("thesis-table-5.7", tmp_path, SMALL, repeats=2))
    line = found["", "NESBS (SVGD-RD)", "improvement"]
    assert line.ours.value == 12.5
    assert line.ours.low == line.ours.high == 12.5, "the seeds differ, the pairs do not"
    assert found["", "NESBS (SVGD-RD)", "post-training"].ours.value == pytest.approx(28.125)
    only = cells(made("thesis-table-5.7", tmp_path, SMALL, rows=["nesbs-svgd-rd"]))
    assert only["", "NESBS (MC Sampling)", "improvement"].ours is None


@pytest.mark.slow
def test_table_5_7_is_trained(chapter):
    found = cells(made("thesis-table-5.7", chapter, SMALL))
    assert all(
        0 <= found["", row, "best-response"].ours.value <= 100 for row in ("NESBS (MC Sampling)", "NESBS (SVGD-RD)")
    )
