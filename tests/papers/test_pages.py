"""Pages: what is shown of a table with and without a workshop, and what is written."""

from __future__ import annotations

import csv
import json

from foresee.papers import base
from foresee.papers.base import names, reproduction
from foresee.papers.cells import Cell, Scatter
from foresee.papers.pages import reproduce
from foresee.statistics import Estimate


def test_every_name_can_be_shown_without_a_workshop():
    for name in names():
        page = reproduce(name)
        assert page.caption
        assert all(one.ours is None for one in page.lines), "ours is empty unless computed in this run"
        assert all(one.reason for one in page.lines)
        assert page.verdict == "nothing computed in this run"


def test_a_page_is_written_as_json_and_csv(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "reproductions", dict(base.load_all()))
    seen = []

    @reproduction("dextr-figure-99", caption="nothing much")
    def one(workshop):
        yield Cell("a", "b", Estimate(1.0, 0.5, 1.5, 3))
        yield Cell.missing("c", "b", "no table")
        yield Scatter("dots", "some dots", "x", "y", (1.0,), (3.0,))

    class Shop:
        notes, rows, table_settings = ["by hand"], (), {}

        def settings(self):
            return {"seed": 3}

    page = reproduce("dextr-figure-99", Shop(), on_found=seen.append)
    assert len(seen) == 3
    assert [path.name for path in page.write(tmp_path / "new")] == ["dextr-figure-99.json", "dextr-figure-99.csv"]
    plain = json.loads((tmp_path / "new/dextr-figure-99.json").read_text())
    assert plain["settings"] == {"seed": 3}
    assert plain["notes"] == ["by hand"]
    assert plain["figures"][0]["y"] == [3.0]
    with (tmp_path / "new/dextr-figure-99.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["ours"], row["reason"]) for row in rows] == [("a", "1.0", ""), ("c", "", "no table")]
