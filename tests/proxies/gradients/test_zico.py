from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.proxies.gradients.zico import steadiness
from foresee.scoring import score

RANDOM = examples(15)


def slow_zico(network, batches):
    rows: dict[str, list] = {}
    for x, y in batches:
        network.zero_grad()
        F.cross_entropy(network.train()(x), y).backward()
        for name, module in network.named_modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                rows.setdefault(name, []).append(module.weight.grad.flatten().tolist())
    network.zero_grad()
    total = 0.0
    for gradients in rows.values():
        inside = 0.0
        for entry in zip(*gradients, strict=True):
            mean = sum(entry) / len(entry)
            deviation = math.sqrt(sum((g - mean) ** 2 for g in entry) / len(entry))
            if deviation > 0:
                inside += sum(map(abs, entry)) / len(entry) / deviation
        total += math.log(inside) if inside > 0 else 0.0
    return total


@pytest.mark.checks("zico")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), count=st.integers(2, 4))
def test_the_formula(small, batch, seed, norm, count):
    network, batches = small(seed, norm=norm), [batch(4, seed + i) for i in range(count)]
    # Near-ties of two batches are dominated by rounding: compare to what float64 can tell.
    assert score(network, batches, "zico").value == pytest.approx(slow_zico(network, batches), rel=1e-6)


def test_a_single_batch_is_halved(small, batch):
    x, y = batch(7)
    halves = [(x[:3], y[:3]), (x[3:6], y[3:6])]
    assert score(small(), (x, y), "zico").value == score(small(), halves, "zico").value


def test_one_sample_is_too_few(small, batch):
    found = score(small(), batch(1), "zico")
    assert found.status == "unsupported"
    assert "cannot be split" in found.reason


def test_equal_batches_have_no_deviation(small, batch):
    found = score(small(), [batch(4)] * 3, "zico")
    assert found.status == "nan"
    assert "the same" in found.reason


def test_the_order_of_batches_does_not_matter(small, batch):
    batches = [batch(4, i) for i in range(3)]
    forward = score(small(), batches, "zico").value
    assert score(small(), batches[::-1], "zico").value == pytest.approx(forward, rel=1e-9)


def test_steadiness_broadcasts_and_drops_what_does_not_vary():
    rows = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    rows[..., 0] = 0.1
    together = steadiness(rows)
    assert together.shape == (2, 3)
    alone = rows[1, 2, :, 1:]
    assert float(together[1, 2]) == pytest.approx(float((alone.abs().mean(0) / alone.std(0, correction=0)).sum()))
