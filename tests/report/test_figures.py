from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from foresee.report.figures import (
    SENTINELS,
    Chart,
    Layer,
    Scale,
    figure,
    progress_chart,
    save_png,
    scale_for,
    time_unit,
    to_svg,
    tradeoff_chart,
)
from foresee.report.info import Measure, Tradeoff, summarise
from foresee.runs.record import Record

UP, DOWN = Measure("dextr"), Measure("kappa", "lower")


@pytest.fixture(scope="module")
def charts(make_record: Callable[..., Record]) -> dict[str, Chart]:
    info = summarise(make_record(60))
    return {
        "progress": progress_chart("one", info.by_candidate, info.measure),
        "time": progress_chart("two", info.by_seconds, info.measure),
        "params": tradeoff_chart("three", info.tradeoffs[0], info.measure),
    }


def test_matplotlib_is_imported_late() -> None:
    import subprocess

    code = "import sys, foresee.report; assert not {'matplotlib', 'jinja2'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_charts_hold_the_numbers(charts: dict[str, Chart], make_record: Callable[..., Record]) -> None:
    info = summarise(make_record(60))
    dots, line = charts["progress"].layers
    assert dots.y == info.by_candidate.values
    assert dots.ids == info.by_candidate.ids
    assert line.y[-1] == max(dots.y)
    cloud, front, marked, ring = charts["params"].layers
    assert cloud.x == tuple(map(float, info.tradeoffs[0].costs))
    assert marked.ids == info.tradeoffs[0].front
    assert front.x == marked.x
    assert ring.y == (max(cloud.y),)
    assert charts["params"].lines == ((600_000.0, "limit 600 k"),)


def test_the_front_of_a_run_is_marked_beside_that_of_two(
    make_record: Callable[..., Record], follow: Callable[..., Record]
) -> None:
    plain = make_record(80, proxies=("dextr", "synflow"), failures=0.0)
    two, three = (summarise(follow(plain, *names)) for names in (["dextr", "params"], ["dextr", "params", "synflow"]))
    _, line, marked, _ = tradeoff_chart("a", two.tradeoffs[0], two.measure, two.front).layers
    assert marked.ids == two.front
    assert {*zip(line.x, line.y, strict=True)} == {*zip(marked.x, marked.y, strict=True)}
    assert (line.label, marked.label) == ("Pareto front", "")
    chart = tradeoff_chart("b", three.tradeoffs[0], three.measure, three.front)
    _, line, marked, _ = chart.layers
    assert marked.ids == three.front
    assert len(marked.x) > len(line.x)
    assert (line.label, marked.label) == ("front of these two", "on the run's front")
    assert f"{len(three.front)} of them on the Pareto front" in chart.text


@pytest.mark.parametrize("names", [("dextr", "synflow"), ("params", "dextr"), ("macs", "params"), ("dextr", "params")])
def test_the_line_of_a_front_never_runs_past_a_better_point(
    make_record: Callable[..., Record], follow: Callable[..., Record], names: tuple[str, str]
) -> None:
    info = summarise(follow(make_record(80, proxies=("dextr", "synflow"), failures=0.0), *names))
    cloud, line, *_ = tradeoff_chart("a", info.tradeoffs[0], info.measure, info.front).layers
    up, right = (one.sign for one in info.objectives)
    for x, y in zip(cloud.x, cloud.y, strict=True):
        # of the points at least as good across, the line shows the best height
        height = max(up * b for a, b in zip(line.x, line.y, strict=True) if right * a >= right * x)
        assert height >= up * y
    # A stepped line holds the height of each corner until the next one: so it goes from the best across to the worst.
    assert [right * x for x in line.x] == sorted((right * x for x in line.x), reverse=True)


def test_another_score_across_has_its_own_axis(
    make_record: Callable[..., Record], follow: Callable[..., Record]
) -> None:
    info = summarise(follow(make_record(40, proxies=("dextr", "synflow"), failures=0.0), "dextr", "synflow"))
    chart = tradeoff_chart("a", info.tradeoffs[0], info.measure, info.front)
    assert (chart.x_label, chart.x_unit, chart.x_log) == ("synflow (higher is better)", "score", False)
    assert figure(chart).axes[0].get_xscale() == "linear"
    wide = replace(info.tradeoffs[0], costs=tuple(10.0 ** (i % 7) for i in range(len(info.tradeoffs[0].costs))))
    chart = tradeoff_chart("a", wide, info.measure, info.front)
    assert chart.x_log
    assert figure(chart).axes[0].get_xscale() == "log"


def test_a_cost_upwards_is_written_as_a_quantity() -> None:
    cost = Measure("params", "lower", cost=True)
    chart = Chart(
        "a", "", "x", "y", "whole", (Layer("dots", "dot", (0, 1), (0.0, 4e5), ""),), scale_for([0.0, 4e5], cost)
    )
    made = figure(chart)
    made.canvas.draw()
    assert "400 k" in [label.get_text() for label in made.axes[0].get_yticklabels()]
    assert not scale_for([0.0, 4e5], UP).quantity


def test_the_figure_shows_the_chart(charts: dict[str, Chart]) -> None:
    axes = figure(charts["params"]).axes[0]
    assert axes.get_xlabel() == "params"
    assert axes.get_title(loc="left") == "dextr (higher is better)"
    assert [text.get_text() for text in axes.texts] == ["limit 600 k"]
    drawn = axes.lines[0].get_xydata()
    assert len(drawn) == len(charts["params"].layers[0].x)


@pytest.mark.parametrize("name", ["progress", "time", "params"])
def test_svg_is_well_formed_small_and_without_own_colours(charts: dict[str, Chart], name: str) -> None:
    svg = to_svg(charts[name])
    root = ET.fromstring(svg)
    assert root.find("title") is not None
    assert root.get("role") == "img"
    assert not re.search(r"#[0-9a-f]{6}", svg)
    assert "var(--dot)" in svg
    assert "var(--best)" in svg
    assert not any(colour in svg for colour in SENTINELS.values())
    assert "DejaVu" not in svg
    assert "http" not in svg
    assert len(svg) < 10_000


def test_svg_ids_are_under_the_name_of_the_chart_and_resolve(charts: dict[str, Chart]) -> None:
    for chart in charts.values():
        root = ET.fromstring(to_svg(chart))
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(ids) == len(set(ids))
        assert all(one is not None and one.startswith(f"{chart.name}-") for one in ids)
        used = {m for e in root.iter() for v in e.attrib.values() for m in re.findall(r"#([\w-]+)", v)}
        assert used <= set(ids)
        assert used


def test_every_dot_knows_its_candidate(charts: dict[str, Chart]) -> None:
    root = ET.fromstring(to_svg(charts["progress"]))
    [path] = [e for e in root.iter() if e.get("class") == "dots"]
    spots = re.findall(r"M([\d.]+) ([\d.]+)h0", path.get("d", ""))
    ids = path.get("data-ids", "").split()
    layer = charts["progress"].layers[0]
    assert ids == [str(one) for one in layer.ids]
    # Places on the page are an affine image of the data: x rises with it, y falls.
    assert [float(x) for x, _ in spots] == sorted(float(x) for x, _ in spots)
    order = sorted(range(len(ids)), key=lambda i: layer.y[i])
    heights = [float(spots[i][1]) for i in order]
    assert heights == sorted(heights, reverse=True)


def test_output_is_deterministic_whatever_the_user_has_set(charts: dict[str, Chart], tmp_path: Path) -> None:
    import matplotlib

    first = to_svg(charts["params"])
    a = save_png(charts["params"], tmp_path / "a.png").read_bytes()
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "lines.linewidth": 9}):
        assert to_svg(charts["params"]) == first
        b = save_png(charts["params"], tmp_path / "b.png").read_bytes()
        assert matplotlib.rcParams["font.size"] == 30
    assert a == b
    assert a.startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["$\\frac{1}$", "<script>alert(1)</script>", "a\x00b\ud800c", "x" * 500, "名前 &amp;"])
def test_names_are_shown_as_they_are(charts: dict[str, Chart], name: str) -> None:
    chart = replace(charts["progress"], y_label=name, x_label=name, text=name)
    root = ET.fromstring(to_svg(chart))
    assert not [e for e in root.iter() if e.tag == "script"]


def test_scale_is_logarithmic_over_decades_of_positive_values() -> None:
    assert scale_for([1.0, 10.0, 1e5], UP).log
    assert not scale_for([1.0, 10.0, 500.0], UP).log
    assert not scale_for([-1.0, 10.0, 1e5], UP).log


def test_stragglers_on_the_bad_side_are_cut_and_counted() -> None:
    crowd = [10.0 + i / 50 for i in range(50)]
    scale = scale_for([*crowd, -4000.0], UP)
    assert scale.hidden == 1
    assert scale.low is not None
    assert -4000.0 < scale.low < 10.0
    assert scale_for([*crowd, 4000.0], UP) == Scale()  # the good side is never cut
    mirrored = scale_for([-v for v in [*crowd, -4000.0]], DOWN)
    assert mirrored.high == pytest.approx(-scale.low)
    assert mirrored.hidden == 1
    assert [scale.holds(value) for value in (-4000.0, scale.low, 4000.0)] == [False, True, True]
    assert [mirrored.holds(value) for value in (4000.0, mirrored.high, -4000.0)] == [False, True, True]
    assert Scale().holds(1e300)


def test_cut_points_are_not_drawn_and_the_rest_keep_their_ids() -> None:
    values = (*[10.0 + i / 50 for i in range(50)], -4000.0, 10.5)
    layer = Layer("dots", "dot", tuple(map(float, range(52))), values, "candidate", tuple(range(52)))
    chart = Chart("cut", "", "candidate", "dextr", "whole", (layer,), scale_for(values, UP))
    ids = re.search(r'data-ids="([^"]*)"', to_svg(chart))
    assert ids is not None
    assert ids[1].split() == [str(i) for i in range(52) if i != 50]


@pytest.mark.parametrize("values", [(), (1.0,), (2.0, 2.0), (0.0, -0.0), (1e-300, 1e300), (-1e300, 1e300)])
def test_odd_values_are_drawn(values: tuple[float, ...]) -> None:
    layers = (
        Layer("dots", "dot", tuple(map(float, range(len(values)))), values, "candidate", tuple(range(len(values)))),
        Layer("line", "best", tuple(map(float, range(len(values)))), values, "best so far"),
    )
    ET.fromstring(to_svg(Chart("odd", "", "candidate", "dextr", "whole", layers, scale_for(values, UP))))


def test_time_is_shown_in_a_fitting_unit() -> None:
    assert [time_unit(t)[1] for t in (5, 200, 20_000)] == ["seconds", "minutes", "hours"]


def test_latency_is_drawn_in_milliseconds_and_the_winner_in_the_ring() -> None:
    latency = Measure("latency", "lower", cost=True)
    info = Tradeoff(latency, (3, 4), (0.002, 0.004), (1.0, 2.0), (3, 4), None, 0.008, None)
    chart = tradeoff_chart("x", info, Measure("dextr"), winner=3)
    assert chart.x_label == "latency in ms"
    assert chart.layers[0].x == (2.0, 4.0)
    assert chart.lines == ((8.0, "limit 8 ms"),)
    (ring,) = (layer for layer in chart.layers if layer.kind == "ring")
    assert ring.x == (2.0,)
