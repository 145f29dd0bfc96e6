"""Means, intervals and curves, by hand; and the files they are kept in."""

from __future__ import annotations

import csv
import io
import math

import pytest
from tests.benchmarks.contest.made_up import made_up_contest

import foresee as fs
from foresee.benchmarks import open_contest
from foresee.benchmarks.contest.result import Truth
from foresee.statistics import mean_of_few


def test_the_curve_over_evaluations_is_the_mean_of_what_each_run_would_have_picked():
    curve = made_up_contest().over_evaluations("random@measured")
    assert curve.at == (2, 4, 10)  # under the second seed the first candidate failed
    assert [one.value for one in curve.regret] == [8.0, 4.0, 1.0]
    expected = mean_of_few([2.0, 6.0])
    assert (curve.regret[1].low, curve.regret[1].high, curve.regret[1].n) == (0.0, expected.high, 2)
    assert expected.low < 0  # and nobody is better than the best


def test_the_curve_over_time():
    curve = made_up_contest().over_time("random@measured")
    assert curve.at == (2.0, 4.0, 12.0)
    assert [one.value for one in curve.regret] == [8.0, 4.0, 1.0]


def test_a_pick_that_is_not_in_the_table_is_no_number():
    found = made_up_contest()
    curve = found.over_evaluations("evolution@params")
    assert curve.at == (3, 10)  # who ends before keeps the pick
    assert [(one.value, one.n) for one in curve.regret] == [(5.0, 1), (5.0, 1)]
    standing = found.standings["evolution@params"]
    assert (standing.absent, standing.judged.value, standing.judged.n, standing.runs) == (0.5, 85.0, 1, 2)
    assert math.isnan(standing.spread)
    assert found.reasons == [("evolution@params", 6, "cell")]


def test_how_each_ends():
    found = made_up_contest()
    assert list(found.standings) == ["random@measured", "evolution@params"]  # the nearest first
    first = found.standings["random@measured"]
    assert (first.judged.value, first.regret.value, first.evaluations, first.seconds) == (89.0, 1.0, 10, 11.0)
    assert first.spread == pytest.approx(math.sqrt(2))
    text = str(found)
    assert "89.0 ± 1.4" in text
    assert "50 %" in text
    with pytest.raises(fs.ForeseeError, match=r"did you mean random@measured"):
        found.over_time("random@mesured")


def test_less_may_be_better():
    truth = Truth("lower", 0.5, "a", 3, 3, 1.0)
    assert truth.regret(0.75) == 0.25
    assert math.isnan(truth.regret(None))


def test_files_hold_everything_and_are_read_again(tmp_path):
    found = made_up_contest()
    found.write(tmp_path)
    again = open_contest(tmp_path)
    assert again.to_json() == found.to_json()
    assert again.trials == found.trials
    picks = list(csv.DictReader(io.StringIO((tmp_path / "picks.csv").read_text())))
    assert [(row["searcher"], row["seed"], row["judged"], row["regret"]) for row in picks] == [
        ("random@measured", "5", "88.0", "2.0"),
        ("evolution@params", "5", "", ""),
        ("random@measured", "6", "90.0", "0.0"),
        ("evolution@params", "6", "85.0", "5.0"),
    ]
    curves = list(csv.DictReader(io.StringIO((tmp_path / "curves.csv").read_text())))
    assert [(row["evaluations"], row["regret"], row["n"]) for row in curves[:3]] == [
        ("2", "8.0", "2"),
        ("4", "4.0", "2"),
        ("10", "1.0", "2"),
    ]
    assert len(found.to_frame()) == 4
