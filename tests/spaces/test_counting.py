"""Each formula against the network it stands for; the oracle itself against numbers worked out by hand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import InputError
from foresee.spaces import blocks, counting
from foresee.spaces.counting import Counts, measure, on_meta, strided
from foresee.task import Task

frugal = examples(20)
small = st.integers(1, 12)
sizes = st.tuples(st.integers(1, 17), st.integers(1, 17))


@frugal
@given(
    small, small, st.sampled_from([1, 3, 5]), st.sampled_from([1, 2, 3]), st.sampled_from([1, 2]), st.booleans(), sizes
)
def test_conv2d(inputs, outputs, kernel, stride, groups, bias, size):
    inputs, outputs = inputs * groups, outputs * groups
    options = {"stride": stride, "padding": kernel // 2, "groups": groups, "bias": bias}
    oracle = measure(lambda: nn.Conv2d(inputs, outputs, kernel, **options), Task((inputs, *size)))
    assert counting.conv2d(inputs, outputs, kernel, strided(size, stride), groups=groups, bias=bias) == oracle


@frugal
@given(small, small, st.booleans(), small)
def test_linear(inputs, outputs, bias, positions):
    oracle = measure(lambda: nn.Linear(inputs, outputs, bias=bias), Task((positions, inputs)))
    assert counting.linear(inputs, outputs, bias=bias, positions=positions) == oracle


@frugal
@given(small, small, small)
def test_matmul(rows, inner, times):
    class Gram(nn.Module):
        def forward(self, x):
            return x @ x.transpose(-1, -2)

    oracle = measure(Gram, Task((times, rows, inner)))
    assert counting.matmul(rows, inner, rows, times=times) == oracle


@pytest.mark.parametrize("affine", [True, False])
def test_norm(affine):
    assert counting.norm(6, affine=affine) == measure(lambda: nn.BatchNorm2d(6, affine=affine), Task((6, 4, 4)))


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("stride", [1, 2])
def test_relu_conv_bn(affine, stride):
    oracle = measure(lambda: blocks.relu_conv_bn(4, 6, 3, stride=stride, affine=affine), Task((4, 9, 7)))
    assert counting.relu_conv_bn(4, 6, 3, strided((9, 7), stride), affine=affine) == oracle


@frugal
@given(small, small, sizes)
def test_reduction(inputs, outputs, size):
    oracle = measure(lambda: blocks.Reduction(inputs, outputs), Task((inputs, *size)))
    assert counting.reduction(inputs, outputs, strided(size)) == oracle


def test_the_oracle_against_numbers_worked_out_by_hand():
    network = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16, 5))
    assert measure(lambda: network, Task((3, 4, 4), 5)) == Counts(216 + 645, 216 * 16 + 640)


def test_composing():
    one = Counts(3, 5)
    assert counting.repeat(one, 4) == counting.total([one] * 4) == Counts(12, 20)
    assert counting.total([]) == counting.NOTHING
    assert one.flops == 10


def test_a_network_that_cannot_be_made_on_meta_is_made_on_the_cpu():
    def build():
        width = int(torch.arange(4).sum())  # reads a number
        return nn.Linear(width, 2)

    assert measure(build, Task((6,), 2)) == Counts(14, 12)


def test_on_meta_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    assert on_meta(lambda: torch.rand(2)).is_meta
    assert on_meta(lambda: torch.rand(2).sum().item()) > 0
    assert torch.equal(torch.get_rng_state(), before)


def test_inputs_that_do_not_fit_are_named():
    with pytest.raises(InputError, match="does not take inputs of 3x4x4"):
        measure(lambda: nn.Linear(7, 2), Task((3, 4, 4)))
