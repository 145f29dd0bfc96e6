"""Batch statistics that fit: against torch's own, on a copy, in evaluation mode."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.data.arrays import Arrays
from foresee.supernets.evaluating import judge, looks, own, settled


def data(samples=32):
    draws = torch.Generator().manual_seed(0)
    return Arrays(torch.randn(samples, 3, 4, 4, generator=draws), torch.arange(samples) % 2)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.Flatten(), nn.Linear(64, 2))


def test_statistics_are_the_mean_over_the_batches():
    one = network()
    batches = list(looks(data(), size=8))
    assert len(batches) == 4
    found = settled(one, batches)
    maps = [one[0](batch.inputs) for batch in batches]
    mean = torch.stack([each.mean((0, 2, 3)) for each in maps]).mean(0)
    variance = torch.stack([each.var((0, 2, 3)) for each in maps]).mean(0)
    torch.testing.assert_close(found[1].running_mean, mean)
    torch.testing.assert_close(found[1].running_var, variance)
    assert found[1].momentum == one[1].momentum
    assert not any(module.training for module in found.modules())


def test_nothing_happens_to_the_network_itself():
    one = network()
    before = {key: value.clone() for key, value in one.state_dict().items()}
    found = settled(one, looks(data(), size=8))
    assert found is not one
    assert one.training
    assert all(torch.equal(value, before[key]) for key, value in one.state_dict().items())
    assert {a.data_ptr() for a in found.parameters()}.isdisjoint(a.data_ptr() for a in one.parameters())


def test_without_statistics_there_is_nothing_to_estimate():
    one = nn.Sequential(nn.Flatten(), nn.Linear(48, 2), nn.LayerNorm(2))
    assert settled(one, []) is one


def test_a_copy_has_what_it_needs_alone():
    whole = nn.Parameter(torch.rand(100, 100))
    part = nn.Linear(2, 3, bias=False)
    part.weight = nn.Parameter(whole.detach()[:3, :2])
    copied = own(part)
    assert torch.equal(copied.weight, part.weight)
    assert copied.weight.untyped_storage().nbytes() == 24
    tied = nn.Sequential(part, part)
    both = own(tied)
    assert both[0].weight is both[1].weight


def test_judged_by_hand():
    one, given = network().eval(), data(10)
    batch = next(given.epoch(10, shuffle=False))
    expected = (one(batch.inputs).argmax(1) == batch.labels).float().mean().item()
    found = judge(one, given, size=4)
    assert found.accuracy == pytest.approx(expected)
    assert found.samples == 10
