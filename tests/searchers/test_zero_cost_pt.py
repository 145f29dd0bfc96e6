"""Zero-Cost-PT beside a slow version of the algorithm, on scores that are known, and on real ones."""

from __future__ import annotations

import math

import pytest
import torch
from tests.searchers import two_edges

from foresee.errors import UnknownNameError, UnsupportedError
from foresee.proxies.base import Score
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import run_search
from foresee.searchers.problem import Problem
from foresee.searchers.zero_cost_pt import ORDERS, ZeroCostPT, most_missed
from foresee.seeds import derive, generator
from foresee.testing import SearcherSuite

TINY = {
    "nasbench201": {"channels": 2, "cells": 1},
    "transnas_micro": {"channels": 2},
    "darts": {"channels": 2, "layers": 2},
    "nasbench1shot1_s2": {"channels": 2, "cells": 3},
}


class TestZeroCostPT(SearcherSuite):
    searcher = "zero_cost_pt"
    settings = {"pool_size": 3, "validation": 2}
    space = two_edges.NAME
    space_settings = {}
    proxies = ("grad_norm",)
    evaluations = 2
    limits = {"params": {"max": 200}}
    interruptions = (1, 3, 7, 9)


def problem(space="nasbench201", proxy="synflow", **changes):
    look = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 4, "seed": 5, **changes}
    return Problem(Scorer(space, ScoringSettings(proxies=(proxy,), **look)))


def run(searcher, steps=None):
    outcomes = []
    for number in range(searcher.steps_before(0) if steps is None else steps):
        outcomes.append(searcher.step(number))
        searcher.advance(number, outcomes[-1])
    return outcomes


def known(monkeypatch, value, direction="higher"):
    """Let a function of the weights and the seed be the score of a one-shot network, and 0 that of any other."""

    def scores_of(self, network, proxies, seed):
        found = value(network.weights, seed) if hasattr(network, "choices") else 0.0
        status = "nan" if math.isnan(found) else "ok"
        return {proxies[0]: Score(proxies[0], None if status == "nan" else found, status, "no luck", direction)}

    monkeypatch.setattr(Problem, "scores_of", scores_of)


def rough(weights, seed):
    """A score in which every weight matters, in every company and on every batch differently."""
    flat = torch.cat([vector.double() for _, vector in sorted(weights.items())])
    made = torch.Generator().manual_seed(seed % 2**31)
    mixed = torch.randn(3, len(flat), generator=made, dtype=torch.float64) @ flat
    return float((torch.randn(3, generator=made, dtype=torch.float64) * mixed.sin()).sum())


# -- the algorithm ------------------------------------------------------------------------------------------------------
def slow(searcher, candidate, order):
    """The decisions for one candidate, as the paper describes them, on plain lists."""
    seed, choices = searcher.problem.seed, searcher.network.choices
    drawn = generator(seed, "mixture", candidate)
    logits = {choice.name: 1e-3 * torch.randn(len(choice.options), generator=drawn) for choice in choices}
    weights = {name: torch.softmax(vector, 0).tolist() for name, vector in logits.items()}
    left = [choice.name for choice in choices]
    once = order.endswith("once")
    number = candidate * (len(left) + once)

    def without(name, option, seed):
        changed = {key: torch.tensor(vector) for key, vector in weights.items()}
        changed[name][option] = 0.0
        return rough(changed, seed)

    def key(name, seed):
        values = [without(name, option, seed) for option in range(len(weights[name]))]
        return sum(values) / len(values) if "edge" in order else min(values)

    if once:
        batch = derive(seed, "decision", number)
        left, number = sorted(left, key=lambda name: key(name, batch)), number + 1
    elif order == "random":
        searcher.problem.stream("order", candidate).shuffle(left)
    elif order == "reverse":
        left.reverse()
    for _ in choices:
        batch = derive(seed, "decision", number)
        name = min(left, key=lambda name, batch=batch: key(name, batch)) if order.endswith("greedy") else left[0]
        left.remove(name)
        values = [without(name, option, batch) for option in range(len(weights[name]))]
        best = values.index(min(values))
        weights[name] = [float(option == best) for option in range(len(values))]
        number += 1
        yield name, values, best


@pytest.mark.parametrize("order", ORDERS)
def test_it_decides_as_the_slow_version(monkeypatch, order):
    known(monkeypatch, rough)
    searcher = ZeroCostPT(problem(), order=order, pool_size=3, validation=0, **TINY["nasbench201"])
    decided = [one for one in run(searcher) if "decision" in one]
    expected = [(candidate, *one) for candidate in range(3) for one in slow(searcher, candidate, order)]
    assert len(decided) == len(expected) == 18
    for one, (candidate, name, values, best) in zip(decided, expected, strict=True):
        assert (one["candidate"], one["decision"]) == (candidate, name)
        assert list(one["scores"].values()) == pytest.approx(values, abs=1e-5)
        assert one["kept"] == [list(one["scores"])[best]]


def test_orders_differ(monkeypatch):
    known(monkeypatch, rough)

    def names(order):
        searcher = ZeroCostPT(problem(), order=order, pool_size=2, validation=0, **TINY["nasbench201"])
        return [one["decision"] for one in run(searcher) if "decision" in one]

    found = {order: names(order) for order in ORDERS}
    assert found["order"][:6] == sorted(found["order"][:6]) == found["reverse"][5::-1]
    assert found["random"][:6] != found["random"][6:], "both candidates were given the same order"
    assert all(sorted(one[:6]) == found["order"][:6] for one in found.values())
    assert len({tuple(one[:6]) for one in found.values()}) >= 6


def test_less_is_better_where_the_proxy_says_so(monkeypatch):
    """The option stays whose removal makes it worst: the greatest value of a proxy that should be small."""
    known(monkeypatch, lambda weights, seed: -rough(weights, seed), "lower")
    lower = ZeroCostPT(problem(proxy="ntk_cond"), pool_size=2, **TINY["nasbench201"])
    found = [one["kept"] for one in run(lower, 6)]
    known(monkeypatch, rough)
    assert found == [one["kept"] for one in run(ZeroCostPT(problem(), pool_size=2, **TINY["nasbench201"]), 6)]
    assert lower._sign == -1


def test_an_option_without_a_score_is_passed_over(monkeypatch):
    known(monkeypatch, lambda weights, seed: math.nan if not weights["1.0"][0] else rough(weights, seed))
    searcher = ZeroCostPT(problem(), order="order", pool_size=1, **TINY["nasbench201"])
    first = searcher.step(0)
    assert first["scores"]["none"] is None
    assert first["kept"] != ["none"]
    known(monkeypatch, lambda weights, seed: math.nan)
    with pytest.raises(UnsupportedError, match=r"proxy synflow has no score for the one-shot .* nan \(no luck\)"):
        searcher.step(0)


def test_the_most_missed_come_first():
    scores = [Score("", value, "ok" if value is not None else "nan") for value in (2.0, None, 1.0, 2.0)]
    assert most_missed(scores, 4) == [2, 0, 3, 1]
    lower = [Score("", value, direction="lower") for value in (2.0, 5.0, 1.0)]
    assert most_missed(lower, 1) == [1]


# -- inputs -------------------------------------------------------------------------------------------------------------
def test_darts_keeps_two_edges_a_node_with_their_operations(monkeypatch):
    """Edges count by their own worth, and operations by theirs: the worthiest of both are found."""
    worth = {op: value for value, op in enumerate(("avg_pool_3x3", "skip_connect", "sep_conv_5x5"), 1)}
    good = {"normal.3": (0, 2), "normal.4": (1, 2), "normal.5": (3, 4), "reduce.3": (1, 2)}

    def value(weights, seed):
        total = 0.0
        for name, vector in weights.items():
            node, _, source = name.rpartition(".")
            edge = 3.0 if int(source) in good.get(node, (0, 1)) else 1.0
            options = searcher.network.choices[0].options
            total += edge * sum(float(w) * worth.get(op, 0.5) for op, w in zip(options[1:], vector[1:], strict=True))
        return total

    known(monkeypatch, value)
    searcher = ZeroCostPT(problem("darts"), pool_size=1, **TINY["darts"])
    outcomes = run(searcher)
    assert len(outcomes) == 28 + 6
    assert all("none" not in one["scores"] for one in outcomes)
    (cell,) = searcher.found
    for kind, pairs in (("normal", cell.normal.nodes), ("reduce", cell.reduce.nodes)):
        for node, pair in pairs:
            assert {op for op, _ in pair} == {"sep_conv_5x5"}
            assert sorted(source for _, source in pair) == list(good.get(f"{kind}.{node}", (0, 1)))


def test_operations_of_choice_blocks_stay_with_their_nodes(monkeypatch):
    """Whatever the order of visits: the released code lists operations in that order, not by node."""
    wanted = {"op_1": 2, "op_2": 0, "op_3": 1, "op_4": 0, "inputs_2": (1,), "inputs_3": (0, 2), "inputs_4": (1, 3)}
    wanted["inputs_output"] = (0, 2, 4)

    def value(weights, seed):
        pairs = ((vector, wanted[name]) for name, vector in weights.items())
        return sum(float(vector[list(one) if isinstance(one, tuple) else one].sum()) for vector, one in pairs)

    known(monkeypatch, value)
    for seed in range(3):
        searcher = ZeroCostPT(problem("nasbench1shot1_s2", seed=seed), pool_size=1, **TINY["nasbench1shot1_s2"])
        outcomes = run(searcher)
        order = [one["decision"] for one in outcomes]
        assert order[4:] == ["inputs_2", "inputs_3", "inputs_4", "inputs_output"]
        (cell,) = searcher.found
        assert cell.ops == ("conv1x1", "maxpool3x3", "conv3x3", "maxpool3x3")
        assert cell.parents == ((0,), (1,), (0, 2), (1, 3), (0, 2, 4))


# -- the pool -----------------------------------------------------------------------------------------------------------
def test_the_pool_is_ordered_by_its_validation(monkeypatch):
    known(monkeypatch, rough)
    searcher = ZeroCostPT(problem(), pool_size=4, validation=3, **TINY["nasbench201"])
    run(searcher, 24)
    pool = list(searcher._pool)
    assert len(pool) > 2
    merits = {text: [float(place), float(-place)] for place, text in enumerate(pool)}
    merits[pool[-1]] = [-5.0, 10.0]
    for batch in range(2):
        searcher.advance(24 + batch, {"scores": {text: values[batch] for text, values in merits.items()}})
    searcher.advance(26, {"scores": {pool[0]: None, pool[1]: 9.0}})
    assert [str(one) for one in searcher.found][:2] == [pool[1], pool[-1]]


def test_validation_looks_at_the_networks_of_the_pool():
    """A candidate's own network, with the weights it has in the one-shot network, on a batch of its own each time."""
    searcher = ZeroCostPT(problem(proxy="grad_norm"), pool_size=2, validation=2, **TINY["nasbench201"])
    outcomes = run(searcher)
    first, second = outcomes[-2:]
    assert list(first["scores"]) == list(searcher._pool)
    assert first != second
    text, value = next(iter(first["scores"].items()))
    network = searcher.network.inherit(searcher.space.parse(text))
    seed = derive(searcher.problem.seed, "validation", 0)
    assert searcher.problem.scores_of(network, ["grad_norm"], seed)["grad_norm"].value == value


def test_one_candidate_needs_no_validation():
    assert ZeroCostPT(problem(), pool_size=1, **TINY["nasbench201"]).steps_before(0) == 6


# -- real scores --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("proxy", ["foresee", "dextr", "naswot", "zico", "meco", "synflow", "grad_norm"])
def test_proxies_that_score_a_one_shot_network(proxy):
    """All options but `none` matter to them, at the first decision and at the last."""
    searcher = ZeroCostPT(problem(proxy=proxy), pool_size=1, **TINY["nasbench201"])
    outcomes = run(searcher)
    for one in (outcomes[0], outcomes[-1]):
        assert all(value is not None for value in one["scores"].values())
        assert len(set(one["scores"].values())) >= 4


@pytest.mark.parametrize("space", TINY)
def test_it_searches_every_space_that_fits(space):
    """The first and the last decision are made, what lies between is given."""
    searcher = ZeroCostPT(problem(space), order="order", pool_size=1, **TINY[space])
    *between, last = searcher.plan.decisions
    for number, one in enumerate(between):
        given = {"candidate": 0, "decision": one.name, "kept": one.options[: one.keep]}
        searcher.advance(number, given if number else searcher.step(0))
    outcome = searcher.step(len(between))
    assert outcome["decision"] == last.name
    assert None not in outcome["scores"].values()
    searcher.advance(len(between), outcome)
    (one,) = searcher.ask(2)
    assert searcher.space.parse(str(one.architecture)) == one.architecture


def test_a_proxy_that_cannot_is_said_in_one_line():
    searcher = ZeroCostPT(problem("transnas_micro", proxy="dextr"), pool_size=1, **TINY["transnas_micro"])
    with pytest.raises(UnsupportedError, match=r"proxy dextr has no score for .* transnas_micro: unsupported \(BatchN"):
        searcher.step(0)


def test_settings_are_checked():
    with pytest.raises(UnknownNameError, match="random"):
        ZeroCostPT(problem(), order="rando")
    with pytest.raises(UnknownNameError, match="naswot"):
        ZeroCostPT(problem(), proxy="naswott")


def test_a_limit_that_the_pool_does_not_meet_is_met_near_it():
    asked = TestZeroCostPT().asked(limits={"params": {"max": 50}}, searcher_settings={"pool_size": 1})
    found = run_search(asked).record.candidates
    assert [row.counts["params"] <= 50 for row in found] == [True]
    free = run_search(TestZeroCostPT().asked(limits={}, searcher_settings={"pool_size": 1})).record.candidates
    assert free[0].counts["params"] > 50, "the limit is met anyway: nothing is tested"
