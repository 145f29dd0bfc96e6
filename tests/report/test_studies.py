"""The page of a study of cells."""

from __future__ import annotations

from dataclasses import replace

from tests.report.made_up_study import made_up

from foresee.insight.trained import TrainedStudy
from foresee.report.studies import render, tell, write


def test_what_is_told():
    told = tell(made_up())
    assert told.headline == "Wider cells have learnt more after 20 steps at rate 0.025"
    assert tell(made_up(slope=0.5)).headline.startswith("Wider cells have learnt less")
    assert tell(made_up(slope=0.0)).headline.startswith("Too few cells to say")
    assert any("diverged" in note and "DEEP" in note for note in told.notes)
    assert dict(told.facts)["Cells"].startswith("11: the cell, 8 connected otherwise, 2 of other operations")
    rows = {cell.name: values for cell, _, values in told.rows}
    assert rows["DEEP"][2] == "diverged, 3 of 3"
    assert rows["DARTS_V2"][0] == "9.25 ± 0.00082"
    assert {(shape, words) for shape, words, _ in told.surroundings} >= {("width", "largest eigenvalue")}
    assert len(told.effects) == 16


def test_three_cells_and_one_seed_say_nothing_for_sure():
    told = tell(made_up(variants=2, seeds=1, rates=(0.025,)))
    assert told.headline == "Too few cells to say what their shape has to do with learning"
    assert {cell.name: values for cell, _, values in told.rows}["DARTS_V2"][0] == "9.25"  # nothing to spread over


def test_a_page():
    found = made_up()
    html = render(found)
    assert "Cells that span the widths" in html
    assert html.count('class="map"') == 6
    assert all(cell.name in html for cell in found.study.cells)


def test_a_study_of_little(tmp_path):
    """One variant, one seed, no landscape: what cannot be said is not."""
    small = made_up(variants=1, seeds=1, rates=(0.025,))
    html = write(tmp_path, TrainedStudy(small.study)).read_text()
    assert "Too few cells" in html
    assert "Fewer than 3 seeds" in html
    assert 'class="map"' not in html
    lost = [replace(one, steps=(), loss=(), val_loss=(), val_accuracy=(), reason="x") for one in small.study.curves]
    assert "Too few cells" in render(TrainedStudy(replace(small.study, curves=tuple(lost))))
