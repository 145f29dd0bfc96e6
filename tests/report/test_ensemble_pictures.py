"""Pictures of an ensemble: the draws that were judged, calibration, the map, the cells."""

from __future__ import annotations

from dataclasses import replace

from tests.report.made_up_ensemble import made_up_ensemble

from foresee.report.ensemble_pictures import calibrations, cells, hover, predictions_map, tried
from foresee.report.predictions import Predictions


def _found(run):
    return Predictions.of(run.probabilities, run.labels)


def test_draws_stand_at_their_deltas_and_the_one_taken_has_a_ring() -> None:
    (drawn,) = tried(made_up_ensemble())
    dots, ring = drawn.chart.layers
    assert dots.x == (-2.0, -1.0, 0.0, 1.0)
    assert (ring.x, ring.y) == ((-1.0,), (1.0,))


def test_draws_of_one_delta_stand_in_their_order() -> None:
    run = made_up_ensemble()
    (drawn,) = tried(replace(run, selected={**run.selected, "deltas": [0.5] * 4}))
    assert drawn.chart.layers[0].x == (1.0, 2.0, 3.0, 4.0)
    assert tried(replace(run, selected={**run.selected, "tried": [1.0]})) == []


def test_calibration_has_a_line_for_each_and_one_for_all() -> None:
    (drawn,) = calibrations(_found(made_up_ensemble()))
    assert [layer.label for layer in drawn.chart.layers] == ["as sure as right", "members", "", "", "ensemble", ""]


def test_the_map_holds_the_ensemble_too() -> None:
    (drawn,) = predictions_map(_found(made_up_ensemble()))
    assert [len(layer.x) for layer in drawn.chart.layers] == [1, 3]
    assert predictions_map(_found(made_up_ensemble(members=1))) == []


def test_equal_cells_are_drawn_once() -> None:
    run = made_up_ensemble(members=4)  # the fourth is the first again
    drawn, colours = cells(run)
    assert [one["label"] for one in drawn] == ["Members 0, 3", "Member 1", "Member 2"]
    assert "nor_conv_3x3" in colours


def test_what_cannot_be_drawn_is_left_out() -> None:
    assert cells(made_up_ensemble("no cell"))[0] == []


def test_every_dot_is_told_of() -> None:
    run = made_up_ensemble()
    said = hover(run, _found(run))
    dots = [
        layer
        for drawn in (*tried(run), *calibrations(_found(run)), *predictions_map(_found(run)))
        for layer in drawn.chart.layers
    ]
    assert {one for layer in dots if layer.kind == "dots" for one in layer.ids} <= said.keys()
