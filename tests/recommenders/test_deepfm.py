"""The factorisation machine against the sum over all pairs."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.recommenders.planted import TASK

from foresee.recommenders import make
from foresee.recommenders.deepfm import pairwise_sum


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 5))
def test_as_the_sum_over_pairs(seed: int, fields: int, dimension: int) -> None:
    draws = torch.Generator().manual_seed(seed)
    vectors = torch.randn(3, fields, dimension, dtype=torch.float64, generator=draws)
    slow = torch.zeros(3, 1, dtype=torch.float64)
    for i in range(fields):
        for j in range(i + 1, fields):
            slow[:, 0] += (vectors[:, i] * vectors[:, j]).sum(1)
    assert torch.allclose(pairwise_sum(vectors), slow)


def test_without_its_deep_part_it_is_a_factorisation_machine() -> None:
    network = make("deepfm", TASK, seed=0, deep=(8,)).eval()
    torch.nn.init.zeros_(network.deep[1].weight)
    dense, sparse = torch.randn(4, 2), torch.tensor([[0, 1, 2]] * 4)
    expected = network.linear(dense, sparse) + pairwise_sum(network.fields(dense, sparse))
    assert torch.allclose(network(dense, sparse), expected)
