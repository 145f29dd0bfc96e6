from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import InputError
from foresee.probes.draws import Draws
from foresee.proxies.features.zen import distance
from foresee.scoring import score

RANDOM = examples(8)


def pooled(seed: int = 0, dtype: torch.dtype = torch.float64) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)
    ).to(dtype)  # fmt: skip


def slow_zen(network, shape, seed, gamma):
    draws = Draws(seed)
    x, step = draws.normal("input", *shape), draws.normal("step", *shape)
    total = 0.0

    def run(x, count):
        nonlocal total
        for layer in network[:6]:
            if isinstance(layer, nn.Conv2d):
                name = next(n for n, m in network.named_modules() if m is layer)
                x = nn.functional.conv2d(x, draws.normal(f"weights.{name}.weight", *layer.weight.shape))
            elif isinstance(layer, nn.BatchNorm2d):
                variance = x.var(dim=(0, 2, 3), correction=0)
                total += math.log(math.sqrt(float(variance.mean()))) if count else 0.0
                x = (x - x.mean(dim=(0, 2, 3), keepdim=True)) / (variance + layer.eps)[:, None, None].sqrt()
            else:
                x = x.clamp(min=0)
        return x

    change = (run(x, True) - run(x + gamma * step, False)).abs().sum(dim=(1, 2, 3)).mean()
    return math.log(float(change)) + total


@pytest.mark.checks("zen")
@RANDOM
@given(seed=st.integers(0, 10**6), count=st.integers(2, 4), gamma=st.sampled_from([0.01, 0.1]))
def test_the_formula(seed, count, gamma):
    found = score(pooled(seed), torch.zeros(count, 2, 6, 6), "zen", seed=seed, settings={"gamma": gamma})
    assert found.value == pytest.approx(slow_zen(pooled(seed), (count, 2, 6, 6), seed, gamma), rel=1e-9)
    assert found.value == pytest.approx(found.parts["change"] + found.parts["scale"])


def test_the_data_do_not_matter_but_their_shape(small):
    x = torch.randn(3, 2, 6, 6)
    assert score(pooled(), x, "zen").value == score(pooled(), 2 * x, "zen").value
    assert score(pooled(), x, "zen").value != score(pooled(), x[:2], "zen").value


def test_the_own_weights_do_not_matter_unless_asked_for():
    x = torch.zeros(3, 2, 6, 6)
    assert score(pooled(1), x, "zen").value == score(pooled(2), x, "zen").value
    own = {"initialise": "default"}
    assert score(pooled(1), x, "zen", settings=own).value != score(pooled(2), x, "zen", settings=own).value


def test_pre_gap_and_the_pooling_module_agree():
    class WithMethod(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = pooled()

        def pre_gap(self, x):
            return self.inner[:6](x)

        def forward(self, x):
            return self.inner(x)

    class Without(WithMethod):
        pre_gap = None

    x = torch.zeros(3, 2, 6, 6)
    assert score(WithMethod(), x, "zen").value == pytest.approx(score(Without(), x, "zen").value, rel=1e-12)


def test_unsupported_and_failures():
    x = torch.zeros(3, 2, 6, 6)
    found = score(nn.Sequential(nn.Flatten(), nn.Linear(72, 5)), x, "zen")
    assert (found.status, "global pooling" in found.reason) == ("unsupported", True)
    found = score(nn.Embedding(4, 3), torch.tensor([[1, 2]]), "zen")
    assert (found.status, "one floating tensor" in found.reason) == ("unsupported", True)
    constant = nn.Sequential(nn.Conv2d(2, 3, 1), nn.Threshold(1e9, 0.0), nn.AdaptiveAvgPool2d(1))
    assert score(constant, x, "zen").status == "nan"
    without = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3, track_running_stats=False), nn.AdaptiveAvgPool2d(1))
    assert score(without, x, "zen").ok
    assert "running variance" in score(without, x, "zen:reference").reason
    with pytest.raises(InputError, match="gamma"):
        score(pooled(), x, "zen", settings={"gamma": 0})


def test_distance_broadcasts():
    a, b = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5)
    assert torch.allclose(distance(a, b)[1, 2], (a - b)[1, 2].abs().sum(1).mean())
