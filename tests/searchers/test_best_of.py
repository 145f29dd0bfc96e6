"""The best of many: only the foremost of the pool are evaluated."""

from __future__ import annotations

import pytest
from tests.searchers.driving import LOOK, SMALL, drive, made

import foresee as fs
from foresee.errors import InputError
from foresee.testing import SearcherSuite


class TestBestOf(SearcherSuite):
    searcher = "best_of"
    settings = {"pool": 20}
    interruptions = (1, 2, 5)


def test_the_best_of_the_pool_come_in_order():
    searcher = made("best_of", 10, settings={"pool": 150, "proxy": "macs"})
    proposals, _ = drive(searcher)
    macs = [proposal.costs["macs"] for proposal in proposals]
    assert macs == sorted(searcher._pool.merits, reverse=True)[:10]


def test_only_those_are_measured_that_it_proposes():
    asked = []

    def measured(texts):
        asked.extend(texts)
        return [float(text.count("nor_conv_1x1")) for text in texts]

    run = fs.search(
        "nasbench201", ["params"], "best_of", evaluations=3, objectives=["measured"], measured=measured,
        searcher_settings={"pool": 60}, space_settings=SMALL, **LOOK,
    )  # fmt: skip
    assert asked == [row.architecture for row in run.record.candidates]
    assert len(asked) == 3
    assert sum(len(step.outcome["architectures"]) for step in run.record.steps) == 60
    assert {step.kind for step in run.record.steps} == {"pool"}


def test_a_pool_is_not_smaller_than_what_is_evaluated():
    with pytest.raises(InputError, match=r"best_of.pool = 5: 10 evaluations want a pool of at least as many"):
        made("best_of", 10, settings={"pool": 5})
