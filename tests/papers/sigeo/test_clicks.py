"""SiGeo's tables and figures of click logs: every row has its place, and those that run here run."""

from __future__ import annotations

import pytest
from tests.papers.click_logs import TINY, shop

from foresee.papers import reproduce
from foresee.papers.clicks import Judged
from foresee.papers.numbers import published
from foresee.papers.sigeo.clicks import BY_HAND, METHODS, ONE, QUOTED, SHORT, SUB, ZERO
from foresee.recommenders import recommenders
from foresee.report.papers import figure


def test_every_printed_row_runs_here_or_is_quoted():
    for row in published("sigeo-table-5").rows:
        name, _, size = row.key.rpartition("-nasrec-")
        assert (
            row.key in QUOTED
            or (row.group == "hand-crafted" and BY_HAND[row.key] in recommenders)
            or (f"{row.group}/{name}" in METHODS and size in ("small", "full"))
        )
    first = published("sigeo-table-1")
    assert {row.address for row in first.rows} - set(SHORT) == {"one-shot/profit", "one-shot/autoctr"}
    fifth = published("sigeo-table-5")
    for row, long in SHORT.items():  # the printed table is the better of the two spaces
        for column in ("criteo:logloss", "avazu:logloss", "kdd2012:logloss"):
            both = [fifth.row(f"{long}-nasrec-{size}").values[column] for size in ("small", "full")]
            assert first.row(row).values[column] == min(both)


def test_table_5(tmp_path):
    rows = ["hand-crafted/dlrm", f"{ONE}/dnas", f"{SUB}/sigeo-nasrec-small", f"{ZERO}/zico-nasrec-full"]
    workshop = shop(tmp_path, rows=rows, table_settings={**TINY, "log": "criteo"}, cache=tmp_path / "scores.sqlite")
    page = reproduce("sigeo-table-5", workshop)
    cells = {(line.group, line.row, line.column): line for line in page.lines}
    assert 0.2 < cells["hand-crafted", "DLRM", "criteo:logloss"].ours.value < 1.5
    assert cells["hand-crafted", "DLRM", "criteo:logloss"].paper == 0.4436
    assert cells["hand-crafted", "DLRM", "avazu:logloss"].reason.startswith("the run looks at one log")
    assert "not asked for" in cells["hand-crafted", "DeepFM", "criteo:logloss"].reason
    assert "quoted only" in cells[ONE, "DNAS", "criteo:logloss"].reason
    found = cells[SUB, "SiGeo @ NASRec-Small", "criteo:auc"]
    assert 0 <= found.ours.value <= 1
    assert found.paper == 0.8117
    assert cells[SUB, "sigeo-nasrec-small", "search seconds"].ours.value > 0
    assert "not asked for" in cells[ZERO, "ZiCo @ NASRec-Full", "criteo:logloss"].reason
    assert "seconds" in cells[SUB, "SiGeo @ NASRec-Small", "search-cost"].reason
    assert all(line.agrees is None for line in page.lines)
    again = reproduce(
        "sigeo-table-5",
        shop(tmp_path, rows=rows[2:3], table_settings={**TINY, "log": "criteo"}, cache=tmp_path / "scores.sqlite"),
    )
    kept = {(line.group, line.row, line.column): line for line in again.lines}
    for key in ((SUB, "SiGeo @ NASRec-Small", "criteo:auc"), (SUB, "sigeo-nasrec-small", "search seconds")):
        assert kept[key].ours == cells[key].ours


def test_table_1_takes_the_better_space_by_validation(tmp_path, monkeypatch):
    made = {"small": Judged([0.5], [0.7], [3.0], validation=0.6), "full": Judged([0.55], [0.6], [4.0], validation=0.4)}
    monkeypatch.setattr("foresee.papers.sigeo.clicks.found", lambda workshop, method, size, own: made[size])
    page = reproduce("sigeo-table-1", shop(tmp_path, table_settings={"log": "criteo"}))
    cells = {(line.group, line.row, line.column): line for line in page.lines}
    assert cells["sub-one-shot", "SiGeo", "criteo:logloss"].ours.value == 0.55
    assert "quoted only" in cells["one-shot", "PROFIT", "criteo:logloss"].reason
    assert any("NASRec-Full is the better space" in note for note in page.notes)


def test_figure_3_has_a_point_for_each_way_to_search(tmp_path, monkeypatch):
    made = Judged([0.5, 0.6], [0.7, 0.6], [3.0, 5.0])
    monkeypatch.setattr("foresee.papers.sigeo.clicks.found", lambda *_: made)
    page = reproduce("sigeo-figure-3", shop(tmp_path))
    (scatter,) = page.scatters
    assert scatter.x == (4.0,) * len(METHODS)
    assert scatter.y == pytest.approx([0.55] * len(METHODS))
    assert {line.column for line in page.lines} == {"here:logloss", "here:auc", "search seconds"}


def test_figure_4_compares_the_terms_by_their_foremost(tmp_path):
    page = reproduce("sigeo-figure-4", shop(tmp_path))
    cells = {(line.row, line.column): line for line in page.lines}
    (scatter,) = page.scatters
    assert scatter.boxes == ("SiGeo", "ZiCo", "Fisher-Rao norm")
    assert scatter.x == (0.0, 0.0, 1.0, 1.0, 2.0, 2.0)
    assert cells["zico", "least"].ours.value == min(scatter.y[2:4])
    assert cells["fisher-rao", "median"].ours.value == pytest.approx(sum(scatter.y[4:]) / 2)
    labels = [text.get_text() for text in figure(scatter).axes[0].get_xticklabels()]
    assert labels == list(scatter.boxes)


def test_without_data_the_paper_stands_alone():
    page = reproduce("sigeo-table-5")
    assert page.empty == "not asked for in this run (--data)"
    assert all(line.ours is None for line in page.lines)
