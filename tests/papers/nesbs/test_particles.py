"""Figure 5.2: the mixture of the caption, and particles that are the more diverse the larger delta."""

from __future__ import annotations

import pytest
import torch

from foresee.papers import Workshop, reproduce
from foresee.papers.nesbs.particles import CENTRES, VARIANCES, begin, heights, log_density, slope


def test_the_density_is_that_of_torch():
    points = torch.randn(7, 2, dtype=torch.float64)
    parts = torch.distributions.MultivariateNormal(CENTRES, torch.diag(VARIANCES))
    mixture = torch.distributions.MixtureSameFamily(torch.distributions.Categorical(torch.ones(2)), parts)
    assert torch.allclose(log_density(points), mixture.log_prob(points), rtol=1e-6)


def test_its_slope_is_its_gradient():
    points = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    (wanted,) = torch.autograd.grad(log_density(points).sum(), points)
    assert torch.allclose(slope(points.detach()), wanted)


def test_the_map_is_the_density():
    found = heights()
    place = torch.tensor([[found.x[3], found.y[30]]], dtype=torch.float64)
    assert found.z[30][3] == pytest.approx(float(log_density(place).exp()))


def test_more_delta_is_more_diverse_and_densities_stay_high():
    deltas = (-1.0, -0.5, 0.0, 1.0)
    page = reproduce("thesis-figure-5.2", Workshop(sample=8, table_settings={"deltas": deltas, "steps": 200}))
    cells = {(line.row, line.column): line.ours.value for line in page.lines}
    apart = [cells[f"delta = {delta:g}", "mean distance"] for delta in deltas]
    assert apart == sorted(apart)
    drawn = float(log_density(begin(8, 0)).mean())
    assert all(cells[f"delta = {delta:g}", "mean log density"] > drawn for delta in deltas)
    assert [scatter.name for scatter in page.scatters] == ["delta-1", "delta-0.5", "delta+0", "delta+1"]
    assert all(len(scatter.x) == 8 for scatter in page.scatters)
    assert any("200" in note for note in page.notes)


def test_seeds_decide_where_particles_begin():
    assert torch.equal(begin(3, 1), begin(3, 1))
    assert not torch.equal(begin(3, 1), begin(3, 2))
