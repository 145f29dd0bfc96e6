"""Figures 5.3 and 5.6: equal budgets, chosen by validation, kept, and the same when asked for again."""

from __future__ import annotations

import json

import pytest
import torch
from tests.papers.nesbs.tiny import TINY, cells, made, shop

from foresee.papers.nesbs.search import DELTAS, FREE_ROWS, ROWS, SEARCHES, drawn, over_seeds, rows_of
from foresee.papers.nesbs.shared import USUAL, Study
from foresee.papers.nesbs.work import digest
from foresee.report.papers import figure

FEW = {**TINY, "trials": 1, "draws": 2, "steps": 3}


def test_figure_5_3_has_a_curve_for_each_way_to_search(chapter):
    page = made("thesis-figure-5.3", chapter, {**FEW, "sizes": (2,)})
    found = cells(page)
    for row in (*ROWS, *FREE_ROWS):
        for budget in (2, 4):
            line = found["n = 2", row, f"{budget} evaluations"]
            assert 0 <= line.ours.value <= 100
            assert (line.ours.n, line.reason) == (1, "1 trial")
    # of the first draw alone a pool has no choice: it is what uniform sampling draws
    assert found["n = 2", "nes-rs", "2 evaluations"].ours == found["n = 2", "urs", "2 evaluations"].ours
    apart = found["n = 2", "nesbs-mc-sampling", "minus uniform sampling's, 4 evaluations"].ours.value
    ours, uniform = (found["n = 2", row, "4 evaluations"].ours.value for row in ("nesbs-mc-sampling", "urs"))
    assert apart == pytest.approx(ours - uniform)
    single = found["n = 2", "single best", "4 evaluations"]
    assert single.ours.value <= 100
    (scatter,) = page.scatters
    assert set(scatter.kinds) == {*ROWS, *FREE_ROWS}
    assert len(figure(scatter).axes[0].containers) == len(ROWS) + len(FREE_ROWS)
    free = Study(shop(chapter, FEW), {**USUAL, **FEW}, 0, posterior="naswot")
    assert (free.folder / "posterior.json").is_file()
    assert not (free.folder / "supernet").exists(), "a proxy's posterior is fitted without a supernet"


def test_without_a_proxy_there_are_no_rows_of_ours():
    assert rows_of({"proxy": ""}) == ROWS


def test_figure_5_6_at_temperature_1_is_figure_5_3(chapter):
    before = cells(made("thesis-figure-5.3", chapter, {**FEW, "sizes": (2,)}))
    kept = sorted((chapter / "results").iterdir())
    page = made("thesis-figure-5.6", chapter, {**FEW, "size": 2, "taus": (1.0,)})
    assert sorted((chapter / "results").iterdir()) == kept, "nothing is done twice"
    for row in ("nesbs-mc-sampling", "nesbs-svgd-rd"):
        column = "4 evaluations"
        assert cells(page)["tau = 1", row, column].ours == before["n = 2", row, column].ours


def test_draws_belong_to_their_trial_and_number(chapter):
    study = Study(shop(chapter, FEW), {**USUAL, **FEW}, 0)
    own = {"deltas": DELTAS, "steps": 3}
    for sampler in ("uniform", "mc", "svgd_rd"):
        one, same, other = (drawn(study.common, sampler, 2, 0, own, trial) for trial in (0, 0, 1))
        assert one == same
        assert one != other
    near, far = (drawn(study.common, "svgd_rd", 2, number, own, 0) for number in (0, 1))
    assert near != far


def test_trials_of_one_supernet_are_one_number_where_there_are_several():
    assert over_seeds([[1.0, 3.0], [5.0, 7.0]]).n == 2
    assert over_seeds([[1.0, 3.0], [5.0, 7.0]]).value == 4.0
    assert over_seeds([[1.0, 3.0, 5.0]]).n == 3


@pytest.mark.skipif(torch.cuda.is_available(), reason="a machine without a GPU is meant")
def test_what_was_made_elsewhere_is_shown_and_the_rest_is_said_to_be_missing(chapter, tmp_path):
    """Results of another device are read on any machine; a seed that is not there is left out, and a row of none is empty."""
    few, work = {**FEW, "sizes": (2,), "proxy": ""}, {"work": str(tmp_path)}
    elsewhere = shop(chapter, few, device="cuda")
    (tmp_path / "results").mkdir()
    asked = {key: {**SEARCHES, **few}[key] for key in ("trials", "draws", "deltas", "steps", "statistics")}
    for row, seeds, error in (("urs", (0, 1), 0.5), ("nesbs-mc-sampling", (1,), 0.25)):
        for seed in seeds:
            study = Study(elsewhere, {**SEARCHES, **few, **work}, seed)
            made_there = {"errors": [[error, error]], "best": 0.1, "looked at": 4}
            place = (
                study.work / "results" / f"search-{row}-seed-{seed}-{digest([study.key, [row, 2, 1.0, asked]])}.json"
            )
            place.write_text(json.dumps(made_there))
    page = made("thesis-figure-5.3", chapter, {**few, **work}, device="cuda", repeats=2)
    found = cells(page)
    assert found["n = 2", "urs", "2 evaluations"].ours.n == 2
    assert found["n = 2", "nesbs-mc-sampling", "4 evaluations"].ours.value == 25.0
    assert found["n = 2", "nesbs-mc-sampling", "minus uniform sampling's, 4 evaluations"].ours.value == -25.0
    assert any("search-nesbs-mc-sampling of seed 0 is not kept" in note for note in page.notes)
    empty = found["n = 2", "nesbs-svgd-rd", "2 evaluations"]
    assert empty.ours is None
    assert "cannot be used here" in empty.reason
