"""Quicker kernels: the numbers are those of torch's own."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from foresee.probes import quick
from foresee.probes.probe import Probe


@pytest.mark.parametrize(
    "settings", [{"stride": 1, "padding": 1, "count_include_pad": False}, {"stride": 2, "ceil_mode": True}]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_pooling_is_the_modules_own_bit_for_bit(settings, dtype):
    pool = nn.AvgPool2d(3, **settings)
    maps = torch.randn(3, 5, 9, 8, dtype=dtype, requires_grad=True)
    made, own = quick.Average(pool)(maps), pool(maps)
    assert torch.equal(made, own)
    assert made.is_contiguous()
    along = torch.randn_like(own)
    (back,), (own_back,) = (torch.autograd.grad(one, maps, along) for one in (made, own))
    assert torch.equal(back, own_back)
    assert back.is_contiguous()


def test_pooling_of_a_single_map_and_without_a_batch():
    pool = nn.AvgPool2d(2)
    assert torch.equal(quick.Average(pool)(torch.ones(1, 4, 4)), pool(torch.ones(1, 4, 4)))


@pytest.mark.parametrize(
    ("kernel", "padding", "bias"), [(3, 1, False), (3, 0, True), (1, 0, True), ((5, 3), (2, 0), False)]
)
def test_gradients_of_convolutions_agree_to_rounding(kernel, padding, bias, monkeypatch):
    monkeypatch.setattr(quick, "SLOW_BACKWARD", True)
    monkeypatch.setattr(quick, "LEAST", 0)
    layer = nn.Conv2d(4, 6, kernel, padding=padding, bias=bias)
    maps = torch.randn(5, 4, 9, 8, requires_grad=True)
    wanted = [maps, *layer.parameters()]
    with quick.quick_backward(layer):
        made = layer(maps)
    own = layer(maps)
    assert torch.equal(made, own)
    assert "_Convolution" in made.grad_fn.name()
    along = torch.randn_like(own)
    for one, other in zip(
        torch.autograd.grad(made, wanted, along), torch.autograd.grad(own, wanted, along), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(4, 4, 3, stride=2),
        nn.Conv2d(4, 4, 3, groups=2),
        nn.Conv2d(4, 4, 3, dilation=2),
        nn.Conv2d(4, 4, 3, padding="same"),
        nn.Conv2d(4, 4, 1, padding=1),
        nn.Conv2d(4, 4, 3).double(),
    ],
)
def test_any_other_convolution_stays_as_it_is(layer, monkeypatch):
    monkeypatch.setattr(quick, "SLOW_BACKWARD", True)
    monkeypatch.setattr(quick, "LEAST", 0)
    with quick.quick_backward(layer):
        made = layer(torch.randn(2, 4, 8, 8, dtype=layer.weight.dtype))
    assert "_Convolution" not in made.grad_fn.name()


def test_only_weights_of_modules_and_only_where_it_pays(monkeypatch):
    monkeypatch.setattr(quick, "SLOW_BACKWARD", True)
    layer, weight = nn.Conv2d(4, 4, 3), torch.randn(4, 4, 3, 3, requires_grad=True)
    with quick.quick_backward(layer):
        assert "_Convolution" not in layer(torch.randn(2, 4, 8, 8)).grad_fn.name()
        assert "_Convolution" in layer(torch.randn(256, 4, 8, 16)).grad_fn.name()
        assert "_Convolution" not in F.conv2d(torch.randn(256, 4, 8, 16), weight).grad_fn.name()
    monkeypatch.setattr(quick, "SLOW_BACKWARD", False)
    with quick.quick_backward(layer):
        assert "_Convolution" not in layer(torch.randn(256, 4, 8, 16)).grad_fn.name()


def test_looks_at_gradients_agree_either_way(monkeypatch):
    monkeypatch.setattr(quick, "LEAST", 0)
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 6, 3), nn.ReLU(inplace=True), nn.Conv2d(6, 6, 1), nn.Flatten(), nn.Linear(216, 3)
    )
    batch = (torch.randn(4, 3, 8, 8), torch.arange(4) % 3)
    found = []
    for slow in (False, True):
        monkeypatch.setattr(quick, "SLOW_BACKWARD", slow)
        probe = Probe(network, batch)
        found.append((probe.batch.gradients, probe.batch.jacobian, probe.batch.see("exchanges").told))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
