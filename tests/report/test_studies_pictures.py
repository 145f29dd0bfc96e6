"""Charts of a study of cells."""

from __future__ import annotations

from tests.report.made_up_study import made_up

from foresee.report.studies import tell
from foresee.report.studies_pictures import curves, scales, shapes


def test_curves_and_their_spread():
    found = made_up()
    roles = {"DARTS_V2": "series-0", "WIDE": "series-1"}
    loss, accuracy = curves(found.study, 0.025, roles)
    named = [layer.label for layer in loss.chart.layers if layer.label]
    assert named == ["the other cells", "DARTS_V2 (3.5c, 3)", "WIDE (4c, 2)"]
    bars = next(layer for layer in loss.chart.layers if layer.kind == "bars")
    assert bars.to[0] > bars.y[0]
    assert loss.chart.scale.log
    assert not accuracy.chart.scale.log
    assert max(accuracy.chart.layers[-1].y) == 30
    assert [chart.heading for chart in curves(found.study, 0.25, roles)] == [
        "Validation loss, rate 0.25",
        "Validation accuracy in %, rate 0.25",
    ]


def test_shapes_and_cells():
    found = made_up()
    by_width, by_depth = shapes(found)
    assert [layer.label for layer in by_width.chart.layers] == ["the cell's own operations", "other operations"]
    assert "Spearman −1.000" in by_width.note
    assert by_depth.heading == "Loss by depth"
    shown = tell(found).shown
    widths = [one.cell.width for one in shown]
    assert len(shown) >= 3
    assert max(widths) - min(widths) >= 2
    assert "<svg" in shown[0].picture
    assert dict(shown[0].facts)["Loss in the centre"] == "1"
    assert "8 samples" in scales(found)[0]
