"""Batch-wise evolution: one parent to a generation, mutations that grow weaker, and the history."""

from __future__ import annotations

from tests.searchers.driving import drive, made

from foresee.testing import SearcherSuite


class TestBatches(SearcherSuite):
    searcher = "batch_evolution"
    settings = {"population": 6, "sample": 3, "children": 4}
    evaluations = 18


def test_mutations_grow_weaker_as_published():
    searcher = made("batch_evolution", 128 + 8 * 240)
    assert [searcher.strength(1), searcher.strength(2), searcher.strength(240)] == [6, 5, 1]
    assert all(searcher.strength(one) >= searcher.strength(one + 1) for one in range(1, 240))
    short = made("batch_evolution", 128 + 8 * 30)
    assert (short.strength(1), short.strength(10), short.strength(12)) == (2, 2, 1)


def test_a_generation_has_one_parent_the_best_of_those_drawn():
    settings = {"population": 10, "sample": 10, "children": 4}
    searcher = made("batch_evolution", 42, settings=settings)
    proposals, results = drive(searcher)
    for begin in range(10, 42, 4):
        alive = results[begin - 10 : begin]  # the oldest are gone
        best = max(alive, key=lambda result: (result.merit, -result.id))
        assert {proposal.parent for proposal in proposals[begin : begin + 4]} <= {best.id, None}
        assert searcher.told_before(begin) == searcher.told_before(begin + 3) == begin


def test_the_history_is_the_best_two_of_each_generation():
    searcher = made("batch_evolution", 26, settings={"population": 10, "sample": 5, "children": 4})
    _, results = drive(searcher)
    expected = []
    for begin in range(10, 26, 4):
        expected += sorted(results[begin : begin + 4], key=lambda result: (-result.merit, result.id))[:2]
    assert searcher.state()["history"] == [result.id for result in expected]
    assert searcher.chosen() == max(expected, key=lambda result: (result.merit, -result.id)).id
    assert searcher.phase(9) == "generation 1 of 5"
    assert searcher.phase(10) == "generation 2 of 5"
