"""Reproductions: found by name, found in a file that nobody has named, and what registering one asks for."""

from __future__ import annotations

import sys

import pytest

from foresee import papers
from foresee.errors import InputError, UnknownNameError
from foresee.papers import base
from foresee.papers.base import find, load_all, names, reproduction
from foresee.papers.cells import Cell, Scatter
from foresee.papers.pages import reproduce
from foresee.statistics import Estimate


def test_unknown_names_get_suggestions():
    with pytest.raises(UnknownNameError, match="dextr-table-1"):
        find("dextr-table1")


def test_registering(monkeypatch):
    monkeypatch.setattr(base, "reproductions", dict(base.load_all()))

    with pytest.raises(InputError, match="say what it shows"):
        reproduction("dextr-figure-99")(lambda workshop: iter(()))
    with pytest.raises(InputError, match="already"):
        reproduction("dextr-table-1")(lambda workshop: iter(()))

    with pytest.raises(InputError, match="say which it is"):
        reproduction("unheard-figure-1", caption="nothing much")(lambda workshop: iter(()))

    @reproduction("dextr-figure-99", also=("dextr-figure-98",), caption="nothing much")
    def both(workshop):
        """How it is done."""
        yield Cell("a", "b", Estimate(1.0, 0.5, 1.5, 3))
        yield Scatter("dots", "some dots", "x", "y", (1.0, 2.0), (3.0, 4.0))

    assert find("dextr-figure-98")[1].how == "How it is done."
    assert find("dextr-figure-98")[0] is None
    assert {"dextr-figure-98", "dextr-figure-99"} <= set(names())
    assert find("dextr-figure-99")[1].document.startswith("Asthana")


def test_settings_of_a_table_are_checked_before_any_work(monkeypatch):
    monkeypatch.setattr(base, "reproductions", dict(base.load_all()))
    usual = {"steps": 9, "lr": 0.1, "levels": (0, 10), "way": "alone"}

    @reproduction("dextr-figure-97", caption="nothing much", settings=usual)
    def figure(workshop):
        own = workshop.own(usual)
        yield Cell("a", "b", Estimate(own["steps"] * own["lr"]))

    def value(**said):
        workshop = papers.Workshop(table_settings=said)
        return reproduce("dextr-figure-97", workshop).lines[0].ours.value, workshop.notes

    assert value() == (pytest.approx(0.9), [])
    assert value(steps=9) == (pytest.approx(0.9), [])
    assert value(steps=2, lr=1) == (
        2,
        ["other settings: steps = 2 where it usually is 9, lr = 1 where it usually is 0.1"],
    )
    for said, words in (
        ({"step": 2}, "did you mean steps"),
        ({"steps": "two"}, "expected something like 9"),
        ({"steps": True}, "expected something like 9"),
        ({"levels": 3}, r"expected something like \(0, 10\)"),
        ({"way": 3}, "expected something like alone"),
    ):
        with pytest.raises(InputError, match=words):
            value(**said)
    with pytest.raises(UnknownNameError):  # a table without settings has none to be said
        reproduce("dextr-table-7", papers.Workshop(table_settings={"steps": 1}))


def test_a_new_paper_is_one_new_file(tmp_path, monkeypatch):
    (tmp_path / "unheard.py").write_text(
        """
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell
from foresee.statistics import Estimate


@reproduction("unheard-figure-1", caption="half of everything", document="Nobody, Unheard of, 2031")
def figure_1(workshop):
    yield Cell("all", "half", Estimate(0.5, 0.4, 0.6, 3))
"""
    )
    monkeypatch.setattr(base, "reproductions", dict(load_all()))
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    try:
        assert "unheard-figure-1" in names()
        page = reproduce("unheard-figure-1", papers.Workshop())
    finally:
        sys.modules.pop("foresee.papers.unheard", None)
        vars(papers).pop("unheard", None)
    assert page.to_json()["document"] == "Nobody, Unheard of, 2031"
    assert [line.ours.value for line in page.lines] == [0.5]
