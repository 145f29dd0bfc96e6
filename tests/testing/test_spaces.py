"""The suite passes on our spaces, and fails on spaces that break one promise each."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import nn

from foresee.spaces import Counts, NASBench201, Space, own
from foresee.spaces.nasbench201 import Architecture
from foresee.task import Task
from foresee.testing import SpaceSuite


class TestNASBench201(SpaceSuite):
    task = Task((3, 8, 8), 4)
    trained = 8
    counted = 3

    def space(self) -> Space:
        return NASBench201(channels=2, cells=1)

    def equivalents(self, architecture: Architecture) -> list[Architecture]:
        """Where node 1 is a copy of the input, what reads the one may read the other."""
        a, b, c, d, e, f = architecture.ops
        return [Architecture((a, c, b, e, d, f))] if a == "skip_connect" else []


class TestReferenceVariant(TestNASBench201):
    samples = 20
    trained = 4
    counted = 2

    def space(self) -> Space:
        return NASBench201(channels=2, cells=1, variant="reference", identity="function")


def make_net(pick: Callable) -> nn.Module:
    widths = [6] + [pick(f"width{i}", [4, 8]) for i in range(pick.integer("depth", 1, 3))]
    layers = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(widths)]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 3))


class TestOwn(SpaceSuite):
    task = Task((6,), 3)
    samples = 10

    def space(self) -> Space:
        return own(make_net)


# -- the suite can fail -------------------------------------------------------------------------------------------------
class Broken(NASBench201):
    """Small, and wrong in one method that a test puts in."""

    def __init__(self) -> None:
        super().__init__(channels=2, cells=1)


def suite(**broken: Callable) -> SpaceSuite:
    kind = type("Wrong", (Broken,), broken)
    checks = type("Checks", (SpaceSuite,), {"task": Task((3, 8, 8), 4), "samples": 20, "space": lambda self: kind()})
    return checks()


def mutate_any_edge_to_none(self, architecture: Architecture, rng: random.Random) -> Architecture:
    ops = list(architecture.ops)
    ops[rng.randrange(6)] = "none"
    return Architecture(tuple(ops))


def build_with_a_stray_parameter(self, architecture: Architecture, task: Task) -> nn.Module:
    network = NASBench201.build(self, architecture, task)
    network.stray = nn.Parameter(torch.zeros(1))
    return network


@pytest.mark.parametrize(
    ("test", "broken", "message"),
    [
        ("same_seed_same_sample", {"sample": lambda self, rng: NASBench201.sample(self, random)}, "equal seeds"),
        ("text_round_trip", {"parse": lambda self, text: NASBench201().named["ResNet"]}, "was read back as"),
        ("json_round_trip", {}, "came back as"),  # its reference is that of another class
        ("nonsense_is_refused", {"parse": lambda self, text: NASBench201().named["ResNet"]}, "was read as"),
        ("mutation_stays_inside_and_differs", {"mutate": mutate_any_edge_to_none}, "mutated to itself"),
        ("crossover_stays_inside", {"crossover": lambda self, a, b, rng: "a child"}, "."),
        ("listing", {"size": 15_624}, "size is 15624, 15625 are listed"),
        ("identity", {"canonical": lambda self, a: f"{a}{random.random()}"}, "with another identity"),
        ("builds", {"build": build_with_a_stray_parameter}, "parameters are built"),
        ("counts_agree_with_the_network", {"counts": lambda self, a, task: Counts(1, 1)}, "measured"),
        ("forward_and_backward", {"build": build_with_a_stray_parameter}, r"no gradient for \['stray'\]"),
        ("forward_and_backward", {"unused_parameters": lambda self, a: ["classifier"]}, "there is a gradient for"),
        (
            "forward_and_backward",
            {"build": lambda self, a, task: NASBench201.build(self, a, Task(task.inputs, 9))},
            "shape",
        ),
    ],
)
def test_broken_promises_are_found(test, broken, message):
    with pytest.raises(Exception, match=message) as caught:
        getattr(suite(**broken), f"test_{test}")()
    assert isinstance(caught.value, AssertionError) or test == "crossover_stays_inside"


def test_the_suite_asks_for_a_space():
    with pytest.raises(NotImplementedError, match="give the suite its space"):
        SpaceSuite().test_text_round_trip()
