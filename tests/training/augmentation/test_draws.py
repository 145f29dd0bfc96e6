"""Draws: within their bounds, and of their distributions."""

from __future__ import annotations

import pytest
import torch
from scipy import stats
from tests.training.augmentation.made import drawn

from foresee.training.augmentation.draws import below, beta, chance, signs, uniform


@pytest.mark.parametrize("alpha", [0.2, 0.8, 1.0, 4.0])
def test_beta_is_the_distribution_of_scipy(alpha: float) -> None:
    found = beta(alpha, 4000, drawn())
    assert stats.kstest(found.numpy(), stats.beta(alpha, alpha).cdf).pvalue > 0.01


def test_the_smallest_alpha_is_a_coin() -> None:
    found = beta(1e-6, 1000, drawn())
    assert torch.isfinite(found).all()
    assert ((found < 1e-6) | (found > 1 - 1e-6)).float().mean() > 0.99
    assert 0.4 < found.mean() < 0.6


def test_uniform_and_whole_numbers() -> None:
    assert stats.kstest(uniform(4000, drawn(), 2, 5).numpy(), stats.uniform(2, 3).cdf).pvalue > 0.01
    counts = torch.bincount(below(7, 7000, drawn()), minlength=7)
    assert stats.chisquare(counts.numpy()).pvalue > 0.01


def test_chances_may_differ_by_sample() -> None:
    probability = torch.tensor([0.0, 0.25, 1.0]).repeat(3000)
    found = chance(probability, 9000, drawn()).view(-1, 3).float().mean(0)
    assert found[0] == 0
    assert found[2] == 1
    assert abs(found[1] - 0.25) < 0.03


def test_signs_are_one_or_minus_one() -> None:
    found = signs(2000, drawn())
    assert set(found.tolist()) == {-1.0, 1.0}
    assert abs(found.mean()) < 0.1
