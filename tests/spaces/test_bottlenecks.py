"""Inverted bottlenecks: shapes, the sum with the input, gates, and formulas against the modules."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.spaces.bottlenecks import HardSigmoid, InvertedBottleneck, Shape, SqueezeExcite, count
from foresee.spaces.counting import measure
from foresee.task import Task

shapes = st.builds(
    Shape,
    inputs=st.integers(1, 6),
    outputs=st.integers(1, 6),
    hidden=st.integers(1, 12),
    kernel=st.sampled_from([3, 5, 7]),
    stride=st.sampled_from([1, 2]),
    squeezed=st.integers(0, 3),
)


@examples(30)
@given(shapes, st.integers(1, 9), st.integers(1, 9))
def test_formulas_are_the_modules(shape, height, width):
    task = Task((shape.inputs, height, width), 1)
    assert count(shape, (height, width)) == measure(lambda: InvertedBottleneck(shape), task)


def test_the_input_is_added_where_the_shape_is_kept():
    x = torch.randn(2, 4, 5, 5)
    block = InvertedBottleneck(Shape(4, 4, 8, 3)).eval()
    nn.init.zeros_(block.narrow[0].weight)
    assert torch.equal(block(x), x)
    for shape in (Shape(4, 4, 8, 3, stride=2), Shape(4, 5, 8, 3)):
        block = InvertedBottleneck(shape).eval()
        nn.init.zeros_(block.narrow[0].weight)
        assert not block(x).any()


def test_the_cheap_sigmoid_is_torchs_and_differentiable_twice():
    x = torch.linspace(-4, 4, 33, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(HardSigmoid()(x), nn.Hardsigmoid()(x))
    inside = torch.linspace(-2.9, 2.9, 7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(HardSigmoid(), inside)


def test_nothing_widens_where_there_are_as_many():
    names = dict(InvertedBottleneck(Shape(4, 6, 4, 3)).named_parameters())
    assert not any(name.startswith("widen") for name in names)
    assert names["look.0.weight"].shape == (4, 1, 3, 3)


@pytest.mark.parametrize("gate", [nn.Sigmoid, HardSigmoid])
def test_gates_by_hand(gate):
    torch.manual_seed(0)
    squeeze, x = SqueezeExcite(4, 2, gate), torch.randn(3, 4, 5, 5)
    inner = torch.relu(x.mean((2, 3)) @ squeeze.reduce.weight[:, :, 0, 0].T + squeeze.reduce.bias)
    factors = gate()(inner @ squeeze.expand.weight[:, :, 0, 0].T + squeeze.expand.bias)
    torch.testing.assert_close(squeeze(x), x * factors[:, :, None, None])
