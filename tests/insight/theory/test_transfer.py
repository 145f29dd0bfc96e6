"""Theorem 7.3: a metric on other data."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee import score
from foresee.insight.theory.papers_networks import tangent_network
from foresee.insight.theory.transfer import transfer


def unit(samples: int, numbers: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return nn.functional.normalize(torch.randn(samples, numbers, generator=generator), dim=1)


def test_data_of_one_kind_transfer():
    network = tangent_network(16, width=128)
    x, z = unit(6, 16), unit(6, 16, seed=1)
    found = transfer(network, x, z, layers=3)
    assert found.holds
    settings = {"outputs": "all", "parameters": "all"}
    labels = torch.zeros(6).long()
    expected = [score(network, (one.double(), labels), "m_trace", settings=settings).value for one in (x, z)]
    assert [found.constants["M"], found.constants["M'"]] == pytest.approx(expected, rel=1e-5)


def test_the_theorem_is_silent_where_the_data_are_too_far_apart():
    network = tangent_network(4, width=64)
    found = transfer(network, unit(4, 4), 0.05 * unit(4, 4, seed=1), layers=3)
    assert not found.applies
    assert "says nothing" in found.notes[0]
    assert all(not step.name.startswith("Theorem 7.3") for step in found.steps)
    assert found.step("D.40: ").holds  # the root's step is exact, whatever the data


def test_many_numbers_leave_room():
    """(b) of the thesis' remark: with many inputs the bound on other data is nearly the own one."""
    network = tangent_network(400, width=64, layers=2)
    x, z = unit(3, 400), unit(3, 400, seed=1)
    slack = [
        transfer(tangent_network(n, width=64, layers=2), unit(3, n), unit(3, n, 1), layers=2).constants["slack"]
        for n in (4, 400)
    ]
    assert slack[1] < slack[0]
    assert transfer(network, x, z, layers=2).step("D.41").holds
