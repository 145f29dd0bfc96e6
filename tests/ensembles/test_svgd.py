"""SVGD-RD: against a slow version by autograd, and what the thesis says of it (Propositions 5.1, 5.2, Figure 5.2)."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from foresee.ensembles.svgd import direction, median_bandwidth, svgd_rd
from foresee.errors import InputError

MEANS = torch.tensor([[-1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
VARIANCES = torch.tensor([0.25, 0.5], dtype=torch.float64)


def log_density(x: Tensor) -> Tensor:
    """Of Figure 5.2: two normal distributions."""
    squares = ((x[:, None] - MEANS) ** 2 / VARIANCES).sum(-1)
    return (-squares / 2).logsumexp(-1)


def slope(x: Tensor) -> Tensor:
    towards = (MEANS - x[:, None]) / VARIANCES
    nearer = (-((x[:, None] - MEANS) ** 2 / VARIANCES).sum(-1) / 2).softmax(-1)
    return (nearer[..., None] * towards).sum(1)


def slow(places: Tensor, slopes: Tensor, delta: float, h: float) -> Tensor:
    """Algorithm 5.3, line 3, letter by letter."""
    moved = []
    for i in range(len(places)):
        total = torch.zeros_like(places[0])
        for j in range(len(places)):
            x, other = places[i].clone().requires_grad_(), places[j].clone().requires_grad_()
            k = torch.exp(-((x - other) ** 2).sum() / h)
            by_x, by_other = torch.autograd.grad(k, (x, other))
            total += by_other - delta * by_x + k.detach() * slopes[j]
        moved.append(total / len(places))
    return torch.stack(moved)


@given(st.integers(1, 6), st.floats(-2, 1), st.integers(0, 1000))
def test_a_direction_is_the_algorithms(count, delta, seed):
    generator = torch.Generator().manual_seed(seed)
    places, slopes = torch.randn(2, count, 3, generator=generator, dtype=torch.float64)
    h = median_bandwidth(torch.cdist(places, places).square())
    torch.testing.assert_close(direction(places, slopes, delta), slow(places, slopes, delta, h))


@pytest.mark.parametrize("delta", [-2.0, -1.0, 0.3, 1.0])
def test_one_particle_goes_to_the_top_whatever_delta_is(delta):
    """Proposition 5.2."""
    start = torch.tensor([[0.3, 0.2]])
    end = svgd_rd(slope, start, delta=delta)
    assert float(slope(end).abs().max()) < 1e-6
    assert float(log_density(end)) > float(log_density(start.double()))
    torch.testing.assert_close(end, svgd_rd(slope, start, delta=0.0), rtol=0, atol=0)


def spread(delta: float, seed: int = 0) -> float:
    start = torch.randn(15, 2, generator=torch.Generator().manual_seed(seed))
    ends = svgd_rd(slope, start, delta=delta)
    return float(torch.pdist(ends).mean())


def test_more_delta_is_more_diverse():
    """Figure 5.2."""
    found = [spread(delta) for delta in (-0.9, -0.5, 0.0, 1.0)]
    assert found == sorted(found)
    assert found[-1] > 1.2 * found[0]


def test_nothing_is_driven_apart_at_minus_one():
    """Then each particle follows the mean slope alone: particles that begin together stay so."""
    places = torch.tensor([[0.0, 0.0], [0.5, 0.1]], dtype=torch.float64)
    still = torch.zeros_like(places)
    assert direction(places, still, -1.0).abs().max() == 0
    assert direction(places, still, 0.0).abs().max() > 0


def test_particles_in_one_place_stay_together():
    ends = svgd_rd(slope, torch.zeros(3, 2), delta=1.0, steps=50)
    assert float(torch.pdist(ends).max()) < 1e-9


def test_what_cannot_be_is_said():
    with pytest.raises(InputError, match="particles of shape"):
        svgd_rd(slope, torch.zeros(3))
    with pytest.raises(FloatingPointError, match="smaller rate"):
        svgd_rd(lambda x: x * 1e30, torch.ones(1, 1), steps=200)
