"""Means, intervals and curves, by hand; and the files they are kept in."""

from __future__ import annotations

import csv
import io
import json
import math
import random

import pytest
from tests.benchmarks.contest.made_up import made_up_contest
from tests.benchmarks.test_opening import ODD, leaves

import foresee as fs
from foresee.benchmarks import open_contest
from foresee.benchmarks.contest.result import Truth
from foresee.report import contest as contest_page
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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plain: plain.pop("trials"), "not as foresee wrote it"),
        (lambda plain: plain["settings"].update(budget=-1), "at least 1"),
        (lambda plain: plain["settings"].update(searchers=["nobody@measured", "random"]), "nobody"),
        (lambda plain: plain["trials"].pop(0) and plain["trials"].pop(1), "runs of others"),
        (lambda plain: plain["trials"][0].update(searcher="x"), "runs of others"),
        (lambda plain: plain["trials"][0]["picks"].reverse(), "do not follow one another"),
        (lambda plain: plain["trials"][0].update(seconds="x" * 500), "where a number is expected"),
        (lambda plain: plain["trials"][0]["picks"].append([1]), "not as foresee wrote it"),
        (lambda plain: plain["table"].update(direction="up"), "higher or lower"),
        (lambda plain: plain["table"].update(best=float("nan")), "where a number is expected"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, change, words):
    path = made_up_contest().write(tmp_path)
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))
    with pytest.raises(fs.ForeseeError, match=words) as caught:
        open_contest(tmp_path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whatever_stands_in_the_file_it_is_shown_or_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("foresee.report.html.to_svg", lambda *_, **__: "")  # drawing takes long
    path, rng = made_up_contest().write(tmp_path), random.Random(4)
    whole = path.read_text()
    places, refused = list(leaves(json.loads(whole))), []
    for _ in range(150):
        plain = json.loads(whole)
        *before, last = rng.choice(places[1:])
        inner = plain
        for key in before:
            inner = inner[key]
        if rng.random() < 0.3 and isinstance(inner, dict):
            del inner[last]
        else:
            inner[last] = rng.choice(ODD)
        path.write_text(json.dumps(plain))
        try:
            contest_page.render(open_contest(tmp_path))
        except fs.ForeseeError as error:
            refused.append(str(error))
    assert len(refused) > 15
    assert all(len(line.splitlines()) == 1 and str(path) in line for line in refused), refused
