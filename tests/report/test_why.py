"""Why the best is the best: parts beside the median, its place, its layers."""

from __future__ import annotations

import statistics
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from tests.report.conftest import HOSTILE
from tests.report.test_html import Page

from foresee.report.html import render
from foresee.report.info import Measure, summarise
from foresee.report.why import LAYERS, histogram, why
from foresee.runs.record import EventRow


def looked_at(record, **details):
    return replace(record, events=(*record.events, EventRow(0.0, "layers", record.best.id, details)))


def test_parts_stand_beside_the_median_of_all(make_record, follow):
    record = follow(make_record(40, proxies=("dextr",), failures=0.0), "dextr")
    found = why(record, summarise(record)).made_from[0]
    for part in found.parts:
        everywhere = [row.scores["dextr"].parts[part.name] for row in record.candidates]
        assert part.median == statistics.median(everywhere)
        assert part.above == sum(part.value > one for one in everywhere) / 39


def test_layers_are_bars_in_the_order_of_the_network_and_only_the_largest_of_many(make_record):
    record = make_record(10, failures=0.0)
    few = why(*both(looked_at(record, layers={"stem": 1.0, "body": 3.0, HOSTILE: 0.0})))
    assert [(bar.name, bar.share, bar.length) for bar in few.layers][:2] == [("stem", 0.25, 1 / 3), ("body", 0.75, 1.0)]
    assert HOSTILE in Page(render(looked_at(record, layers={HOSTILE: 1.0}))).text
    many = why(*both(looked_at(record, layers={f"layer{i}": float(i % 50 + 1) for i in range(100)})))
    assert (len(many.layers), many.hidden) == (LAYERS, 100 - LAYERS)
    assert [bar.name for bar in many.layers] == sorted(
        (bar.name for bar in many.layers), key=lambda name: int(name[5:])
    )
    assert many.rest == pytest.approx(1 - sum(bar.share for bar in many.layers))


@pytest.mark.parametrize("odd", [{}, {"layers": 3}, {"layers": {"a": "b"}}, {"layers": {"a": 0.0}}])
def test_layers_that_make_no_sense_are_none(make_record, odd):
    found = why(*both(looked_at(make_record(10, failures=0.0), **odd)))
    assert (found.layers, found.silence) == ((), "no layer contributes anything")


def both(record):
    return record, summarise(record)


@pytest.mark.parametrize(
    "values", [[1.0] * 8, [*range(1, 60)], [10.0**i for i in range(9)], [-1e9, *range(40)], [-1.7e308, 1.7e308] * 5]
)
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_the_histogram_is_a_picture_whatever_the_values(values, direction):
    measure = Measure("dextr", direction)
    best = max(values, key=lambda one: measure.sign * one)
    svg = ET.fromstring(histogram(values, best, measure))
    bars = list(svg.iter("rect"))
    assert bars
    assert all(float(bar.get("height")) > 0 and float(bar.get("x")) < 420 for bar in bars)
    assert any(text.text.startswith("best ") for text in svg.iter("text"))


def test_few_candidates_have_no_distribution(make_record):
    assert why(*both(make_record(5, failures=0.0))).histogram == ""
