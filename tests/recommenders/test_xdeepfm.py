"""The compressed interaction network against slow loops over its equation."""

from __future__ import annotations

import torch

from foresee.recommenders.xdeepfm import CompressedInteractions


def test_as_the_loops_of_its_equation() -> None:
    fields, dimension, maps = 3, 4, (5, 2)
    network = CompressedInteractions(fields, maps)
    start = torch.randn(2, fields, dimension)
    before, sums = start, []
    for weight, made in zip(network.weights, maps, strict=True):
        after = torch.zeros(2, made, dimension)
        for h in range(made):
            for i in range(before.shape[1]):
                for j in range(fields):
                    after[:, h] += weight[h, i * fields + j] * before[:, i] * start[:, j]
        sums.append(after.sum(2))
        before = after
    assert torch.allclose(network(start), torch.cat(sums, 1), atol=1e-5)
