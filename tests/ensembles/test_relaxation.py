"""The relaxed posterior against scipy's normal distributions, autograd, and all corners one by one."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from foresee.ensembles.posterior import Posterior
from foresee.ensembles.relaxation import Relaxation

POSTERIOR = Posterior({"a": torch.tensor([1.0, -0.5]), "b": torch.tensor([0.2, 0.0, 2.0, -1.0])})


def points(seed, count=3):
    return 2 * torch.randn(count, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(st.integers(0, 10_000))
def test_the_density_is_a_product_of_mixtures(seed):
    """Eq. 5.8."""
    relaxed, found = Relaxation(POSTERIOR), points(seed)
    likely = POSTERIOR.probabilities()
    for point, value in zip(found.numpy(), relaxed.log_density(found), strict=True):
        total = 0.0
        for name, part in (("a", point[:2]), ("b", point[2:])):
            size = len(part)
            terms = [multivariate_normal(np.eye(size)[o], size * np.eye(size)).pdf(part) for o in range(size)]
            constant = (2 * np.pi * size) ** (-size / 2)
            total += np.log(np.dot(likely[name].numpy(), terms) / constant)
        np.testing.assert_allclose(float(value), total)


@given(st.integers(0, 10_000))
def test_the_slope_is_its_gradient(seed):
    relaxed = Relaxation(POSTERIOR)
    there = points(seed).requires_grad_()
    (expected,) = torch.autograd.grad(relaxed.log_density(there).sum(), there)
    torch.testing.assert_close(relaxed.slope(there.detach()), expected)


@given(st.integers(0, 10_000))
def test_a_point_is_decoded_to_the_nearest_corner(seed):
    """Eq. 5.9."""
    relaxed = Relaxation(POSTERIOR)
    (point,) = points(seed, 1)
    corners = [torch.cat([torch.eye(2)[i], torch.eye(4)[j]]) for i, j in itertools.product(range(2), range(4))]
    nearest = min(corners, key=lambda corner: float((point - corner).norm()))
    decoded = relaxed.decode(point)
    assert torch.equal(torch.cat([decoded["a"], decoded["b"]]), nearest)
    assert torch.equal(relaxed.corners(decoded), nearest.double())


def test_two_at_once_and_options_that_cannot_be():
    posterior = Posterior(
        {"inputs": torch.zeros(3), "op": torch.zeros(3)},
        {"inputs": 2},
        without=("none",),
        options={"inputs": ("0", "1", "2"), "op": ("none", "conv", "pool")},
    )
    decoded = Relaxation(posterior).decode(torch.tensor([0.1, 0.9, 0.8, 5.0, 0.2, 0.1]))
    assert decoded["inputs"].tolist() == [0.0, 1.0, 1.0]
    assert decoded["op"].tolist() == [0.0, 1.0, 0.0]
