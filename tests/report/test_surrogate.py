"""How two numbers were chosen: maps and tries of a run that kept them, and nothing of one that makes no sense."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from tests.report.conftest import HOSTILE, START
from tests.report.test_html import Page

from foresee.report.html import render
from foresee.report.info import summarise
from foresee.report.surrogate import chosen, picture
from foresee.runs.record import StepRow

SIDE = 3


def outcome(number, model=True, **changes):
    """A step as HNAS keeps it."""
    grid = [[float(row * SIDE + column) for column in range(SIDE)] for row in range(SIDE)]
    seen = {
        "acquisition": "ei",
        "here": {"mean": 4.5, "deviation": 0.25, "gain": -1.0},
        "mean": grid,
        "deviation": grid,
        "gain": [[-value for value in row] for row in grid],
    }
    point = [-8.0 + number, 1.0 + 0.5 * number]
    plain = {"point": point, "box": [[-9.0, 1.0], [1.0, 5.0]], "architecture": "x", "objective": 1.0}
    return {**plain, "model": seen if model else None, **changes}


@pytest.fixture
def run(make_record, follow):
    def made(*outcomes):
        record = follow(make_record(len(outcomes), failures=0.0), "dextr")
        parts = StepRow(0, "pool parts", {"architecture": []}, 0.1, START)
        steps = [StepRow(1 + k, "choices of mu and nu", one, 0.1, START) for k, one in enumerate(outcomes)]
        return replace(record, steps=(parts, *steps))

    return made


def test_a_run_that_chose_points_shows_three_maps_and_every_try(run):
    record = run(outcome(0, model=False), outcome(1), outcome(2), outcome(3))
    found = chosen(record, summarise(record))
    assert [one.heading for one in found.maps] == ["Mean", "Uncertainty", "Acquisition"]
    assert [(one.id, one.mu, one.nu) for one in found.tries] == [
        (0, "1e-08", "10"), (1, "1e-07", "31.6"), (2, "1e-06", "100"), (3, "1e-05", "316"),
    ]  # fmt: skip
    assert [one.mean for one in found.tries] == [None, 4.5, 4.5, 4.5]
    values = {row.id: row.merit for row in record.candidates}
    assert [one.value for one in found.tries] == [values[k] for k in range(4)]
    text = Page(render(record)).text
    assert "How μ and ν were chosen" in text
    assert "4 evaluations" in text
    assert "4.5 ± 0.25" in text
    assert "The improvement that is expected" in text


def test_a_map_has_a_box_for_each_value_and_a_dot_for_each_try_where_it_belongs(run):
    record = run(outcome(1, point=[-9.0, 1.0]), outcome(2, point=[1.0, 5.0]))
    tries = chosen(record, summarise(record)).tries
    svg = picture([[0.0, 1.0], [2.0, None]], ((-9.0, 1.0), (1.0, 5.0)), tries, best=tries[1].id)
    shares = [int(share) for share in re.findall(r"var\(--best\) (\d+)%", svg)]
    assert shares[:3] == [4, 50, 96]  # the least, the middle, the most; nothing for None
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4"', svg)
    frame = re.search(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" style="fill: none', svg)
    left, top, wide, tall = map(float, frame.groups())
    corners = [(left, top + tall), (left + wide, top)]
    assert [tuple(map(float, dot)) for dot in dots] == [pytest.approx(corner, abs=0.1) for corner in corners]
    assert svg.count('r="8"') == 1


def test_random_points_are_one_picture_without_a_model(run):
    record = run(*(outcome(k, model=False) for k in range(3)))
    found = chosen(record, summarise(record))
    assert [one.heading for one in found.maps] == ["Points"]
    assert "the fuller the colour" in Page(render(record)).text


def test_the_expected_improvement_is_shown_and_not_its_logarithm(run):
    record = run(outcome(0), outcome(1))
    svg = chosen(record, summarise(record)).maps[2].svg
    assert f"values from {math.exp(-8):.4g} to 1<" in svg


def test_other_runs_have_no_such_part(make_record):
    record = make_record(5)
    assert chosen(record, summarise(record)) is None
    assert "How μ and ν" not in render(record)


@pytest.mark.parametrize(
    "changes",
    [
        {"box": None},
        {"box": [[0.0, 1.0], [0.0, 2.0]]},
        {"box": [["a", 1.0], [1.0, 2.0]]},
        {"box": [[0.0, 1e9], [1.0, 1e10]]},
        {"point": [1.0]},
        {"point": HOSTILE},
        {"point": [math.nan, 1.0], "box": [[math.nan, 0.0], [1.0, 1.0]]},
    ],
)
def test_what_makes_no_sense_is_not_shown(run, changes):
    record = run(*(outcome(k, **changes) for k in range(3)))
    assert chosen(record, summarise(record)) is None
    render(record)


@pytest.mark.parametrize(
    "model",
    [HOSTILE, {"mean": HOSTILE}, {"mean": [[1.0]], "deviation": [[1.0]], "gain": [[1.0]]}, {"here": {"mean": HOSTILE}}],
)
def test_a_model_that_makes_no_sense_is_none(run, model):
    record = run(*(outcome(k, model=None) | {"model": model} for k in range(3)))
    found = chosen(record, summarise(record))
    assert [one.heading for one in found.maps] == ["Points"]
    assert all(one.mean is None for one in found.tries)
    hostile = run(outcome(0), outcome(1, model=None) | {"model": outcome(0)["model"] | {"acquisition": HOSTILE}})
    page = render(hostile)
    assert "<script>document" not in page
