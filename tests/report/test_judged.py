"""The page of a judging: who is first, how surely, every trial, calibration, the drawn network."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.benchmarks.judging.logs import FAST, features

from foresee.benchmarks.judging import Judged, Verdict, judge
from foresee.report.judged import charts, exact, render, tell, write
from foresee.statistics import Estimate

TINY = "found=nasrec_small Criteo_Small_best"


@pytest.fixture(scope="module")
def judged() -> Judged:
    return judge(["logistic", TINY], features(), folds=2, seeds=2, recipe="fast", **{**FAST, "lr": 1e-3})


def test_the_plain_values(judged: Judged) -> None:
    info = tell(judged)
    assert info.measures == ("AUC", "log loss")
    assert {row.standing.label for row in info.rows} == {"logistic", "found"}
    assert "is first: AUC" in info.headline
    assert "compared with logistic" in info.lead
    assert [label for label, _ in info.architectures] == ["found"]
    reference = next(row for row in info.rows if row.reference)
    assert reference.differences == ()


def test_the_page_is_whole(judged: Judged, tmp_path) -> None:
    page = render(judged)
    for words in (
        "How each did",
        "Every trial",
        "Do the probabilities come true?",
        "The networks",
        "AUC beside logistic",
    ):
        assert words in page
    assert page.count("<svg") >= 4
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert write(judged, tmp_path).read_text() == page


def test_every_trial_is_a_dot(judged: Judged) -> None:
    for drawn in charts(judged):
        dots = [layer for layer in drawn.chart.layers if layer.kind == "dots"]
        assert [len(layer.x) for layer in dots] == [4, 4]


def test_failures_have_reasons_on_the_page(judged: Judged) -> None:
    failed = tuple(Verdict(one.contestant, one.fold, one.seed, reason="the loss is nan") for one in judged.verdicts)
    page = render(replace(judged, verdicts=failed))
    assert "What failed" in page
    assert "the loss is nan" in page
    assert "Nobody could be judged" in page


def test_four_digits_and_a_true_minus() -> None:
    assert exact(Estimate(float("nan"))) == "–"
    assert exact(Estimate(-0.00123, -0.002, 0.001), signed=True) == "−0.0012 [−0.0020, +0.0010]"
