"""The report of a calibration: the plain values and the page."""

from __future__ import annotations

import itertools
import shlex
from dataclasses import replace

import numpy as np
import pytest
from tests.benchmarks.small import small_table
from tests.report.test_html import Page

from foresee.benchmarks import calibrate_table
from foresee.errors import InputError
from foresee.report.calibrate import command, headline, render, tell, write
from foresee.statistics import Estimate

SECTIONS = ["answer", "asked", "next", "trust", "pictures", "again"]
ASKED = {"proxies": ["params", "macs"], "untrained": "params", "trained": 12, "data": "synthetic", "bootstrap": 20}


@pytest.fixture(scope="module")
def found():
    return calibrate_table(small_table(), "test_acc_cifar10", **ASKED)


def charts(page):
    return sum(tag == "svg" and attributes.get("class") == "chart" for tag, attributes in page.tags)


def test_the_page_is_whole_and_says_the_numbers(found):
    page = Page(render(found))
    assert page.sections() == SECTIONS
    model, rows = found.calibration, found.rows()
    for skill in (model.skill, found.check):
        assert skill.verdict.replace("-", "−") in page.text
        for one in (skill.model["spearman"], skill.untrained["kendall"]):
            assert str(one).replace("-", "−") in page.text
    for row in rows[:20]:
        assert row["architecture"] in page.text
        assert f"{row['predicted']:.5g}" in page.text
    assert rows[20]["architecture"] not in "".join(page.text.split("How far to trust it")[0])
    assert "12 architectures, seed 0" in page.text
    assert "28 architectures: the rest of the table" in page.text
    assert charts(page) == 4
    inside = int(((found.calibration.held_out[1] <= model.values) & (model.values <= model.held_out[2])).sum())
    assert f"{inside} of 12 intervals hold what was measured (90 % asked)" in page.text
    assert render(found) == render(found)


def test_who_could_beat_the_best_trained_is_counted_by_direction(found):
    info = tell(found)
    assert info.best == found.calibration.values.max()
    assert info.could == (found.calibration.high > info.best).sum()
    loss = tell(calibrate_table(small_table(), "test_loss_cifar10", **ASKED))
    assert loss.best == -info.best
    assert loss.could == info.could  # the loss of that table is the accuracy with the other sign


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (Estimate(0.2, 0.1, 0.3), "The trainings paid"),
        (Estimate(-0.2, -0.3, -0.1), "The trainings did not pay"),
        (Estimate(0.2, -0.1, 0.3), "have not paid yet"),
        (Estimate(0.2), "cannot be told"),
    ],
)
def test_the_headline_follows_from_the_interval_of_the_difference(found, gain, words):
    assert words in headline(replace(found.calibration.skill, gain={"spearman": gain}))


def test_without_truth_there_is_one_pair_of_pictures_and_failures_are_said(found):
    unknown = found.truth.copy()
    unknown[found.calibration.rest] = np.nan
    model = replace(found.calibration, failed={"macs": 3}, untrained=np.full(28, -np.inf))
    page = Page(render(replace(found, truth=unknown, calibration=model, reasons={"macs": {"nan: <b>": 3}})))
    assert charts(page) == 2
    assert "macs failed on 3 of 40, which it ranks last: nan: <b>" in page.text
    assert "known to the table" not in page.text


def test_hostile_strings_stay_text(found):
    hostile = "<script>alert(1)</script>\"'&{{x}}\0\ud800"
    poisoned = replace(
        found,
        texts=[hostile + text for text in found.texts],
        untrained=hostile,
        space=hostile,
        target=replace(found.target, metric=hostile),
        settings={**found.settings, "table": hostile, "data": hostile},
        environment={hostile: hostile},
    )
    text = render(poisoned)
    text.encode()
    page = Page(text)
    assert sum(tag == "script" for tag, _ in page.tags) == 2  # the page's own, and its data
    assert "<script>alert(1)</script>" in page.text


def test_the_line_to_repeat_it_says_all_that_decides(found):
    assert command(found) == ""  # this table was never a file
    words = shlex.split(command(replace(found, settings={**found.settings, "table": "some tables/t.csv"})))
    assert words[:5] == ["foresee", "calibrate", "nasbench201", "--table", "some tables/t.csv"]
    pairs = dict(itertools.pairwise(words))
    assert (pairs["--trained"], pairs["--untrained"], pairs["--coverage"], pairs["--seed"]) == (
        "12",
        "params",
        "0.9",
        "0",
    )
    assert (pairs["--input"], pairs["--outputs"], pairs["--bootstrap"]) == ("3x32x32", "10", "20")
    assert [b for a, b in itertools.pairwise(words) if a == "--proxy"] == ["params", "macs"]


def test_written_into_its_folder(found, tmp_path):
    assert write(found, tmp_path).read_text() == render(found)
    with pytest.raises(InputError, match="name one"):
        write(found)
