"""Searches that train, in the papers' tables: rows of NAS-Bench-201, and NASI's Figure 2 over the epochs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.papers.test_searches import made_up, workshop

import foresee.papers.one_shot_searches as tables_of
from foresee.benchmarks import save
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import MEAN
from foresee.papers import reproduce
from foresee.papers.hnas_searches import table, trained
from foresee.papers.nasi_searches import searched
from foresee.papers.searches import picks
from foresee.spaces import get

TINY = {"epochs": 2, "batches": 1, "batch": 4, "crop": 0, "one_shot": {"channels": 2, "cells": 1}}
SMALLER = {
    **dict.fromkeys(("darts_1st", "darts_2nd", "gdas"), TINY),
    "enas": {**TINY, "controller_steps": 1, "draws": 3, "followed": 2},
}
COLUMN = "nasbench201-cifar10"
CONVOLUTIONS = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|"
ON_1SHOT1 = {"channels": 2, "cells": 3}


def a_few_cells(folder, every):
    """Some cells of NAS-Bench-1Shot1's second space, with accuracies that are the count of 3x3 convolutions."""
    collector, space = Collector("made up", "nasbench1shot1_s2"), get("nasbench1shot1_s2", loose_ends="trimmed")
    for place, cell in enumerate(list(space.enumerate())[::every]):
        collector.new(str(cell))
        collector.measure(place, 90.0 + str(cell).count("conv3x3"), "test_acc", "cifar10", 108, MEAN)
    save(collector.table(), folder / "s2.npz")
    return folder


def holding(folder, texts):
    """A table of NAS-Bench-201 that holds these cells and two others."""
    collector = Collector("made up", "nasbench201")
    for place, text in enumerate(dict.fromkeys([*texts, CONVOLUTIONS, CONVOLUTIONS.replace("3x3", "1x1")])):
        collector.new(text)
        collector.measure(place, made_up(text), "test_acc", "cifar10", 200, MEAN)
    folder.mkdir(exist_ok=True)
    save(collector.table(), folder / "nb201.npz")
    return folder


def test_rows_of_the_thesis_are_lookups_of_what_was_picked_without_a_table(tmp_path):
    """The same picks whatever the table holds; where it holds them, their accuracies are the cells."""
    first = workshop(holding(tmp_path / "empty", []), searcher_settings=SMALLER)
    rows = trained(first, COLUMN)
    assert set(rows) == {"enas", "darts-1st", "darts-2nd", "gdas"}
    assert all(not row.sees for row in rows.values())
    assert any("one-shot searches at a reduced size" in note for note in first.notes)
    some = {name: rows[name] for name in ("gdas", "enas")}
    texts = {name: picks(first, COLUMN, row.searcher, row.settings).texts[0] for name, row in some.items()}
    where = workshop(holding(tmp_path / "full", texts.values()), searcher_settings=SMALLER)
    found = {(one.row, one.column): one for one in table(where, some)}
    for row, text in texts.items():
        assert found[row, COLUMN].estimate.value == made_up(text)
        assert "cifar100" in found[row, "nasbench201-cifar100"].reason
    cell = searched(where, "gdas", COLUMN, {}, error=False, searcher="gdas")
    assert cell.estimate.value == made_up(texts["gdas"])


def test_what_each_epoch_would_have_picked_is_judged_too(tmp_path):
    first = picks(workshop(holding(tmp_path / "empty", []), searcher_settings=SMALLER), COLUMN, "darts_1st", {})
    named = [row.outcome["architecture"] for row in first.runs[0].record.steps]
    assert len(named) == 2
    assert first.texts == named[1:]
    where = workshop(holding(tmp_path / "last", named[1:]), searcher_settings=SMALLER)
    (values,) = picks(where, COLUMN, "darts_1st", {}).over_steps
    assert values[1] == made_up(named[1])
    assert np.isnan(values[0]) == (named[0] != named[1])


@pytest.mark.slow
def test_figure_2_over_the_epochs_with_the_share_that_no_table_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(tables_of, "FIGURE", ("random", "gdas"))
    tiny = {**TINY, "one_shot": ON_1SHOT1, "epochs": 3}
    settings = {"gdas": tiny, "rsps": {**tiny, "draws": 4}, "nasi": {"steps": 2, "batch": 4, "one_shot": ON_1SHOT1}}
    where = workshop(a_few_cells(tmp_path, 3), searcher_settings=settings, repeats=3)
    page = reproduce("nasi-figure-2", where)
    for curve in page.scatters:
        assert "of the picks are not in the table" in curve.text
        assert set(curve.x) <= {1.0, 2.0, 3.0}
        assert all(0 <= error <= 10 for error in curve.y)
    names = {curve.name for curve in page.scatters}
    assert names <= {f"{row}-nasbench1shot1-s2" for row in ("random", "gdas", "nasi")}
    assert len(names) >= 2


def test_a_search_without_a_score_is_a_missing_cell_with_its_reason(tmp_path, monkeypatch):
    from foresee.scoring.scorer import Scored, Scorer

    monkeypatch.setattr(Scorer, "__call__", lambda self, job: [Scored(error="no memory") for _ in job.texts])
    where = workshop(holding(tmp_path, []), searcher_settings=SMALLER)
    cell = searched(where, "gdas", COLUMN, {}, error=False, searcher="gdas")
    assert (cell.estimate, cell.reason) == (None, "no candidate of the search has a score: no memory")


def test_a_curve_leaves_out_what_no_table_holds():
    errors = np.array([[6.0, np.nan, 4.0], [8.0, np.nan, np.nan]])
    (line,) = tables_of.curve("mine", errors)
    assert line.x == (1.0, 3.0)
    assert line.y == (7.0, 4.0)
    assert line.bars == (1.0, 0.0)
    assert "50% of the picks are not in the table" in line.text
    assert list(tables_of.curve("mine", np.full((2, 2), np.nan))) == []
