"""Figure 5.7: ensembles by SVGD-RD over the range of delta."""

from __future__ import annotations

from tests.papers.nesbs.test_search import FEW
from tests.papers.nesbs.tiny import cells, made


def test_figure_5_7_goes_through_delta(chapter):
    few = {**FEW, "trials": 2, "size": 2, "taus": (0.1, 10.0), "deltas": (-1.0, 1.0)}
    page = made("thesis-figure-5.7", chapter, few)
    found = cells(page)
    for tau in ("tau = 0.1", "tau = 10"):
        assert found["", tau, "delta = -1"].reason == "2 trials"
        assert found["", tau, "delta*"].ours.value in (-1.0, 1.0)
        assert 0 <= found["disagreement of two members", tau, "delta = 1"].ours.value <= 100
    assert [scatter.x for scatter in page.scatters] == [(-1.0, 1.0)] * 2
