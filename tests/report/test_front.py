"""Networks to pick from: the ends, the knee, and some between; and how the front was filled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from foresee.report.front import PICKS, filled_chart, picks
from foresee.report.info import summarise
from foresee.runs.record import Record

Make = Callable[..., Record]


@pytest.mark.parametrize("names", [("dextr", "params"), ("dextr", "params", "synflow")])
def test_picks_are_the_ends_the_knee_and_some_between(make_record: Make, follow: Make, names: tuple[str, ...]) -> None:
    record = follow(make_record(300, proxies=("dextr", "synflow")), *names)
    info = summarise(record)
    found = picks(info)
    unlike = {entry.identity for entry in info.entries if entry.id in info.front}
    assert len(found) == min(PICKS, len(unlike))
    assert [pick.entry.rank for pick in found] == sorted(pick.entry.rank for pick in found)
    words = {pick.entry.id: pick.words for pick in found}
    on_front = [entry for entry in info.entries if entry.id in info.front]
    for one in info.objectives:
        best = max(on_front, key=lambda entry: one.sign * entry.objectives[one.name])
        assert one.name in words[best.id]
    assert record.knee is not None
    assert "the knee" in words[record.knee.id]
    assert info.filled[-1][1] == pytest.approx(max(share for _, share in info.filled))


def test_copies_of_a_network_are_shown_once(make_record: Make, follow: Make) -> None:
    record = follow(make_record(40, failures=0.0), "dextr", "params")
    chosen = record.front[0]
    copy = replace(chosen, id=900)
    info = summarise(replace(record, candidates=(*record.candidates, copy)))
    assert 900 in info.front
    assert 900 not in [pick.entry.id for pick in picks(info)]


def test_one_objective_has_no_front_to_pick_from(make_record: Make, follow: Make) -> None:
    info = summarise(follow(make_record(40), "dextr"))
    assert picks(info) == ()
    assert info.knee is None
    assert info.filled == ()


def test_the_chart_is_in_percent_and_says_the_end() -> None:
    chart = filled_chart("filled", [(0, 0.0), (3, 0.25), (4, 0.5)])
    assert (chart.layers[0].x, chart.layers[0].y) == ((0.0, 3.0, 4.0), (0.0, 25.0, 50.0))
    assert "50 %" in chart.text
