"""Theorem 7.2 and Corollary 7.2: exact steps, and the one that is printed the wrong way round."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from foresee.errors import InputError
from foresee.insight.theory.generalisation import generalisation
from foresee.insight.theory.papers_networks import tangent_network


def data(samples: int = 8, numbers: int = 5):
    torch.manual_seed(0)
    x = nn.functional.normalize(torch.randn(3 * samples, numbers), dim=1)
    y = (x[:, 0] > 0).double()
    return (x[:samples], y[:samples]), (x[samples:], y[samples:])


def test_all_but_jensens_step_hold_on_a_wide_network():
    found = generalisation(tangent_network(5, width=128), *data(), steps=30)
    assert [step.name for step in found.failing] == ["D.36 (Jensen), as printed"]
    assert found.constants["kappa"] > 1
    assert found.constants["gap of the bound"] > found.constants["error on unseen samples"]  # true, and loose


@pytest.mark.parametrize("width", [8, 32])
def test_they_hold_on_narrow_ones_too_with_what_linearisation_misses(width):
    found = generalisation(tangent_network(5, width=width, layers=2, activation=nn.Tanh), *data(4), steps=20)
    assert {step.name for step in found.failing} <= {"D.36 (Jensen), as printed"}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6), st.integers(1, 20))
def test_jensens_inequality_goes_the_other_way(eigenvalues, steps):
    """The mean of (1 - a)^(2t) is at least (1 - mean a)^(2t), and at most 1 - mean a: D.36 and what replaces it."""
    a = torch.tensor(eigenvalues, dtype=torch.float64)
    powers = (1 - a) ** (2 * steps)
    assert powers.mean() >= (1 - a.mean()) ** (2 * steps) * (1 - 1e-9)
    assert powers.mean() <= 1 - a.mean() + 1e-12


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=6))
def test_lemma_d_8(eigenvalues):
    a = torch.tensor(eigenvalues, dtype=torch.float64)
    assert a.sum() * (1 / a).sum() <= len(a) ** 2 * a.max() / a.min() * (1 + 1e-9)


def test_conditions_are_said():
    (x, y), held_out = data(4)
    found = generalisation(tangent_network(5, width=32), (3 * x, y), held_out, steps=5)
    assert not found.applies
    assert not next(one for one in found.conditions if one.name == "|x| <= 1").met


def test_what_it_is_not_about():
    first, second = data(4)
    with pytest.raises(InputError, match="one output"):
        generalisation(tangent_network(5, outputs=2), (first[0], torch.zeros(4, 2)), (second[0], torch.zeros(8, 2)))
    with pytest.raises(InputError, match="share"):
        generalisation(tangent_network(5), first, second, share=2.0)
    twice = torch.cat([first[0][:1]] * 2), torch.zeros(2)
    with pytest.raises(InputError, match="cannot be inverted"):
        generalisation(tangent_network(5, width=16), twice, second)
