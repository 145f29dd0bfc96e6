"""The page of samplers compared: who is first, how surely, at which budget, and what failed."""

from __future__ import annotations

import pytest
from tests.ensembles.finding.tiny import NB201, TINY, images
from tests.report.made_up_ensemble import made_up_comparison

from foresee.report.ensembles_compared import compare_ensembles, opened, percent, render, tell
from foresee.report.ensembles_pictures import charts, histogram, hover, map_of, tradeoff
from foresee.statistics import Estimate


def test_the_plain_values() -> None:
    found = made_up_comparison()
    info = tell(found)
    assert info.headline.startswith(f"{info.rows[0].label} errs least on average")
    assert [row.error.value for row in info.rows] == sorted(row.error.value for row in info.rows)
    assert "Compared with uniform under the same seeds" in info.lead
    assert info.problems == (("deep:ResNet", 1, "the loss is nan"),)
    (reference,) = (row for row in info.rows if row.reference)
    assert reference.difference == ""
    assert "[" in info.rows[0].words
    assert info.low <= info.rows[0].error.value <= info.high


def test_one_seed_has_no_intervals_and_nobody_is_sure() -> None:
    info = tell(made_up_comparison(seeds=1))
    assert "[" not in info.rows[0].words
    assert "surely better" not in info.lead
    assert info.title.endswith("seed 0")


def test_sure_differences_are_said() -> None:
    found = made_up_comparison()
    for row in found.rows:
        if row.label == "svgd_rd":
            row.measures["test"]["error"] -= 0.2 + 0.001 * row.seed
    assert "svgd_rd is surely better" in tell(found).lead


def test_percent_with_a_true_minus() -> None:
    assert percent(Estimate(-0.0123, -0.02, 0.01), signed=True) == "−1.23 [−2.00, +1.00]"


def test_the_page_is_whole() -> None:
    page = render(made_up_comparison())
    for words in ("How each did", "What each costs", "Errors of the members", "What failed", "the loss is nan"):
        assert words in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_nobody_measured_is_said_too() -> None:
    found = made_up_comparison()
    from dataclasses import replace

    none = replace(found, rows=tuple(replace(one, reason="no memory") for one in found.rows))
    page = render(none)
    assert "No ensemble could be measured" in page
    assert page.count("no memory") >= 9


def test_nothing_hostile_is_obeyed(hostile: str) -> None:
    assert "<script>document.title" not in render(made_up_comparison(hostile))


def test_every_dot_is_told_of_and_every_member_is_counted() -> None:
    found = made_up_comparison()
    drawn = [*charts(found), *tradeoff(found)]
    dots = {one for chart in drawn for layer in chart.chart.layers if layer.kind == "dots" for one in layer.ids}
    assert dots <= hover(found).keys()
    (bins,) = histogram(found, ["svgd_rd", "uniform"])
    assert [sum(layer.y) for layer in bins.chart.layers] == [9, 9]
    assert map_of(found, []) == []


@pytest.mark.slow
def test_a_comparison_that_ran_has_pages(tmp_path) -> None:
    found = compare_ensembles(
        data=images(), samplers=["uniform", "deep"], seeds=1, out=tmp_path / "c", **{**TINY, **NB201}
    )
    page = (tmp_path / "c" / "report.html").read_text()
    assert page == render(found) == render(opened(tmp_path / "c"))
    assert 'href="seed-0/deep/report.html"' in page
    assert (tmp_path / "c" / "seed-0" / "deep" / "report.html").is_file()
    assert "Map of predictions" in page
