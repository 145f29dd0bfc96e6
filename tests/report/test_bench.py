"""The report of a bench: the plain values and the page."""

from __future__ import annotations

import itertools
import math
import re
import shlex
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.benchmarks.small import LOOK, small_table
from tests.report.test_html import Page

from foresee.benchmarks.benches import bench
from foresee.errors import InputError
from foresee.report.bench import command, render, tell, write
from foresee.statistics import Estimate, correlate

SECTIONS = ["answer", "asked", "table", "scatter", "between", "failures", "again"]


@pytest.fixture(scope="module")
def found():
    return bench(small_table(), "test_acc_cifar10", ["naswot", "grad_norm"], sample=30, repeats=2, bootstrap=50, **LOOK)


def with_scores(found, name, values, **changes):
    """The bench with other values of one proxy."""
    values = np.asarray(values, float)
    matrix = replace(found.matrices[name], values=values, **changes)
    correlations = {**found.correlations, name: correlate(matrix.merit, found.truth, bootstrap=20)}
    return replace(found, matrices={**found.matrices, name: matrix}, correlations=correlations)


def test_the_page_is_whole_and_says_the_numbers(found):
    page = Page(render(found))
    assert page.sections() == SECTIONS
    for name, one in found.correlations.items():
        assert name in page.text
        assert str(one.spearman).replace("-", "−") in page.text
        assert f"{one.kendall.value:.3f}".replace("-", "−") in page.text
    assert page.text.count("baseline") >= 3
    assert "30 of 40 architectures, seed 0" in page.text
    assert "synthetic (noise, no images)" in page.text
    assert sum(tag == "svg" and attributes.get("class") == "chart" for tag, attributes in page.tags) == 5
    assert all(note in page.text for note in found.notes)
    assert render(found) == render(found)


def test_rows_are_best_first_and_the_best_is_compared_with_the_best_baseline(found):
    info = tell(found)
    values = [row.found.spearman.value for row in info.rows]
    assert values == sorted(values, reverse=True)
    assert info.proxy.name in ("naswot", "grad_norm")
    assert info.baseline.name in ("params", "macs")


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (Estimate(0.99, 0.985, 0.995, 30), "better than any baseline"),
        (Estimate(0.99, 0.6, 0.995, 30), "the intervals overlap, so naswot is not surely better"),
        (Estimate(0.5, 0.4, 0.6, 30), "No proxy orders this sample better than"),
    ],
)
def test_the_verdict_follows_from_the_intervals(found, ours, words):
    theirs = Estimate(0.9, 0.85, 0.95, 30)
    least = {name: replace(one, spearman=Estimate(0.1, 0.0, 0.2, 30)) for name, one in found.correlations.items()}
    least["naswot"], least["macs"] = (replace(least["macs"], spearman=one) for one in (ours, theirs))
    verdict = tell(replace(found, correlations=least)).verdict
    assert words in verdict
    assert "macs" in verdict
    assert str(theirs) in verdict


def test_failures_are_shown_with_their_reasons(found):
    values = found.matrices["naswot"].values.copy()
    values[:4, 0] = math.nan
    failing = with_scores(found, "naswot", values, reasons=Counter({"nan: <no> kernel": 4}))
    text = Page(render(failing)).text
    assert "nan: <no> kernel" in text
    assert "failures last" in text
    assert "4 without a value" in text
    everything = with_scores(found, "naswot", np.full_like(values, math.nan), reasons=Counter({"unsupported": 60}))
    everything = with_scores(everything, "grad_norm", np.ones_like(values))
    page = Page(render(everything))
    assert page.sections() == SECTIONS
    assert "params: rank correlation" in page.text or "macs: rank correlation" in page.text
    assert "undefined" in page.text


def test_one_repeat_huge_spans_and_stragglers(found):
    rng = np.random.default_rng(0)
    wild = with_scores(found, "naswot", 10.0 ** rng.uniform(-20, 20, (30, 2)))
    assert re.search("10⁻?[¹²³⁴⁵⁶⁷⁸⁹][⁰¹²³⁴⁵⁶⁷⁸⁹]", render(wild))
    truth = found.truth.copy()
    truth[0] = -1e6
    assert "far worse in the table is left out" in Page(render(replace(found, truth=truth))).text


def test_hostile_strings_stay_text(found):
    hostile = "<script>alert(1)</script>\"'&{{x}}\0\ud800"
    poisoned = replace(
        found,
        settings=replace(
            found.settings,
            target=hostile,
            table=hostile,
            space=hostile,
            scoring=replace(found.settings.scoring, data=hostile),
        ),
        texts=[hostile + text for text in found.texts],
        notes=(hostile,),
        looked_at=hostile,
    )
    poisoned = with_scores(poisoned, "naswot", found.matrices["naswot"].values, reasons=Counter({hostile: 3}))
    text = render(poisoned)
    text.encode()
    page = Page(text)
    assert sum(tag == "script" for tag, _ in page.tags) == 2  # the page's own, and its data
    assert "<script>alert(1)</script>" in page.text


def test_the_line_to_repeat_it_says_all_that_decides(found):
    assert command(found) == ""  # this table was never a file
    scoring = replace(found.settings.scoring, proxy_settings={"naswot": {"initialise": "he"}})
    settings = replace(found.settings, table="some tables/t.csv", scoring=scoring)
    words = shlex.split(command(replace(found, settings=settings)))
    assert words[:7] == [
        "foresee",
        "bench",
        "nasbench201",
        "--table",
        "some tables/t.csv",
        "--target",
        "test_acc_cifar10",
    ]
    pairs = dict(itertools.pairwise(words))
    assert (pairs["--sample"], pairs["--repeats"], pairs["--batch-size"], pairs["--bootstrap"]) == (
        "30",
        "2",
        "4",
        "50",
    )
    assert (pairs["--input"], pairs["--outputs"], pairs["--data"]) == ("3x8x8", "4", "synthetic")
    assert [b for a, b in itertools.pairwise(words) if a == "--proxy"] == ["naswot", "grad_norm"]
    sets = [b for a, b in itertools.pairwise(words) if a == "--set"]
    assert sets == ["space.channels=2", "space.cells=1", 'naswot.initialise="he"']


def test_a_proxy_without_a_single_value_has_no_picture(found):
    nothing = with_scores(found, "naswot", np.full((30, 2), math.nan), reasons=Counter({"unsupported": 60}))
    page = Page(render(nothing))
    assert sum(tag == "svg" and attributes.get("class") == "chart" for tag, attributes in page.tags) == 4
    assert "unsupported" in page.text


def test_written_into_its_folder(found, tmp_path):
    assert write(found, tmp_path).read_text() == render(found)
    with pytest.raises(InputError, match="name one"):
        write(found)
