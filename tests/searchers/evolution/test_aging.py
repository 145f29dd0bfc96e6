"""Aging evolution: who may be a parent, who dies, and how a warm-up begins it."""

from __future__ import annotations

import pytest
from tests.searchers.driving import convolutions, drive, made

from foresee.errors import InputError
from foresee.testing import SearcherSuite


class TestEvolution(SearcherSuite):
    searcher = "evolution"
    settings = {"population": 8, "sample": 3}


class TestWarmedUp(SearcherSuite):
    searcher = "evolution"
    settings = {"population": 4, "sample": 2, "warmup": 60, "replacement": True}
    interruptions = (1, 2, 9)


def test_parents_are_among_the_youngest():
    searcher = made("evolution", settings={"population": 10, "sample": 10})
    proposals, results = drive(searcher)
    for proposal in proposals[:10]:
        assert proposal.parent is None
    for proposal in proposals[10:]:
        alive = results[proposal.id - 10 : proposal.id]
        best = max(alive, key=lambda result: (result.merit, -result.id))  # with the whole population as the sample
        assert proposal.parent == best.id
        assert proposal.architecture != best.architecture


def test_failures_never_enter():
    searcher = made("evolution", settings={"population": 6, "sample": 3})
    proposals, results = drive(searcher, fails=lambda one: one.ops[0] == "none")
    failed = {result.id for result in results if result.merit is None}
    assert failed
    assert not failed & {proposal.parent for proposal in proposals}


def test_with_replacement_a_tournament_may_be_of_one():
    # of 30 tournaments of 3 among 3 members without replacement each is won by the best; with it some are not
    def losers(replacement):
        searcher = made("evolution", settings={"population": 3, "sample": 3, "replacement": replacement})
        proposals, results = drive(searcher)
        best = [max(results[p.id - 3 : p.id], key=lambda r: (r.merit, -r.id)).id for p in proposals[3:]]
        return sum(p.parent not in (None, b) for p, b in zip(proposals[3:], best, strict=True))

    assert losers(False) == 0
    assert losers(True) > 3


def test_a_warm_up_begins_with_the_best_of_a_pool():
    searcher = made("evolution", settings={"population": 5, "sample": 2, "warmup": 120}, proxies=("macs",))
    proposals, _ = drive(searcher, evaluations=5)
    pool = searcher._pool
    assert len(pool.members) == 120
    best = sorted(pool.merits, reverse=True)[:5]
    assert [proposal.costs["macs"] for proposal in proposals] == best
    cold = made("evolution", settings={"population": 5, "sample": 2}, proxies=("macs",))
    assert min(best) > max(proposal.costs["macs"] for proposal in drive(cold, evaluations=5)[0]) * 0.9


def test_it_climbs_above_random_draws():
    evolved = [max(r.merit for r in drive(made("evolution", 100, seed=seed))[1]) for seed in range(5)]
    drawn = [max(r.merit for r in drive(made("random", 100, seed=seed))[1]) for seed in range(5)]
    assert sum(evolved) > sum(drawn)
    assert max(evolved) == convolutions(made("random").space.parse("|nor_conv_3x3~0|+" + "|nor_conv_3x3~0|nor_conv_3x3~1|+"
        "|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|"))  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"population": 3, "sample": 4}, "evolution.sample = 4: cannot be more than the population of 3"),
        ({"population": 0}, "evolution.population = 0: expected a whole number of at least 1"),
        ({"warmup": -1}, "evolution.warmup = -1: expected a whole number of at least 0"),
        ({"warmup": 5, "warmup_proxy": "naswott"}, "did you mean naswot"),
    ],
)
def test_what_is_refused(settings, said):
    with pytest.raises(InputError, match=said):
        made("evolution", settings=settings)
