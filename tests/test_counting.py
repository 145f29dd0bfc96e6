from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.counting import count_macs, count_params, macs_by_module, stored_bytes
from foresee.errors import UnsupportedError
from foresee.testing.samples import random_states


class Branching(nn.Module):
    """Cannot run without real numbers."""

    def __init__(self):
        super().__init__()
        self.a, self.offset = nn.Linear(4, 3), torch.ones(4)  # neither parameter nor buffer

    def forward(self, x):
        return self.a(x + self.offset) if float(x.sum()) == 0 else x


@pytest.mark.parametrize(
    ("network", "shape", "macs"),
    [
        (nn.Conv2d(3, 8, 3, padding=1), (3, 5, 5), 25 * 8 * 27),
        (nn.Conv2d(4, 8, 3, padding=1, groups=4), (4, 5, 5), 25 * 8 * 9),
        (nn.ConvTranspose2d(3, 8, 2, stride=2), (3, 5, 5), 25 * 3 * 8 * 4),
        (nn.Linear(4, 3), (7, 4), 7 * 12),
        (nn.Sequential(nn.BatchNorm2d(3), nn.ReLU(), nn.AvgPool2d(2)), (3, 4, 4), 0),
        (nn.LSTM(8, 16, batch_first=True), (5, 8), 5 * 4 * 16 * (8 + 16)),
        (
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
            (7, 16),
            7 * 16 * 48 + 7 * 16 * 16 + 2 * 7 * 16 * 32 + 2 * 7 * 7 * 16,
        ),
        (Branching(), (4,), 12),
    ],
)
def test_macs_of_one_sample(network, shape, macs):
    assert count_macs(network, torch.zeros(5, *shape)) == macs


def test_attention_is_counted_on_a_real_device_too():
    class Attending(nn.Module):
        def forward(self, x):
            assert float(x.sum()) == 0  # not on the meta device
            return F.scaled_dot_product_attention(x, x, x)

    assert count_macs(Attending(), torch.zeros(1, 2, 7, 8)) == 2 * 2 * 7 * 7 * 8


def test_counting_leaves_the_network_alone():
    network = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
    kept = network[1].running_mean.clone()
    assert count_macs(network, torch.randn(2, 4)) == 12
    assert network.training
    assert network[0].weight.device.type == "cpu"
    assert torch.equal(network[1].running_mean, kept)


class Drawing(nn.Linear):
    """Draws from every source there is; not on the meta device, so that it is run twice."""

    def forward(self, x):
        torch.rand(1), random.random(), np.random.random_sample()  # noqa: NPY002
        float(x.sum())
        return super().forward(x)


@pytest.mark.parametrize("count", [count_macs, stored_bytes])
def test_counting_moves_no_generator(count):
    network, inputs = Drawing(4, 3), torch.randn(2, 4)
    states = random_states()
    with contextlib.suppress(RuntimeError, UnsupportedError):
        count(network, inputs)
    assert random_states() == states


def test_several_inputs():
    assert count_macs(nn.Bilinear(2, 3, 4), (torch.zeros(1, 2), torch.zeros(1, 3))) == 0  # torch's counter has no rule

    class Two(nn.Linear):
        def forward(self, x, y):
            return super().forward(x + y)

    assert count_macs(Two(2, 3), (torch.zeros(4, 2), torch.zeros(4, 2))) == 6


def test_shared_parameters_count_once():
    network = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    network[1].weight = network[0].weight
    assert count_params(network) == 9 + 3 + 3
    assert count_params(nn.ReLU()) == 0


def test_what_cannot_be_counted_says_so():
    with pytest.raises(UnsupportedError, match="lazy"):
        count_params(nn.LazyLinear(2))

    class Uncopyable(nn.Module):
        def __deepcopy__(self, memo):
            raise TypeError("not me")

    with pytest.raises(UnsupportedError, match="not me"):
        count_macs(Uncopyable(), torch.zeros(1, 2))
    with pytest.raises(RuntimeError):
        count_macs(nn.Linear(3, 2), torch.zeros(1, 5))


@pytest.mark.parametrize(
    "network", [nn.Linear(4, 3), nn.Sequential(nn.Linear(4, 8), nn.ModuleList([nn.Linear(8, 2)])[0])]
)
def test_macs_by_module_add_up(network):
    x = torch.zeros(1, 4)
    assert sum(macs_by_module(network, x).values()) == count_macs(network, x)


def test_macs_under_a_list_that_is_never_called():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 2)])
            self.mix = nn.Parameter(torch.zeros(2, 3))

        def forward(self, x):
            return self.parts[1](self.parts[0](x)) @ self.mix

    assert macs_by_module(Listed(), torch.zeros(1, 4)) == {"": 6, "parts.0": 16, "parts.1": 8}
