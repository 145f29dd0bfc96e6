"""Pictures of samplers compared."""

from __future__ import annotations

from dataclasses import replace

from tests.report.made_up_ensemble import made_up_comparison, made_up_ensemble

from foresee.report.ensembles_pictures import charts, histogram, map_of


def test_one_colour_for_each_sampler_everywhere() -> None:
    found = made_up_comparison()
    roles = {layer.label: layer.role for drawn in charts(found) for layer in drawn.chart.layers if layer.label}
    assert roles == {"svgd_rd": "series-0", "uniform": "series-1", "deep:ResNet": "series-2"}


def test_members_that_are_all_alike_have_no_histogram() -> None:
    found = made_up_comparison()
    flat = tuple(
        replace(one, measures={"test": {**one.measures["test"], "members": [0.5, 0.5]}}) if one.ok else one
        for one in found.rows
    )
    assert histogram(replace(found, rows=flat), ["svgd_rd", "uniform"]) == []


def test_the_map_holds_all_samplers_of_the_first_seed() -> None:
    found = made_up_comparison()
    run = made_up_ensemble()
    (drawn,) = map_of(found, [("svgd_rd", 0, run), ("uniform", 0, run), ("svgd_rd", 1, run)])
    assert [(layer.label, layer.role, len(layer.x)) for layer in drawn.chart.layers] == [
        ("svgd_rd", "series-0", 3),
        ("uniform", "series-1", 3),
    ]


def test_other_test_samples_are_not_put_on_one_map() -> None:
    found, run = made_up_comparison(), made_up_ensemble()
    (drawn,) = map_of(found, [("svgd_rd", 0, run), ("uniform", 0, made_up_ensemble(seed=5))])
    assert [layer.label for layer in drawn.chart.layers] == ["svgd_rd"]
