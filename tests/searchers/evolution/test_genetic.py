"""Mutations and crossovers of the best few, generation by generation."""

from __future__ import annotations

import pytest
from tests.searchers.driving import drive, made

from foresee.errors import InputError
from foresee.testing import SearcherSuite


class TestGenetic(SearcherSuite):
    searcher = "genetic"
    settings = {"population": 6, "parents": 3, "mutations": 2, "crossovers": 2}


def test_a_generation_is_mutations_crossovers_and_draws():
    settings = {"population": 10, "parents": 4, "mutations": 3, "crossovers": 4}
    proposals, results = drive(made("genetic", settings=settings))
    ops = {proposal.id: proposal.architecture.ops for proposal in proposals}
    for begin in range(10, 50, 10):
        best = sorted(results[:begin], key=lambda result: (-result.merit, result.id))[:4]
        first = {result.id for result in best}
        for proposal in proposals[begin : begin + 3]:
            assert proposal.parent in first
            assert sum(a != b for a, b in zip(ops[proposal.id], ops[proposal.parent], strict=True)) <= 2
        options = [{result.architecture.ops[edge] for result in best} for edge in range(6)]
        crossed = proposals[begin + 3 : begin + 7]
        assert {proposal.parent for proposal in crossed} <= {*first, None}
        pure = [p for p in crossed if all(op in options[edge] for edge, op in enumerate(ops[p.id]))]
        # later the best are so alike that they have no new children without a mutation
        assert pure == crossed or begin > 10
        assert all(proposal.parent is None for proposal in proposals[begin + 7 : begin + 10])


def test_no_more_children_than_there_is_room():
    with pytest.raises(InputError, match="together they cannot be more than the population of 8"):
        made("genetic", settings={"population": 8, "mutations": 5, "crossovers": 4})
