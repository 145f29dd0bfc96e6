"""Elitist evolution: it begins at the start of its space, and the worst leave."""

from __future__ import annotations

import heapq

from tests.searchers.driving import drive, made

from foresee.testing import SearcherSuite


class TestElitist(SearcherSuite):
    searcher = "elitist_evolution"
    settings = {"population": 6, "initial": 3}


def test_the_worst_leave_however_young():
    searcher = made("elitist_evolution", settings={"population": 8, "initial": 4})
    proposals, results = drive(searcher)
    for proposal in proposals[5:]:
        alive = heapq.nlargest(8, results[: proposal.id], key=lambda result: (result.merit, -result.id))
        assert proposal.parent in {result.id for result in alive} | {None}
    final = heapq.nlargest(8, results, key=lambda result: (result.merit, -result.id))
    assert sorted(id for _, id in searcher.state()["alive"]) == sorted(result.id for result in final)


def test_it_begins_with_mutations_of_the_initial_network():
    searcher = made("elitist_evolution", space="mobilenet", settings={"initial": 10})
    proposals, _ = drive(searcher, merit=lambda one: float(one.layers), evaluations=14)
    start = searcher.space.start
    for proposal in proposals[:11]:
        assert proposal.parent is None
        changed = [a for a, b in zip(start.blocks, proposal.architecture.blocks, strict=False) if a.kind != b.kind]
        assert len(changed) <= 1  # one block was drawn anew
    assert all(proposal.parent is not None for proposal in proposals[11:])


def test_children_are_as_far_away_as_asked_for():
    def changes(mutations):
        searcher = made("elitist_evolution", 60, settings={"mutations": mutations})
        proposals, _ = drive(searcher, merit=lambda one: 0.0)
        made_from = {p.id: p.architecture.ops for p in proposals}
        pairs = [(p.architecture.ops, made_from[p.parent]) for p in proposals if p.parent is not None]
        return max(sum(a != b for a, b in zip(*pair, strict=True)) for pair in pairs)

    assert changes(1) == 1
    assert changes(3) == 3
