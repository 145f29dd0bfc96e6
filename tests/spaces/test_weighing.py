"""Weights of options: what is computed is decided on the host, and read once."""

from __future__ import annotations

import pytest
import torch
from tests.one_shots import CASES
from torch.utils._python_dispatch import TorchDispatchMode

from foresee.seeds import generator, stream
from foresee.spaces.nasbench201 import NASBench201
from foresee.spaces.weighing import ONE, Present, Weight, live, moved, on_host
from foresee.task import Task


class Asked(TorchDispatchMode):
    """Counts how often a number is read from a tensor, which on a GPU waits for it."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket in (torch.ops.aten._local_scalar_dense, torch.ops.aten.item):
            type(self).count += 1
        return func(*args, **(kwargs or {}))


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr(Asked, "count", 0)
    return Asked


def test_the_counter_counts(asked):
    with asked():
        assert bool(torch.ones(()) > 0)
        assert float(torch.ones(())) == 1.0
    assert asked.count == 2


@pytest.mark.parametrize("name", CASES)
def test_a_run_asks_no_tensor_for_its_value(name, asked):
    case = CASES[name]
    network, batch = case.one_shot(), case.batch()
    network.select(case.space().sample(stream(1)))
    with asked():
        batch.call(network).sum().backward()
    network.mix(network.uniform())
    with asked():
        batch.call(network)
    assert asked.count == 0


@pytest.mark.parametrize("name", ["nasbench201", "darts_partial", "darts_nasi", "nats_size", "nasrec_full"])
def test_nor_does_a_straight_through_draw(name, asked):
    case = CASES[name]
    network, batch = case.one_shot(), case.batch()
    network.mix(network.draw(network.logits(1.0, generator(0)), generator=generator(1)))
    with asked():
        batch.call(network).sum().backward()
    assert asked.count == 0


def test_idle_options():
    weights = torch.tensor([0.0, 2.0], requires_grad=True)
    assert [one is None for one in live(weights)] == [False, False]
    assert [one.zero for one in live(weights)] == [True, False]
    assert [one is None for one in live(weights, "chosen")] == [True, False]
    assert [one is None for one in live(weights.detach())] == [True, False]
    with torch.no_grad():
        assert [one is None for one in live(weights)] == [True, False]


def test_the_host_is_believed():
    assert [one is None for one in live(torch.ones(2), host=torch.tensor([0.0, 1.0]))] == [True, False]


def test_values_and_weights_that_are_not_zero():
    x = torch.tensor([3.0])
    assert Weight(torch.tensor(2.0)).times(torch.square, x).item() == 18
    assert Weight(torch.tensor(0.0), zero=True).times(torch.square, x).item() == 0
    assert ONE.times(torch.square, x).item() == 9
    assert ONE.to(x.double()).dtype == torch.float64
    weight = torch.tensor(2.0, requires_grad=True)
    assert torch.autograd.grad(Weight(weight).times(torch.square, x), weight)[0] == 9


def test_vectors_move_together():
    """The meta device stands for another one: shapes and types are kept, and one copy is made for each type."""
    given = {"a": torch.rand(2), "b": torch.rand(2, 3), "c": torch.rand(4).double()}
    there = moved(given, torch.device("meta"))
    assert {name: (one.shape, one.dtype) for name, one in there.items()} == {
        name: (one.shape, one.dtype) for name, one in given.items()
    }
    assert len({one.untyped_storage()._cdata for one in there.values()}) == 2
    assert all(there[name] is not given[name] for name in given)
    assert moved(given, torch.device("cpu")) == given


def test_gradients_go_through_a_move():
    source = torch.rand(3, requires_grad=True)
    there = moved({"a": source * 2}, torch.device("meta"))["a"]
    assert there.requires_grad


def test_what_changes_in_place_is_read_again():
    vector = torch.tensor([0.0, 1.0])
    present = Present({"a": vector}, on_host({"a": vector}), torch.device("cpu"))
    assert [one is None for one in live(present["a"], host=present.host("a"))] == [True, False]
    vector[0] = 1.0
    assert present.host("a").tolist() == [1.0, 1.0]


def test_weights_move_with_the_network():
    network = NASBench201(channels=2, cells=1).one_shot(Task((3, 8, 8), 3))
    assert {vector.device.type for vector in network.weights.values()} == {"cpu"}
    network.to("meta")
    assert network.weight("1.0").is_meta
    assert network.host("1.0").tolist() == network.weights["1.0"].tolist()
