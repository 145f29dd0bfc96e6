"""What is decided on a one-shot network, and which architecture that means."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import InfeasibleError, InputError, UnsupportedError
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers.base import make
from foresee.searchers.problem import Known, Problem, objectives_of
from foresee.searchers.supernet import Decision, plan_of
from foresee.spaces import find
from foresee.task import Task

FORMS = {
    "nasbench201": {"channels": 2, "cells": 1},
    "transnas_micro": {"channels": 2},
    "nasbench_macro": {"channels": 2, "head": 4},
    "darts": {"channels": 2, "layers": 2},
    "nasbench1shot1_s1": {"channels": 2, "cells": 3},
    "nasbench1shot1_s2": {"channels": 2, "cells": 3},
    "nasbench1shot1_s3": {"channels": 2, "cells": 3},
}


def made(name):
    return find.get(name).one_shot(Task((3, 8, 8), 4), **FORMS[name])


def problem(space="nasbench201", **changes):
    settings = ScoringSettings(proxies=("synflow",), data="synthetic", inputs=(3, 8, 8), outputs=4)
    return Problem(Scorer(space, settings), **changes)


def test_removal_leaves_the_others_as_they_are():
    one = Decision("x", ("a", "b"), (("x", 1), ("x", 2)))
    weights = {"x": torch.tensor([0.2, 0.3, 0.5]), "y": torch.ones(2)}
    assert torch.equal(one.without(weights, 0)["x"], torch.tensor([0.2, 0.0, 0.5]))
    assert torch.equal(one.settled(weights, [1])["x"], torch.tensor([0.2, 0.0, 1.0]))
    assert torch.equal(weights["x"], torch.tensor([0.2, 0.3, 0.5])), "the weights handed in were changed"


def test_an_edge_is_removed_with_its_operation_and_kept_as_it_is():
    edges = Decision("3", ("0", "1"), (("3.0", None), ("3.1", None)))
    weights = {"3.0": torch.tensor([0.0, 1.0]), "3.1": torch.tensor([1.0, 0.0])}
    found = edges.settled(weights, [0])
    assert found["3.0"].tolist() == [0.0, 1.0]
    assert found["3.1"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", FORMS)
def test_whatever_is_kept_is_the_architecture(name):
    """Settled decisions are the path of the architecture that the network derives from them."""
    network, space = made(name), find.get(name)
    plan = plan_of(network)
    draws = torch.Generator().manual_seed(1)
    for _ in range(5):
        weights = plan.opened(network.uniform())
        for one in plan.decisions:
            weights = one.settled(weights, torch.randperm(len(one.options), generator=draws)[: one.keep].tolist())
        architecture = network.derive(weights)
        path = network.path(architecture)
        assert space.canonical(space.parse(str(architecture))) == space.canonical(architecture)
        for choice in network.choices:
            mine = weights[choice.name]
            if name == "darts":  # `none` on an edge is the same as no weight at all
                mine, other = mine[1:], path[choice.name][1:]
                assert torch.equal(mine, other)
            else:
                assert torch.equal(mine, path[choice.name])


@pytest.mark.parametrize(
    ("name", "operations", "inputs"),
    [
        ("nasbench201", [5] * 6, []),
        ("darts", [7] * 28, [(3, 2), (4, 2), (5, 2)] * 2),
        ("nasbench1shot1_s1", [3] * 4, [(3, 2), (4, 2), (5, 2)]),
        ("nasbench1shot1_s2", [3] * 4, [(2, 1), (3, 2), (4, 2), (5, 3)]),
        ("nasbench1shot1_s3", [3] * 5, [(2, 1), (3, 1), (4, 2), (5, 2), (6, 2)]),
    ],
)
def test_what_is_decided(name, operations, inputs):
    plan = plan_of(made(name))
    assert [len(one.options) for one in plan.operations] == operations
    assert [(len(one.options), one.keep) for one in plan.inputs] == inputs


def test_inputs_are_all_read_at_first():
    network = made("nasbench1shot1_s2")
    weights = plan_of(network).opened(network.uniform())
    assert weights["inputs_output"].tolist() == [1.0] * 5
    assert weights["op_1"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("searcher", ["zero_cost_pt", "te_nas"])
@pytest.mark.parametrize(
    "space", ["mlp", "nasbench101", "darts_nasi", "nats_size", "autoformer_tiny", "resnet", "mobile"]
)
def test_a_space_that_does_not_fit_is_refused(searcher, space):
    settings = ScoringSettings(proxies=("params",), data="synthetic")
    with pytest.raises(UnsupportedError) as caught:
        make(searcher, Problem(Scorer(space, settings)))
    able = str(caught.value).rpartition("it searches ")[2].split(", ")
    assert set(able) >= set(FORMS)
    assert space not in able
    assert "nasrec_small" not in able


def test_an_option_that_the_space_does_not_have_is_named():
    with pytest.raises(InputError, match="one-shot network of darts has no cells"):
        make("zero_cost_pt", problem("darts"), {"cells": 3})
    with pytest.raises(InputError, match="channels 0"):
        make("zero_cost_pt", problem(), {"channels": 0})


def test_a_pick_that_was_not_measured_is_said():
    scorer = problem().scorer
    searched = Problem(scorer, objectives=objectives_of(["measured"], scorer), measure=Known({"other": 1.0}))
    searcher = make("zero_cost_pt", searched, {"channels": 2, "cells": 1, "pool_size": 1})
    for one in searcher.plan.decisions:
        searcher.advance(0, {"candidate": 0, "decision": one.name, "kept": [one.options[0]]})
    with pytest.raises(InfeasibleError, match="nothing was measured of"):
        searcher.ask()
