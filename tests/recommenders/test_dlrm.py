"""Interactions of DLRM against a double loop."""

from __future__ import annotations

import torch

from foresee.recommenders.dlrm import interactions


def test_pairs_one_by_one() -> None:
    vectors = torch.randn(3, 5, 4, dtype=torch.float64)
    slow = torch.stack([(vectors[:, i] * vectors[:, j]).sum(1) for i in range(5) for j in range(i)], 1)
    assert torch.allclose(interactions(vectors), slow)
