"""A picture of many candidates: few dots, the same axes, the same corners."""

from __future__ import annotations

import random

import pytest

from foresee.report.figures import SIZE, Chart, Layer, Scale, to_svg
from foresee.report.thinning import CELLS, thinned


def cloud(many, *, log=False, scale=None):
    rng = random.Random(0)
    x = tuple(10 ** rng.uniform(0, 6) if log else rng.gauss(0, 1) for _ in range(many))
    y = tuple(10 ** rng.uniform(-3, 3) if log else rng.gauss(0, 1) for _ in range(many))
    dots = Layer("dots", "dot", x, y, "candidate", tuple(range(many)))
    best = tuple(max(y[: at + 1]) for at in range(many))
    line = Layer("line", "best", tuple(map(float, range(many))), best, "best so far")
    return Chart("c", "words", "x", "y", "plain", (dots, line), scale or Scale(log), x_log=log)


def test_few_are_left_as_they_are():
    chart = cloud(50)
    assert thinned(chart) is chart


@pytest.mark.parametrize("log", [False, True])
def test_dots_stay_few_and_the_axes_keep_their_ends(log):
    chart = cloud(3000, log=log)
    dots, line = thinned(chart, 400).layers
    assert len(dots.x) == len(dots.y) == len(dots.ids) <= 404
    for before, after in ((chart.layers[0].x, dots.x), (chart.layers[0].y, dots.y)):
        assert (min(before), max(before)) == (min(after), max(after))
    known = dict(zip(chart.layers[0].ids, zip(chart.layers[0].x, chart.layers[0].y, strict=True), strict=True))
    assert [known[one] for one in dots.ids] == list(zip(dots.x, dots.y, strict=True))  # nothing is moved
    assert len(line.x) < 30


def test_every_dot_that_is_left_out_has_one_near_it():
    chart = cloud(2000)
    dots = thinned(chart, 500).layers[0]
    before = chart.layers[0]
    across, up = max(before.x) - min(before.x), max(before.y) - min(before.y)
    near = max(CELLS)
    for x, y in list(zip(before.x, before.y, strict=True))[::37]:
        assert any(
            abs(x - a) / across * SIZE[0] <= near and abs(y - b) / up * SIZE[1] <= near
            for a, b in zip(dots.x, dots.y, strict=True)
        )


def test_a_line_keeps_its_corners():
    chart = cloud(3000)
    before, after = chart.layers[1], thinned(chart, 100).layers[1]
    at = dict(zip(before.x, before.y, strict=True))
    assert set(after.y) == set(before.y)
    assert all(at[x] == y for x, y in zip(after.x, after.y, strict=True))
    assert after.x[-1] == before.x[-1]


def test_dots_that_are_all_in_one_place():
    layer = Layer("dots", "dot", (1.0,) * 500, (2.0,) * 500, "", tuple(range(500)))
    made = thinned(Chart("c", "w", "x", "y", "plain", (layer,), Scale()), 100)
    assert made.layers[0].ids == (0,)


def test_what_lies_outside_the_axis_takes_no_room_on_it():
    chart = cloud(3000, scale=Scale(low=-1.0))
    made = thinned(chart, 400)
    assert len(made.layers[0].x) <= 404
    assert "data-ids" in to_svg(made)
