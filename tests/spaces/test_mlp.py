"""Perceptrons."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import InputError
from foresee.seeds import stream
from foresee.spaces import MLP, get
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite


class TestExperiment(SpaceSuite):
    task = Task((1, 28, 28), 10)

    def space(self):
        return MLP()


class TestDeep(SpaceSuite):
    task = Task((7,), 3)
    trained = 15

    def space(self):
        return MLP(widths=(2, 8, 16), depths=(0, 1, 3))


def test_the_space_of_the_experiment():
    """Two layers, hidden dimensions from 2 to 48 in steps of 2, on MNIST."""
    space, task = MLP(), Task((1, 28, 28), 10)
    assert [one.widths for one in space.enumerate()] == [(width,) for width in range(2, 49, 2)]
    assert space.size == 24
    for one in space.enumerate():
        (width,) = one.widths
        assert space.counts(one, task).params == 784 * width + width + 10 * width + 10
        assert space.counts(one, task).macs == 794 * width


def test_network_is_what_it_says():
    network = MLP(widths=(4, 8), depths=(2,)).build(MLP(widths=(4, 8), depths=(2,)).parse("mlp(8,4)"), Task((2, 3), 5))
    x = torch.randn(6, 2, 3)
    first, second, last = (layer for layer in network if isinstance(layer, torch.nn.Linear))
    hidden = (second(first(x.reshape(6, 6)).relu())).relu()
    torch.testing.assert_close(network(x), last(hidden))
    assert [stage.shape[1] for stage in network.stages(x)] == [6, 8, 4]
    torch.testing.assert_close(network.stages(x)[-1], hidden)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("24", "expected the hidden widths, such as mlp\\(24\\)"),
        ("mlp(24", "expected the hidden widths"),
        ("mlp(3)", "width 3 of layer 1, expected one of 2, 4"),
        ("mlp(2,2)", "2 hidden layers, expected 1"),
        ("mlp()", "0 hidden layers"),
    ],
)
def test_precise_errors(text, message):
    with pytest.raises(InputError, match=message):
        MLP().parse(text)


def test_mutation_reaches_every_architecture():
    space = MLP(widths=(2, 4), depths=(1, 2))
    seen = {space.parse("mlp(2)")}
    for seed in range(200):
        seen |= {space.mutate(one, stream(seed)) for one in list(seen)}
    assert len(seen) == space.size == 6


def test_a_single_architecture_has_no_neighbour():
    space = MLP(widths=(8,))
    with pytest.raises(InputError, match="has no neighbour"):
        space.mutate(space.parse("mlp(8)"), stream(0))


@pytest.mark.parametrize("settings", [{"widths": []}, {"widths": [4, 2]}, {"widths": [0, 2]}, {"depths": [1.5]}])
def test_wrong_settings(settings):
    with pytest.raises(InputError, match="expected ascending whole numbers"):
        get("mlp", **settings)


def test_settings_travel():
    space = get("mlp", widths=[2, 4], depths=[1, 2])
    assert space.settings() == {"widths": [2, 4], "depths": [1, 2]}
    assert get("mlp", **space.settings()).size == space.size
    assert MLP().settings() == {}


def test_click_logs_are_refused():
    with pytest.raises(InputError, match="the task has 2 sparse features"):
        MLP().build(MLP().parse("mlp(2)"), Task((3,), 1, vocabularies=(4, 5)))
