"""Theorems 4.3 and 4.4 on linear cells."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from foresee.errors import InputError, UnknownNameError
from foresee.insight.linear_cells import compare, narrowest, widest

TINY = {"nodes": 3, "width": 3, "samples": 8}


def test_the_exact_step_of_the_proofs():
    """(A.4): the gradient of the narrowest cell from `∂f/∂y xᵀ` of its own nodes."""
    torch.manual_seed(0)
    n, d = 4, 3
    weights = torch.randn(n, d, d, dtype=torch.float64, requires_grad=True)
    x, target = torch.randn(d, dtype=torch.float64), torch.randn(n, d, dtype=torch.float64)
    nodes = narrowest(weights, x)
    told = (nodes - target).detach()  # of half the squared distance
    (found,) = torch.autograd.grad((nodes - target).square().sum() / 2, weights)
    for i in range(n):
        before = torch.eye(d, dtype=torch.float64)
        for j in range(i):
            before = weights[j] @ before
        expected, after = torch.zeros(d, d, dtype=torch.float64), torch.eye(d, dtype=torch.float64)
        for k in range(i, n):
            after = weights[k] @ after if k > i else after
            expected = expected + after.T @ torch.outer(told[k], x) @ before.T
        assert torch.allclose(found[i], expected)
    assert torch.allclose(widest(weights, x)[2], weights[2] @ x)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.floats(0.1, 3.0))
def test_both_hold_where_their_assumption_does(seed, scale):
    """Of an objective that is linear in the nodes, `∂f/∂y` is the same in both cells."""
    found = compare("linear", scale=scale, seed=seed, **TINY)
    assert all(one.smooth_holds and one.ours_holds and one.variance_holds for one in found.blocks)
    assert all(one.lipschitz_narrowest == pytest.approx(0, abs=1e-9) for one in found.blocks)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.floats(0.1, 2.0), st.sampled_from(["quadratic", "cross-entropy"]))
def test_the_bound_put_right_always_holds(seed, scale, objective):
    found = compare(objective, scale=scale, seed=seed, **TINY)
    assert all(one.ours_holds for one in found.blocks)


def test_the_printed_bound_misses_what_comes_after():
    """The first block has no λ before it: printed, its constant would be that of the widest cell."""
    found = compare("quadratic", scale=1.0, **TINY)
    assert found.blocks[0].lipschitz_bound == found.blocks[0].lipschitz_widest < found.blocks[0].lipschitz_narrowest
    assert not found.blocks[0].smooth_holds


def test_quadratic_constants_in_closed_form():
    """Of half the squared distance: widest `||E x xᵀ||`; of the narrowest cell's last block `||Q E x xᵀ Qᵀ||`."""
    found = compare("quadratic", nodes=2, width=3, samples=8, seed=5)
    one, two = found.blocks
    assert one.lipschitz_widest == pytest.approx(two.lipschitz_widest)
    assert two.lipschitz_narrowest <= one.norm**2 * two.lipschitz_widest * (1 + 1e-9)


def test_ratios_grow_with_the_weights():
    small, large = (compare("quadratic", scale=scale, **TINY) for scale in (0.3, 2.0))
    assert small.smoothness < large.smoothness
    assert small.noise < large.noise
    assert math.isnan(compare("linear", **TINY).smoothness)
    assert len(small.to_json()["blocks"]) == 3


def test_what_cannot_be_asked_for():
    with pytest.raises(UnknownNameError):
        compare("cubic")
    with pytest.raises(InputError, match="scale"):
        compare(scale=0)
