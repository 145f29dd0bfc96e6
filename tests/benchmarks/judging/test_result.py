"""Means over folds, paired differences, bins put together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from foresee.benchmarks.judging import Contestant, Judged, Verdict
from foresee.benchmarks.judging.result import over_folds, together
from foresee.recommenders import Handmade
from foresee.training.evaluations import Evaluation, judge

ASKED = {"recipe": {"name": "r"}, "data": {"name": "log", "samples": 9, "folds": 3, "validation": 0.1}, "seed": 0}


def judged(numbers: dict[str, np.ndarray], failed: tuple[str, int, int] | None = None) -> Judged:
    verdicts = [
        Verdict(label, fold, seed, reason="it failed")
        if (label, fold, seed) == failed
        else Verdict(label, fold, seed, Evaluation(9, 1 - auc, 0.5, auc=auc, predicted=0.4, observed=0.4), seconds=1.0)
        for label, table in numbers.items()
        for fold, row in enumerate(table.tolist())
        for seed, auc in enumerate(row)
    ]
    return Judged(tuple(Contestant(one, Handmade("logistic")) for one in numbers), tuple(verdicts), ASKED, "a")


def test_intervals_are_students_over_folds():
    draws = np.random.default_rng(0)
    a, b = 0.7 + 0.05 * draws.random((3, 4)), 0.75 + 0.05 * draws.random((3, 4))
    found = judged({"a": a, "b": b})
    assert found.measures == ("auc", "loss")
    assert list(found.standings) == ["b", "a"]
    low, high = stats.t.interval(0.95, 2, a.mean(1).mean(), stats.sem(a.mean(1)))
    mean = found.standings["a"].means["auc"]
    assert (mean.value, mean.low, mean.high) == pytest.approx((a.mean(), low, high))
    apart = found.standings["b"].differences["auc"]
    low, high = stats.t.interval(0.95, 2, (b - a).mean(), stats.sem((b - a).mean(1)))
    assert (apart.value, apart.low, apart.high) == pytest.approx(((b - a).mean(), low, high))
    assert found.standings["a"].differences == {}
    assert found.standings["a"].spread["auc"] == pytest.approx(np.sqrt(a.var(1, ddof=1).mean()))


def test_no_interval_is_beyond_what_a_measure_can_be():
    two = np.array([[0.6], [0.9]])  # two folds: Student's interval is 12.7 standard errors to each side
    found = judged({"a": two, "b": two - 0.1}).standings
    assert (found["a"].means["auc"].low, found["a"].means["auc"].high) == (0.0, 1.0)
    assert found["a"].means["loss"].low == 0.0
    assert found["a"].means["loss"].high > 1.0
    assert found["b"].differences["auc"].value == pytest.approx(-0.1)


def test_a_failure_is_left_out_of_pairs_and_told():
    table = np.array([[0.6, 0.8], [0.7, 0.7]])
    found = judged({"a": table, "b": table + 0.1}, failed=("a", 0, 1))
    assert found.reasons == [("a", 0, 1, "it failed")]
    assert found.standings["a"].failed == 1
    assert found.standings["b"].differences["auc"].value == pytest.approx(0.1)
    assert found.to_json()["standings"]["a"]["failed"] == 1


def test_one_fold_goes_by_seeds():
    assert over_folds({(0, 0): 1.0, (0, 1): 2.0}).n == 2


def test_nobody_has_a_number():
    found = judged({"a": np.array([[0.6]])}, failed=("a", 0, 0))
    assert np.isnan(found.standings["a"].means["loss"].value)


def test_bins_together_are_those_of_all_predictions():
    draws = np.random.default_rng(1)
    said, true = draws.random(60), draws.random(60) < 0.3
    whole = judge(said, true).calibration
    halves = together([judge(said[:25], true[:25]).calibration, judge(said[25:], true[25:]).calibration])
    for one, other in zip(whole, halves, strict=True):
        assert (one.count, one.confidence, one.accuracy) == pytest.approx(
            (other.count, other.confidence, other.accuracy)
        )
