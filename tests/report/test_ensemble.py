"""The page of an ensemble: its numbers, what it says of its members, and what is there without a folder."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.ensembles.finding.tiny import NB201, TINY, images
from tests.report.made_up_ensemble import made_up_defence, made_up_ensemble

from foresee.ensembles.finding import EnsembleRun
from foresee.report import defence
from foresee.report.ensemble import budget, ensemble, render, tell, write
from foresee.report.predictions import Predictions


@pytest.fixture
def run() -> EnsembleRun:
    return made_up_ensemble()


def _told(run: EnsembleRun):
    return tell(run, Predictions.of(run.probabilities, run.labels))


def test_the_plain_values(run: EnsembleRun) -> None:
    info = _told(run)
    test = run.measures["test"]
    assert f"{100 * test.error:.2f} % wrong" in info.headline
    assert f"{100 * min(test.members):.2f} %" in info.headline
    assert "best of 4" in info.lead
    assert [row.number for row in info.rows] == [0, 1, 2]
    assert sum(row.best for row in info.rows) >= 1
    assert sum(samples for _, samples, _ in info.counts) == test.samples


def test_a_member_that_is_better_alone_is_said(run: EnsembleRun) -> None:
    test = replace(run.measures["test"], error=0.9)
    info = _told(replace(run, measures={**run.measures, "test": test}))
    assert "best member alone would have been better" in info.lead


def test_the_budget_is_whole(run: EnsembleRun) -> None:
    said = dict(budget(run.budget))
    assert said["Networks trained"] == "3, 60 epochs in all"
    assert said["Scores by a proxy"] == "0"
    assert "6 min 2 s" in said["Time"]
    assert "supernet" in said["Time"]


def test_the_page_is_whole(run: EnsembleRun) -> None:
    page = render(run)
    for words in (
        "The members",
        "How they were chosen",
        "Who knows what",
        "how sure to be",
        "The cells",
        "What it cost",
    ):
        assert words in page
    assert page.count('class="cell"') == 3
    assert "Find it again" in page
    assert "How it withstands" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_an_ensemble_of_one_and_one_that_was_not_estimated() -> None:
    single = made_up_ensemble(members=1)
    bare = {key: one for key, one in single.measures.items() if key != "estimated"}
    page = render(replace(single, measures=bare, selected={**single.selected, "tried": [], "deltas": []}))
    assert "mean member" not in page
    assert "How they were chosen" not in page


def test_nothing_hostile_is_obeyed(hostile: str) -> None:
    page = render(made_up_ensemble(hostile))
    assert "<script>document.title" not in page


@pytest.mark.slow
def test_one_that_was_found_is_written_with_its_members(tmp_path) -> None:
    found = ensemble(data=images(), sampler="mc", out=tmp_path / "e", **{**TINY, **NB201})
    assert (tmp_path / "e" / "report.html").read_text() == render(found)
    assert (tmp_path / "e" / "members" / "1" / "report.html").is_file()
    assert 'href="members/0/report.html"' in render(EnsembleRun.load(tmp_path / "e"))
    (tmp_path / "e" / "defence").mkdir()
    kept = replace(made_up_defence(members=2), folder=tmp_path / "e" / "defence")
    import json

    plain = {"status": "finished", **kept.to_json(), "rounds": [], "looked": []}
    (tmp_path / "e" / "defence" / defence.DEFENCE).write_text(json.dumps(plain))
    write(found)
    assert "How it withstands attacks" in (tmp_path / "e" / "report.html").read_text()
