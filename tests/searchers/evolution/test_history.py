"""Evolution over the whole history: ranks of several objectives, found anew."""

from __future__ import annotations

import math

from tests.searchers.driving import drive, made

import foresee as fs
from foresee.testing import SearcherSuite


class TestHistory(SearcherSuite):
    searcher = "history_evolution"
    settings = {"top": 4, "initial": 3}


def slowly(results):
    """The sum of log(rank / N), a rank counted by hand: 1 + how many are worse + half of those that are alike."""
    scores = {}
    for one in results:
        total = 0.0
        for place in range(len(one.merits)):
            worse = sum(other.merits[place] < one.merits[place] for other in results)
            alike = sum(other.merits[place] == one.merits[place] for other in results) - 1
            total += math.log((1 + worse + alike / 2) / len(results))
        scores[one.id] = total
    return scores


def merits(one):
    return float(one.ops.count("nor_conv_3x3")), -float(one.ops.count("none")), float(one.ops.count("skip_connect"))


def test_the_order_is_by_the_sum_of_the_logs_of_ranks():
    searcher = made("history_evolution", settings={"top": 3}, objectives=("params", "macs", "layers"))
    proposals, results = drive(searcher, merits)
    scores = slowly(results)
    ranked = searcher.state()["ranked"]
    assert ranked == sorted(scores, key=lambda id: (-round(scores[id], 9), id))
    assert searcher.chosen() == ranked[0]
    for proposal in proposals[11:]:
        before = slowly(results[: proposal.id])
        first = sorted(before, key=lambda id: (-round(before[id], 9), id))[:3]
        assert proposal.parent in {*first, None}


def test_what_it_chose_is_the_best_of_the_run(tmp_path):
    look = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 8}
    asked = {"space_settings": {"channels": 2, "cells": 1}, "objectives": ["naswot", "params"], **look}
    run = fs.search("nasbench201", ["naswot"], "history_evolution", evaluations=20, out=tmp_path / "run", **asked)
    rows = [row for row in run.record.candidates if row.merit is not None]
    told = [fs.searchers.Result(row.id, None, (row.objectives["naswot"], -row.objectives["params"])) for row in rows]
    scores = slowly(told)
    assert run.record.best.id == run.best.details["id"] == max(scores, key=lambda id: (round(scores[id], 9), -id))
    assert run.record.best.id != run.record.scored[0].id  # the best by the first objective alone is another
    longer = fs.search(
        "nasbench201", ["naswot"], "history_evolution", evaluations=30, out=tmp_path / "run", resume=True, **asked
    )
    assert longer.record.chosen is not None
    assert [event.candidate for event in longer.record.events if event.kind == "chosen"][-1] == longer.record.best.id
