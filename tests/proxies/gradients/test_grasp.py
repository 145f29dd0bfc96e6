from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn
from torch.func import functional_call

from foresee.scoring import score

RANDOM = examples(4)


def slow_grasp(network, x, y):
    """The whole Hessian, one row per weight."""
    names = [f"{n}.weight" for n, m in network.named_modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    parameters = dict(network.named_parameters())
    shapes = {name: parameters[name].shape for name in names}

    def loss(flat):
        parts = flat.split([shape.numel() for shape in shapes.values()])
        given = {name: part.view(shapes[name]) for name, part in zip(names, parts, strict=True)}
        return F.cross_entropy(functional_call(network, given, (x,)), y)

    flat = torch.cat([parameters[name].detach().flatten() for name in names]).requires_grad_()
    (gradient,) = torch.autograd.grad(loss(flat), flat)
    hessian = torch.autograd.functional.hessian(loss, flat)
    return -float(flat.detach() @ hessian @ gradient)


@pytest.mark.checks("grasp")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans())
def test_the_formula(small, batch, seed, norm):
    network, (x, y) = small(seed, norm=norm, channels=2), batch(4, seed)
    assert score(network, (x, y), "grasp").value == pytest.approx(slow_grasp(network, x, y), rel=1e-8)


def test_by_hand():
    network = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(network.weight, 3.0)
    x, y = torch.tensor([[2.0]]).double(), torch.tensor([[1.0]]).double()
    # L = (2w - y)^2 with y = 1: g = 4 (2w - 1) = 20, H = 8, -w H g = -480
    assert score(network, (x, y), "grasp", loss="mse").value == pytest.approx(-480.0)


def test_fused_attention_is_differentiated_twice():
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inward, self.outward = nn.Linear(4, 12), nn.Linear(4, 3)

        def forward(self, x):
            q, k, v = self.inward(x).chunk(3, -1)
            return self.outward(F.scaled_dot_product_attention(q, k, v).mean(1))

    assert score(Attention(), (torch.randn(4, 5, 4), torch.arange(4) % 3), "grasp").ok


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        return gradient * 2


def test_what_it_does_not_apply_to(small, batch):
    class Stubborn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return Once.apply(self.layer(x).tanh())

    found = score(Stubborn(), (torch.randn(4, 3), torch.arange(4) % 3), "grasp")
    assert found.status == "unsupported"
    assert "once only" in found.reason
    assert "no labels" in score(small(), batch()[0], "grasp").reason
    assert score(small().requires_grad_(False), batch(), "grasp").status == "unsupported"
    linear = score(nn.Linear(3, 1), (torch.randn(4, 3), torch.rand(4, 1)), "grasp", loss=lambda o, _: o.sum())
    assert linear.status == "unsupported"
    assert "no Hessian" in linear.reason


def test_the_order_of_samples_does_not_matter(small, batch):
    x, y = batch()
    forward = score(small(), (x, y), "grasp").value
    assert score(small(), (x.flip(0), y.flip(0)), "grasp").value == pytest.approx(forward, rel=1e-9)
