"""NASI: the suite on three spaces, its gradients and its one step against other ways to them, and what it never asks for."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from foresee.errors import DataError, ForeseeError, InputError, SearchError, UnknownNameError, UnsupportedError
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers.base import make, searchers
from foresee.searchers.problem import Problem
from foresee.searchers.search import search
from foresee.seeds import generator
from foresee.spaces.base import spaces
from foresee.testing import SearcherSuite

SMALL = {"channels": 2, "cells": 1}


class TestNASBench201(SearcherSuite):
    searcher = "nasi"
    settings = {"steps": 4, "batch": 8}
    evaluations = 6
    interruptions = (1, 3, 7)


class TestFixed(SearcherSuite):
    searcher = "nasi"
    test_a_limit_that_nothing_meets_is_said = None  # seen above
    settings = {"steps": 2, "batch": 8, "constraint": "fixed", "nu_samples": 3, "mu": 2, "labels": "random"}
    evaluations = 16
    interruptions = (2, 4)


class TestNASBench1Shot1(SearcherSuite):
    searcher = "nasi"
    test_a_limit_that_nothing_meets_is_said = None
    settings = {"steps": 2, "batch": 8, "one_shot": {"channels": 2, "cells": 3}}
    space = "nasbench1shot1_s2"
    space_settings = {"channels": 4}
    limits = {"params": {"max": 30_000}}
    evaluations = 3
    interruptions = (1,)


class TestDARTS(SearcherSuite):
    searcher = "nasi"
    test_a_limit_that_nothing_meets_is_said = None
    settings = {"steps": 1, "batch": 4, "one_shot": {"channels": 2, "layers": 3}}
    space = "darts_nasi"
    space_settings = {"channels": 4, "layers": 3}
    limits = {"params": {"max": 12_000}}
    evaluations = 2
    interruptions = (1,)


def problem(space="nasbench201", *, space_settings=SMALL, seed=3, evaluations=1, **settings):
    plain = {"proxies": ("params",), "data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "seed": seed}
    scorer = Scorer(space, ScoringSettings(**{**plain, **settings}), space_settings=space_settings)
    return Problem(scorer, evaluations=evaluations)


def done(searcher):
    """All steps of a searcher, and what each gave."""
    outcomes = []
    for number in range(searcher.steps_before(0)):
        outcomes.append(searcher.step(number))
        searcher.advance(number, outcomes[-1])
    return outcomes


# -- the algorithm --------------------------------------------------------------------------------------------------------
def test_a_step_is_the_gradient_of_the_trace_norm():
    """The same draw and batch by hand, in double precision."""
    asked = problem(seed=5)
    searcher = make("nasi", asked, {"batch": 8, "without": []})
    outcome = searcher.step(2)
    network = asked.one_shot().double()
    logits = {c.name: torch.zeros(len(c.options), dtype=torch.float64, requires_grad=True) for c in network.choices}
    numbers, weights = generator(5, "nasi", "step", 2), {}
    for choice in network.choices:
        noise = -torch.log(-torch.log(torch.rand(len(choice.options), generator=numbers, dtype=torch.float64)))
        soft = torch.softmax(logits[choice.name] + noise, 0)
        weights[choice.name] = F.one_hot(noise.argmax(), len(noise)).double() + soft - soft.detach()
        assert outcome["drawn"][choice.name] == [choice.options[noise.argmax()]]
    batch = list(asked.data.epoch(8, seed=5, drop_last=True))[2]
    loss = F.cross_entropy(network.mix(weights)(batch.inputs.double()), batch.labels)
    gradients = torch.autograd.grad(loss, list(network.parameters()), create_graph=True, allow_unused=True)
    trace = sum(one.square().sum() for one in gradients if one is not None)
    assert outcome["trace"] == pytest.approx(trace.item(), rel=1e-4)
    slopes = dict(zip(logits, torch.autograd.grad(trace, list(logits.values())), strict=True))
    size = max(slope.abs().max().item() for slope in slopes.values())
    assert size > 0
    for name, slope in slopes.items():
        torch.testing.assert_close(torch.tensor(outcome["gradient"][name]).double(), slope, rtol=1e-3, atol=1e-3 * size)


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("constraint", "nu"), [("adaptive", 5.0), ("fixed", 2.5)])
def test_the_one_step_by_hand(mu, constraint, nu):
    """Eq. 14, 18 and 41 on numbers that are made up."""
    searcher = make("nasi", problem(), {"steps": 3, "mu": mu, "constraint": constraint, "nu": nu, "xi": 0.5})
    names = list(searcher.total)
    gradients = [{name: [float(t + place)] * 5 for place, name in enumerate(names)} for t in (1, -2, 4)]
    traces = [1.0, 4.0, 3.0]
    limits = [5.0, (5.0 + 1.0) / 2, (5.0 + 1.0 + 4.0) / 3] if constraint == "adaptive" else [2.5] * 3
    expected, largest = dict.fromkeys(names, 0.0), 0.0
    for number, (trace, gradient, limit) in enumerate(zip(traces, gradients, limits, strict=True)):
        assert searcher.limit == pytest.approx(limit)
        searcher.advance(number, {"trace": trace, "gradient": gradient})
        factor = 1 - mu if trace > limit else 1
        largest = max(largest, abs(factor) * math.sqrt(sum(v**2 for values in gradient.values() for v in values)))
        expected = {name: expected[name] + factor * gradient[name][0] / largest for name in names}
    for name, values in searcher.logits.items():
        assert values == pytest.approx([0.5 / 3 * expected[name]] * 5)


def test_the_mean_of_some_draws_is_the_fixed_limit():
    """Eq. 40, in steps of their own, each the trace norm of an architecture by its path."""
    asked = problem()
    searcher = make("nasi", asked, {"steps": 2, "batch": 8, "constraint": "fixed", "nu_samples": 4})
    outcomes = done(searcher)
    assert [("gradient" in one) for one in outcomes] == [False] * 4 + [True] * 2
    mean = sum(one["trace"] for one in outcomes[:4]) / 4
    assert [one["nu"] for one in outcomes[4:]] == pytest.approx([mean, mean])
    assert searcher.state()["nu"] == pytest.approx(mean)
    network = asked.one_shot()
    first = asked.space.parse(
        str(network.architecture(tuple(outcomes[0]["drawn"][c.name][0] for c in network.choices)))
    )
    batch = next(asked.data.epoch(8, seed=3, drop_last=True))
    loss = F.cross_entropy(network.select(first)(batch.inputs), batch.labels)
    gradients = torch.autograd.grad(loss, list(network.parameters()), allow_unused=True)
    trace = sum(one.square().sum().item() for one in gradients if one is not None)
    assert outcomes[0]["trace"] == pytest.approx(trace, rel=1e-4)


@pytest.mark.parametrize(
    ("space", "settings", "constraint", "mu", "nu"),
    [
        ("nasbench201", SMALL, "adaptive", 1, 1000),
        ("darts_nasi", {}, "adaptive", 2, 500),
        ("darts_nasi", {}, "fixed", 2, 100),
        ("nasbench1shot1_s1", {}, "fixed", 1, "mean"),
    ],
)
def test_values_that_are_published_for_the_space(space, settings, constraint, mu, nu):
    small = {} if space == "nasbench201" else {"channels": 2}
    searcher = make("nasi", problem(space, space_settings=settings), {"constraint": constraint, "one_shot": small})
    assert (searcher.mu, searcher.nu) == (mu, nu)
    assert searcher.steps_before(0) == (150 if nu == "mean" else 100)


def test_more_steps_begin_as_fewer():
    few, many = (make("nasi", problem(), {"batch": 4, "steps": steps, "mu": mu}) for steps, mu in ((3, 1.0), (5, 2.0)))
    assert [{**one, "nu": 0} for one in done(few)] == [{**one, "nu": 0} for one in done(many)][:3]


# -- true and random ------------------------------------------------------------------------------------------------------
def test_labels_and_data_may_be_random():
    asked = problem(data="digits", outputs=10)
    batches = {}
    for labels, inputs in (("true", "true"), ("random", "true"), ("true", "random"), ("random", "random")):
        searcher = make("nasi", asked, {"batch": 64, "labels": labels, "inputs": inputs})
        batches[labels, inputs] = searcher._batch(1)
    true, label, data, both = batches.values()
    assert torch.equal(true.inputs, label.inputs)
    assert not torch.equal(true.labels, label.labels)
    assert torch.equal(data.inputs, both.inputs)
    assert torch.equal(label.labels, both.labels)
    assert torch.equal(data.labels, both.labels)
    assert data.inputs.mean().abs() < 0.05
    assert data.inputs.std() == pytest.approx(1, abs=0.02)
    assert set(both.labels.tolist()) == set(range(10))


def test_data_without_labels_asks_for_random_ones():
    given = [torch.randn(16, 3, 8, 8, generator=generator(0))]
    small = {"space_settings": SMALL, "proxies": "params", "searcher": "nasi", "outputs": 4, "data": given}
    with pytest.raises(DataError, match=r"no labels; random ones serve as well \(nasi.labels=random\)"):
        search("nasbench201", searcher_settings={"steps": 2, "batch": 8}, **small)
    run = search("nasbench201", searcher_settings={"steps": 3, "batch": 8, "labels": "random"}, **small)
    assert len(run.record.steps) == 3


# -- the answer -----------------------------------------------------------------------------------------------------------
def test_nothing_is_ever_scored(monkeypatch):
    """The scorer is out of bounds: the steps and the answers come without it."""

    def forbidden(*_, **__):
        raise AssertionError("a score was asked for")

    asked = problem(evaluations=4)
    for owner, name in ((Problem, "scores"), (Problem, "measured"), (Scorer, "__call__"), (Scorer, "of_network")):
        monkeypatch.setattr(owner, name, forbidden)
    searcher = make("nasi", asked, {"steps": 2, "batch": 4, "constraint": "fixed", "nu_samples": 2, "mu": 2})
    done(searcher)
    assert len(searcher.ask(4)) == 4


def test_the_answer_is_what_the_logits_prefer():
    asked = problem(evaluations=3)
    searcher = make("nasi", asked, {"steps": 1})
    gradient = {name: [0.1, 0.0, 0.2, 1.0, 0.3] for name in searcher.total}
    gradient["3.2"] = [0.0, 0.95, 0.0, 1.0, 0.0]
    searcher.advance(0, {"trace": 1.0, "gradient": gradient})
    first, second = searcher.ask(2)
    best = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|{}~2|"
    assert [str(one.architecture) for one in (first, second)] == [
        best.format("nor_conv_3x3"), best.format("skip_connect"),
    ]  # fmt: skip


def test_the_search_gives_one_architecture_where_nobody_asks_for_more():
    run = search(
        "nasbench201", "params", "nasi", data="synthetic", space_settings=SMALL, inputs=(3, 8, 8), outputs=4,
        searcher_settings={"steps": 3, "batch": 4}, finalists=0,
    )  # fmt: skip
    assert (len(run.record.steps), len(run.record.candidates)) == (3, 1)


# -- what does not fit ----------------------------------------------------------------------------------------------------
def test_spaces_without_a_one_shot_network_are_refused():
    with pytest.raises(UnsupportedError, match=r"nasbench101 has no one-shot network; it searches .*nasbench1shot1_s1"):
        make("nasi", problem("nasbench101", space_settings={}), {})
    fitting = {name for name in spaces if not searchers["nasi"].fits(spaces[name])}
    assert {"nasbench201", "darts", "darts_nasi", "transnas_micro", "nasbench1shot1_s3"} <= fitting
    assert not {"nasbench101", "transnas_macro", "mlp"} & fitting


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"steps": 0}, "nasi.steps = 0"),
        ({"batch": 1.5}, "nasi.batch = 1.5"),
        ({"mu": -1}, "nasi.mu = -1: expected a number of at least 0"),
        ({"nu": "much"}, "nasi.nu = 'much'"),
        ({"nu": "mean"}, "nasi.nu = 'mean'"),
        ({"temperature": 0}, "nasi.temperature = 0: expected a number above 0"),
        ({"xi": float("nan")}, "nasi.xi = nan"),
        ({"one_shot": {"width": 3}}, "nasi.one_shot = {'width': 3}: .*'width'"),
        ({"one_shot": 3}, "nasi.one_shot = 3: expected options by name"),
        ({"one_shot": {"channels": 0}}, "channels 0, expected a whole number"),
    ],
    ids=str,
)
def test_wrong_settings_are_named(settings, said):
    with pytest.raises(InputError, match=said):
        make("nasi", problem(), settings)


@pytest.mark.parametrize("key", ["constraint", "labels", "inputs"])
def test_unknown_words_are_named(key):
    with pytest.raises(UnknownNameError, match=f"nasi.{key} 'some'"):
        make("nasi", problem(), {key: "some"})


def test_a_gradient_that_is_no_number_ends_the_search_in_one_line():
    searcher = make("nasi", problem(), {"batch": 4})
    with torch.no_grad():
        next(searcher.network.parameters()).fill_(math.inf)
    with pytest.raises(SearchError, match="in step 0 the one-shot network's gradient is no finite number"):
        searcher.step(0)


def test_without_any_gradient_there_is_no_answer():
    """With mu = 1, R is constant above its limit."""
    searcher = make("nasi", problem(), {"batch": 4, "steps": 2, "constraint": "fixed", "nu": 1e-9})
    done(searcher)
    with pytest.raises(SearchError, match=r"not one of 2 steps has a gradient: with mu = 1 .* nu = 1e-09"):
        searcher.ask()


def test_a_device_that_is_not_there_is_said():
    with pytest.raises(ForeseeError, match="device 'cuda:99' cannot be used here"):
        make("nasi", problem(device="cuda:99"), {})


def test_what_takes_no_part_is_never_drawn_nor_proposed():
    settings = {"steps": 6, "batch": 8, "one_shot": {"channels": 2, "cells": 1}}
    scorer = Scorer(
        "nasbench201", ScoringSettings(proxies=("params",), data="synthetic", inputs=(3, 8, 8), outputs=4, seed=1)
    )

    def searched(**more):
        searcher = make("nasi", Problem(scorer), {**settings, **more})
        for number in range(6):
            searcher.advance(number, searcher.step(number))
        drawn = {option for number in range(6) for one in searcher.step(number)["drawn"].values() for option in one}
        return drawn, [str(one.architecture) for one in searcher.ask(40)], searcher.logits

    drawn, answers, logits = searched()
    assert "none" not in drawn
    assert not any("none" in text for text in answers)
    assert all(values[0] == 0 for values in logits.values())  # no gradient goes there
    drawn, answers, logits = searched(without=[])
    assert "none" in drawn
    assert any("none" in text for text in answers)
    with pytest.raises(UnknownNameError, match="did you mean avg_pool_3x3"):
        make("nasi", Problem(scorer), {**settings, "without": ["avg_pool"]})
    every = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
    with pytest.raises(InputError, match="too few options are left of"):
        make("nasi", Problem(scorer), {**settings, "without": every})
