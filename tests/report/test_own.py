"""The report of a run over the user's own code: with pictures, picks and importance, also where the code is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.conftest import HOSTILE
from torch import nn

import foresee as fs
from foresee.report import render
from foresee.report.info import summarise
from foresee.report.own import kept_drawings, own_page, rows
from foresee.runs.record import EventRow
from foresee.spaces.own.boxes import Drawing

LOOK = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 4}


def make_net(pick):
    width = pick("width", [4, 8, 16])
    layers = [nn.Conv2d(3, width, 3), nn.ReLU()]
    for _ in range(pick.int("depth", 1, 4)):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * 36, 4))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fs.search(make_net, "synflow", "random", evaluations=12, out=tmp_path_factory.mktemp("runs") / "r", **LOOK)


def test_a_search_keeps_the_pictures_of_its_best(run):
    kept = kept_drawings(run.record)
    assert list(kept) == [row.id for row in run.record.scored[:5]]
    best = kept[run.record.best.id]
    assert isinstance(best, Drawing)
    assert (
        sum(box.params * best.times(place) for place, box in enumerate(best.boxes)) == run.record.best.counts["params"]
    )


def test_the_report_has_them_without_the_code(run):
    text = render(fs.Run.open(run.folder).record, run.folder)
    assert text.count('<svg class="net"') == 5
    assert "could not be loaded" not in text
    for part in ('id="network"', 'id="picks"', "Runners-up", "Which picks moved the score", "Conv2d 3×3", "<mark>"):
        assert part in text
    assert 'class="box op0 same"' in text or 'same"><title>' in text


def test_the_same_run_has_the_same_pictures_when_resumed(run):
    again = fs.search(make_net, "synflow", "random", evaluations=12, out=run.folder, resume=True, **LOOK)
    assert [e for e in again.record.events if e.kind == "drawn"] == [e for e in run.record.events if e.kind == "drawn"]


def test_an_old_run_is_drawn_when_the_space_is_named(run):
    bare = replace(run.record, events=tuple(event for event in run.record.events if event.kind != "drawn"))
    text = render(bare, run.folder)
    assert "the run has kept none, and a report runs no code; name the space (--space) to have it drawn" in text
    assert '<svg class="net"' not in text
    assert render(bare, run.folder, fs.spaces.own(make_net)).count('<svg class="net"') == 5


def test_a_network_that_cannot_be_drawn_says_why(run):
    def other(pick):
        make_net(pick)
        return nn.Linear(7, 7)

    bare = replace(run.record, events=())
    assert "No picture: RuntimeError" in render(bare, run.folder, fs.spaces.own(other))


def test_kept_pictures_are_read_with_care(run):
    events = [EventRow(0.0, "drawn", row.id, {"drawing": {"boxes": [{"title": HOSTILE}], "lines": [[0, 9]], "repeats": []}})
              for row in run.record.scored[:2]]  # fmt: skip
    events.append(EventRow(0.0, "drawn", run.record.scored[2].id, {"reason": HOSTILE}))
    text = render(replace(run.record, events=tuple(events)), run.folder)
    assert "this is no drawing of a network" in text
    assert "<img" not in text


def test_picks_side_by_side():
    table = rows([{"depth": 2, "act": "relu"}, {"depth": 3, "act": "relu", "rate": 0.123456}])
    assert [(row.name, row.cells) for row in table] == [
        ("depth", (("2", False), ("3", True))),
        ("act", (("relu", False), ("relu", False))),
        ("rate", (("–", False), ("0.1235", True))),
    ]


def test_few_candidates_are_not_judged(run):
    few = replace(run.record, candidates=run.record.candidates[:4])
    info = summarise(few)
    page = own_page(few, info, info.entries[:2])
    assert page.importance == ()
    assert page.silence == "4 scored candidates are too few to say: at least 10 are needed."


def test_other_runs_have_no_such_page(run):
    registered = replace(run.record, settings={**run.record.settings, "space": "nasbench201"})
    info = summarise(registered)
    assert own_page(registered, info, info.entries[:2]) is None
    empty = replace(run.record, candidates=())
    assert own_page(empty, summarise(empty), ()) is None


def test_how_a_search_was_given_up_is_told(run):
    why = "the search was given up: 19 of 20 candidates failed; all have depth = 9: too deep"
    failed = replace(run.record, status="failed", events=(EventRow(0.0, "failed", None, {"reason": why}),))
    text = render(failed, run.folder)
    assert why[1:] in text
    assert "line-resume" not in text
    cut = replace(failed, events=(EventRow(0.0, "failed", None, {"reason": "disk full"}),))
    assert "line-resume" in render(cut, run.folder)


def test_rejected_and_passed_over_draws_are_told(run):
    ends = {"acceptance": 0.5, "rejected": 0.25, "passed_over": 3, "reason": "BuildError: too deep"}
    text = render(replace(run.record, events=(EventRow(0.0, "finished", None, ends),)), run.folder)
    assert "25 % of all draws were rejected by the space itself" in text
    assert (
        "3 draws could not be drawn or counted and were passed over, the last because of BuildError: too deep." in text
    )
