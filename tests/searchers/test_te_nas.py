"""TE-NAS beside a slow version of its ranking, and on real networks."""

from __future__ import annotations

import itertools
import random

import pytest
import torch
from tests.searchers import two_edges

from foresee.batch import Batch
from foresee.errors import InputError, UnsupportedError
from foresee.proxies.base import Score
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers.problem import Problem
from foresee.searchers.te_nas import TENAS, crops, rank_sums
from foresee.testing import SearcherSuite

SMALL = {"channels": 2, "batch": 3, "samples": 20}


class TestTENAS(SearcherSuite):
    searcher = "te_nas"
    settings = SMALL
    space = two_edges.NAME
    space_settings = {}
    evaluations = 1
    limits = {"params": {"max": 1000}}
    interruptions = (1, 3)


def problem(space="nasbench201", **changes):
    look = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "seed": 5, **changes}
    return Problem(Scorer(space, ScoringSettings(proxies=("params",), **look)))


def run(searcher):
    outcomes = []
    for number in range(searcher.steps_before(0)):
        outcomes.append(searcher.step(number))
        searcher.advance(number, outcomes[-1])
    return outcomes


def slow_ranks(before, without):
    """By counting, for each option, how many different changes are better to lose."""
    changes = {
        one: (round((before[0] - k) / before[0], 3), round((before[1] - r) / before[1], 3))
        for one, (k, r) in without.items()
    }
    return {
        one: len({k for k, _ in changes.values() if k > mine[0]}) + len({r for _, r in changes.values() if r < mine[1]})
        for one, mine in changes.items()
    }


def test_ranks_are_those_of_the_slow_version():
    rng = random.Random(0)
    for _ in range(20):
        before = (rng.uniform(1, 100), float(rng.randint(50, 100)))
        without = {place: (rng.choice([3.0, rng.uniform(1, 100)]), float(rng.randint(40, 100))) for place in range(12)}
        assert rank_sums(before, without) == slow_ranks(before, without)


def test_what_cannot_be_found_is_removed_last():
    assert rank_sums((10.0, 8.0), {"a": (None, 8.0), "b": (90.0, 8.0)}) == {"a": 1, "b": 0}
    assert rank_sums((10.0, 8.0), {"a": (10.0, None), "b": (10.0, 1.0)}) == {"a": 1, "b": 0}


def test_every_edge_loses_what_hurts_least(monkeypatch):
    """An operation's worth lowers the condition number; the rounds end at the worthiest on every edge."""
    worth = {"none": 1, "skip_connect": 3, "nor_conv_1x1": 2, "nor_conv_3x3": 5, "avg_pool_3x3": 4}

    def scores_of(self, network, proxies, seed, *, batches, initialise):
        assert initialise == "he"
        options = network.choices[0].options
        total = sum(
            worth[op] * float(weight > 0)
            for vector in network.weights.values()
            for op, weight in zip(options, vector, strict=True)
        )
        value = 1000.0 - total if proxies[0].startswith("ntk_cond") else 50.0
        return {proxies[0]: Score(proxies[0], value)}

    monkeypatch.setattr(Problem, "scores_of", scores_of)
    searcher = TENAS(problem(), **SMALL)
    outcomes = run(searcher)
    assert [one["round"] for one in outcomes] == [1] * 6 + [2] * 6 + [3] * 6 + [4] * 6
    assert [one["before"] is not None for one in outcomes] == [True, *[False] * 5] * 4
    (cell,) = searcher.found
    assert cell.ops == ("nor_conv_3x3",) * 6
    lost = [set(one["without"]) for one in outcomes[::6]]
    assert [first - second for first, second in itertools.pairwise(lost)] == [
        {"none"},
        {"nor_conv_1x1"},
        {"skip_connect"},
    ]


@pytest.mark.parametrize(
    ("space", "steps"), [("nasbench201", 24), ("transnas_micro", 18), ("nasbench1shot1_s1", 2 * 4 + 3)]
)
def test_it_begins_in_every_space(space, steps):
    searcher = TENAS(problem(space), **SMALL)
    first = searcher.step(0)
    assert searcher.steps_before(0) == steps
    assert None not in first["before"]
    assert set(first["without"]) == set(searcher.plan.operations[0].options)


def test_it_ends_with_one_option_an_edge():
    searcher = TENAS(problem(two_edges.NAME), **SMALL)
    outcomes = run(searcher)
    assert [len(one["without"]) for one in outcomes] == [3, 3, 2, 2]
    (one,) = searcher.ask(2)
    assert searcher.space.parse(str(one.architecture)) == one.architecture


def test_darts_ends_with_two_edges_a_node(monkeypatch):
    found = iter(range(10**6))
    monkeypatch.setattr(TENAS, "_look", lambda self, weights, at, needed=False: (float(next(found) + 1), 10.0))
    searcher = TENAS(problem("darts"), **SMALL)
    outcomes = run(searcher)
    assert len(outcomes) == 6 * 28 + 6
    (cell,) = searcher.found
    assert searcher.space.contains(cell)


def test_repeats_are_averaged_over_other_weights_and_data():
    once, twice = (TENAS(problem(), repeats=repeats, **SMALL) for repeats in (1, 2))
    weights = once._weights()
    assert once._look(weights, 1) == once._look(weights, 1)
    assert once._look(weights, 1) != once._look(weights, 2)
    assert once._look(weights, 1)[0] != twice._look(weights, 1)[0]


def test_options_that_are_left_weigh_equally():
    searcher = TENAS(problem(), **SMALL)
    searcher._left["3.1"] = [1, 3]
    weights = searcher._weights()
    assert weights["3.1"].tolist() == [0.0, 0.5, 0.0, 0.5, 0.0]
    assert weights["3.0"].tolist() == pytest.approx([0.2] * 5)


def test_crops_are_parts_of_the_first_channel():
    images = torch.arange(2 * 3 * 5 * 6.0).reshape(2, 3, 5, 6)
    found = crops(Batch(images), torch.Generator().manual_seed(0)).parts[0]
    assert found.shape == (2, 1, 3, 3)
    for crop, image in zip(found, images, strict=True):
        corner = (image[0] == crop[0, 0, 0]).nonzero()[0].tolist()
        assert torch.equal(crop[0], image[0, corner[0] : corner[0] + 3, corner[1] : corner[1] + 3])


def test_a_singular_kernel_is_said():
    searcher = TENAS(problem("nasbench1shot1_s1"), condition="ntk_cond:tenas", **SMALL)
    with pytest.raises(
        UnsupportedError, match=r"ntk_cond:tenas has no score for the one-shot network .* rank_deficient"
    ):
        searcher.step(0)


def test_what_it_cannot_look_at_is_refused():
    with pytest.raises(UnsupportedError, match="images of 3 x 3"):
        TENAS(problem(inputs=(3, 2, 2)))
    with pytest.raises(InputError, match=r"te_nas\.batch"):
        TENAS(problem(), batch=1)
