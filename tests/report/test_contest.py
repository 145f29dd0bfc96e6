"""The report of a contest: the plain values and the page."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from tests.benchmarks.contest.made_up import made_up_contest
from tests.report.test_html import Page

import foresee as fs
from foresee.benchmarks.contest.trial import Pick, Trial
from foresee.errors import InputError
from foresee.report.contest import charts, command, render, tell, write
from foresee.report.folders import kind_at, page_of


def test_the_page_is_whole_and_says_the_numbers():
    found = made_up_contest()
    page = Page(render(found))
    assert page.sections() == ["answer", "asked", "curves", "table", "picks", "failures", "again"]
    for words in ("random@measured comes nearest to the best: 89 of 90", "89.0 ± 1.4", "50 %", "a note of cell"):
        assert words in page.text
    assert "not in the table" in page.text
    assert sum(tag == "svg" and attributes.get("class") == "chart" for tag, attributes in page.tags) == 2
    assert render(found) == render(found)


def test_a_folder_is_rendered_again(tmp_path):
    found = replace(made_up_contest(), folder=tmp_path)
    found.write(tmp_path)
    path = write(found)
    assert kind_at(tmp_path) == kind_at(tmp_path / "compare.json") == "comparison"
    assert page_of(tmp_path) == path.read_text(encoding="utf-8")
    assert (tmp_path / "regret.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="has no folder"):
        write(made_up_contest())


def with_picks(*numbers):
    """A contest in which every run of a searcher ends with the next of its numbers."""
    found, labels = made_up_contest(), list(made_up_contest().runs)
    trials = [
        Trial(label, seed, (Pick(1, 1.0, "a", value),), 1, 1.0)
        for label, values in zip(labels, numbers, strict=True)
        for seed, value in enumerate(values)
    ]
    return replace(found, trials=tuple(trials))


def test_the_verdict_is_by_the_intervals():
    assert "It is surely ahead: the interval of evolution@params, the next" in tell(
        with_picks((89.0, 89.1, 88.9), (80.0, 80.1, 79.9))
    ).verdict  # fmt: skip
    close = tell(with_picks((89.0, 89.1, 88.9), (80.0, 89.0, 88.0))).verdict
    assert close == "The interval of evolution@params overlaps with its own: it is not surely behind."
    assert "say" in tell(with_picks((89.0,), (80.0,))).verdict
    nobody = with_picks((None, None), (None, None))
    assert tell(nobody).first is None
    assert "The table holds nobody's pick" in render(nobody)
    assert charts(nobody) == []
    with pytest.raises(InputError, match="nothing to plot"):
        nobody.plot()


def test_regret_is_on_a_logarithmic_axis_where_that_helps():
    over, _ = charts(made_up_contest())
    assert not over.chart.scale.log
    assert [layer.kind for layer in over.chart.layers] == ["band", "line", "band", "line"]
    falling = replace(
        made_up_contest(),
        trials=tuple(
            Trial(label, 0, (Pick(1, 1.0, "a", 50.0), Pick(2, 2.0, "a", 89.5)), 2, 2.0)
            for label in made_up_contest().runs
        ),
    )
    over, _ = charts(falling)
    assert over.chart.scale.log
    assert min(y for layer in over.chart.layers for y in layer.y) >= over.chart.scale.low > 0
    best = replace(
        falling, trials=tuple(replace(one, picks=(*one.picks, Pick(3, 3.0, "a", 90.0))) for one in falling.trials)
    )
    assert not charts(best)[0].chart.scale.log  # nobody draws 0 there
    assert len(best.plot().axes) == 2


def test_the_command_is_the_one_that_was_typed():
    found = made_up_contest()
    words = shlex.split(command(found))
    assert words[:3] == ["foresee", "compare", "nasbench201"]
    assert words[words.index("--searchers") + 1] == "random@measured,evolution@params"
    limited = replace(found, settings=replace(found.settings, limits={"params": {"max": 600000}}))
    assert "--max-params 600000" in command(limited)
    given = replace(found, settings=replace(found.settings, scoring=replace(found.settings.scoring, data="given:x")))
    assert command(given) == ""
    assert "made in Python" in render(given)


def test_fs_compare_writes_the_page_too(tmp_path):
    from tests.benchmarks.small import LOOK, small_table

    ask = {**LOOK, "seeds": 1, "budget": 3, "judge": "test_acc", "target": "val_acc"}
    assert fs.compare(small_table(), "random@measured", **ask).folder is None
    fs.compare(small_table(), "random@measured", **ask, out=tmp_path)
    assert {"report.html", "regret.png", "compare.json", "picks.csv", "curves.csv"} <= {
        p.name for p in tmp_path.iterdir()
    }
