"""Dextr's Lemma 1."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from foresee.insight.theory.unit_maps import unit_maps
from foresee.spaces.find import get
from foresee.task import Task


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 1000))
def test_no_entry_is_larger_than_the_largest_singular_value(rows, columns, seed):
    matrix = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    assert torch.linalg.matrix_norm(matrix, ord=2) >= matrix.abs().max() * (1 - 1e-12)


def test_on_a_cell_of_a_benchmark():
    space = get("nasbench201", channels=4, cells=1)
    torch.manual_seed(0)
    text = "|nor_conv_3x3~0|+|skip_connect~0|nor_conv_1x1~1|+|avg_pool_3x3~0|none~1|skip_connect~2|"
    network = space.build(space.parse(text), Task((3, 16, 16), 10))
    found = unit_maps(network, torch.randn(1, 3, 16, 16))
    assert found.step("sigma_max").holds
    assert found.step("layers with").holds
    assert found.constants["share of layers that reach 1"] > 0.9


def test_small_maps_do_not_reach_one_and_the_condition_says_why():
    network = nn.Sequential(nn.Conv2d(1, 2, 1, bias=False), nn.Sigmoid())
    with torch.no_grad():
        network[0].weight.fill_(1e-3)
    found = unit_maps(network, 0.01 * torch.ones(1, 1, 2, 2))
    assert not found.applies
    assert not found.step("Lemma 1").holds
    assert found.constants["least sigma_max"] < 1
    assert found.constants["share of layers that reach 1"] == pytest.approx(0.5)  # sigmoids of 0: sqrt(8) / 2
