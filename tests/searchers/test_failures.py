"""Candidates that fail: what they have in common, and a search that is given up."""

from __future__ import annotations

import json

import pytest
from tests.searchers.test_search import essence
from torch import nn

import foresee as fs
from foresee.errors import SearchError
from foresee.runs import read
from foresee.searchers.failures import hopeless, in_common, in_words, picks_of
from foresee.spaces import own

LOOK = {"data": "synthetic", "inputs": [3, 8, 8], "outputs": 4, "batch_size": 4, "seed": 1}


def text(**picks):
    return json.dumps(picks, sort_keys=True, separators=(",", ":"))


def test_when_going_on_is_pointless():
    assert not hopeless(19, 19)
    assert hopeless(19, 20)
    assert not hopeless(18, 20)
    assert hopeless(95, 100)
    assert not hopeless(94, 100)


def test_what_failed_ones_share_and_no_scored_one_has():
    failed = [{"depth": 9, "width": w, "act": "relu"} for w in (1, 2, 3)]
    assert in_common(failed, [{"depth": 3, "width": 2, "act": "relu"}]) == ["depth = 9"]
    assert in_common(failed, []) == ["depth = 9", 'act = "relu"']
    assert in_common([{"depth": d} for d in (7, 9)], [{"depth": d} for d in (1, 6)]) == ["depth ≥ 7"]
    assert in_common([{"depth": d} for d in (1, 2)], [{"depth": d} for d in (3, 6)]) == ["depth ≤ 2"]
    assert in_common([{"depth": 1}, {"width": 1}], []) == []
    assert in_common([{"bias": True}, {"bias": False}], [{"bias": True}]) == []


def test_in_words():
    failed = [(text(depth=9, width=w), "too deep") for w in (1, 2, 3)]
    scored = [text(depth=1, width=1)]
    assert in_words(failed, scored) == "3 of 4 candidates failed; all have depth = 9: too deep"
    mixed = [*failed, (text(depth=2, width=8), "other\nreason")]
    assert in_words(mixed, scored) == "4 of 5 candidates failed; 3 of these have depth = 9: too deep"
    assert (
        in_words([("|none~0|", "bad"), ("|skip~0|", "bad")], []) == "2 of 2 candidates failed; all for one reason: bad"
    )


@pytest.mark.parametrize("nonsense", ["", "|none~0|", "[1]", '{"a":[1]}', "[" * 9999])
def test_texts_of_other_spaces_have_no_picks(nonsense):
    assert picks_of(nonsense) == {}


def make(pick):
    """Nearly all of these fail: at the draw, when counted, or when they run."""
    depth = pick("depth", [1, *range(5, 100)])
    if pick("odd", [False, True]) and depth % 2 == 0:
        pick.reject("even")
    if depth > 50:
        raise RuntimeError("too deep")
    layers = [nn.Flatten(), nn.Linear(192 if depth == 1 else 7, 8)]
    return nn.Sequential(*layers, nn.ReLU(), nn.Linear(8, 4))


def go(**more):
    return fs.search(own(make), "synflow", "random", **{"evaluations": 60, **LOOK, **more})


def test_a_search_in_which_nearly_all_fail_is_given_up(tmp_path):
    with pytest.raises(
        SearchError, match=r"given up: \d+ of \d+ candidates failed; \d+ of these have depth ≥ \d\d: .*too deep"
    ):
        go(out=tmp_path / "a")
    record = read(tmp_path / "a")
    assert record.status == "failed"
    assert 20 <= len(record.candidates) < 40
    rows = [row for row in record.candidates if row.status == "failed"]
    assert {row.reason.split(":", 1)[0] for row in rows} == {
        "make failed", "the network does not take inputs of 3x8x8",
    }  # fmt: skip
    assert all(picks_of(row.architecture)["depth"] >= 5 for row in rows)
    with pytest.raises(SearchError, match="given up"):  # resumed, it gives up at the same place
        go(out=tmp_path / "a", resume=True)
    again = read(tmp_path / "a")
    assert essence(again)[:20] == essence(record)[:20]


def some(pick):
    if pick("depth", [1, 2, 3]) == 2:
        raise RuntimeError("two")
    width = pick("width", [4, 6, 8])
    if width % pick("heads", [1, 3, 4]):
        pick.reject("heads")
    return nn.Sequential(nn.Flatten(), nn.Linear(192, width), nn.ReLU(), nn.Linear(width, 4))


@pytest.mark.parametrize("limits", [(), (fs.budgets.params < 1500,)])
def test_one_that_cannot_be_built_is_a_failed_candidate_and_rejected_ones_are_none(tmp_path, limits):
    def interrupt(event):
        if event.kind in ("scored", "failed") and event.done >= 4:
            raise KeyboardInterrupt

    def go(name, **more):
        return fs.search(own(some), "synflow", "evolution", limits, evaluations=9, out=tmp_path / name, **LOOK, **more)

    run = go("whole")
    assert run.status == "finished"
    failed = [row for row in run.record.candidates if row.status == "failed"]
    assert [(row.architecture, row.reason) for row in failed] == (
        [] if limits else [('{"depth":2}', "some failed: RuntimeError: two")]
    )
    for row in run.record.candidates:
        picks = picks_of(row.architecture)
        assert row in failed or picks["width"] % picks["heads"] == 0
    [end] = [event.details for event in run.record.events if event.kind == "finished"]
    assert 0.1 < end["rejected"] < 0.7
    if limits:
        assert end["passed_over"] > 0
        assert end["reason"] == "BuildError: some failed: RuntimeError: two"
    with pytest.raises(KeyboardInterrupt):
        go("cut", observers=[interrupt])
    assert essence(go("cut", resume=True).record) == essence(run.record)
