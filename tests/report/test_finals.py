"""The finals on a page and in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.conftest import HOSTILE
from tests.report.test_html import Page

from foresee.report.finals import finals_page, in_words, why_none
from foresee.report.html import render
from foresee.report.info import summarise
from foresee.runs.record import EventRow


@pytest.fixture
def with_finals(make_record, follow):
    """A made-up run whose best three were scored again: `values` are theirs, in the order of the search."""

    def made(values, reason=""):
        record = follow(make_record(30, failures=0.0), "dextr")
        events = [
            EventRow(0.0, "finalist", row.id, {"number": number, "seed": 1, "value": value, "reason": reason})
            for row, own in zip(record.scored, values, strict=False)
            for number, value in enumerate(own)
        ]
        asked = {"finalists": len(values), "finalist_seeds": len(values[0])}
        return replace(record, events=(*record.events, *events), settings={**record.settings, **asked})

    return made


def test_the_winner_of_the_finals_is_the_answer_and_both_are_named(with_finals):
    record = with_finals([[1.0, 1.1, 0.9], [3.0, 3.1, 2.9], [2.0, 2.1, 1.9]])
    first, second = record.scored[:2]
    info = summarise(record)
    assert info.best.id == second.id == record.best.id
    assert [row.entry.id for row in finals_page(info).rows][:2] == [second.id, record.scored[2].id]
    text = Page(render(record)).text
    assert "The first is ahead of the second: by 1 [1, 1], seed by seed." in text
    assert f"The search itself, under its own seed, had candidate {first.id} first" in text
    assert f"Candidate {second.id}" in text


def test_a_lead_that_may_be_luck_is_said(with_finals):
    record = with_finals([[5.0, 3.0, 4.0], [4.0, 3.5, 4.1]])
    text = Page(render(record)).text
    assert "not told apart" in text
    assert "The search itself" not in text
    assert "[−" in text


def test_one_that_failed_shows_its_reason_as_text(with_finals):
    record = with_finals([[5.0, 3.0, 4.0], [None, 3.5, 4.1]], HOSTILE)
    page = Page(render(record))
    assert "under 1 of 3 seeds" in page.text
    assert HOSTILE in page.text
    assert in_words(record.finals, {row.id: row.merit for row in record.scored})


def test_without_finals_the_page_is_silent_or_says_why(make_record, follow):
    record = make_record(20)
    assert finals_page(summarise(record)) is None
    assert why_none(record) == ""
    several = follow(make_record(20, proxies=("dextr", "synflow")), "dextr", "synflow")
    several = replace(several, settings={**several.settings, "finalists": 5})
    assert "with several objectives there is a front" in Page(render(several)).text
