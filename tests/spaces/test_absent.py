"""Options of weight zero: every derivative up to the second is that of the plain product."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn

from foresee.seeds import generator
from foresee.spaces.absent import absent

OPTIONS = {
    "convolution": lambda: nn.Sequential(nn.SiLU(), nn.Conv2d(2, 2, 3, padding=1), nn.BatchNorm2d(2)),
    "pool": lambda: nn.MaxPool2d(3, 1, 1),
    "identity": nn.Identity,
    "nothing": lambda: lambda x: torch.zeros_like(x),
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_derivatives_are_those_of_the_product(kind):
    """By the weights of two terms in a row, by the input and by a layer before, between and behind them."""
    torch.manual_seed(0)
    option, other = (OPTIONS[kind]() for _ in range(2))
    before, between, behind = (nn.Conv2d(2, 2, 3, padding=1).double() for _ in range(3))
    for one in (option, other):
        if isinstance(one, nn.Module):
            one.double()
    x = torch.randn(3, 2, 5, 5, generator=generator(0)).double().requires_grad_()
    weights = torch.zeros(2, dtype=torch.float64, requires_grad=True)

    def value(term):
        y = before(x)
        y = torch.tanh(between(y + term(weights[0], option, y)))
        return behind(y + term(weights[1], other, y)).square().sum()

    by = [weights, x, *before.parameters(), *between.parameters(), *behind.parameters()]
    found = [derivatives(value(how), by) for how in (absent, lambda w, f, x: w * f(x))]
    assert bool(found[1][0].any()) == (kind != "nothing")
    for mine, plain in zip(*found, strict=True):
        torch.testing.assert_close(mine, plain, rtol=1e-10, atol=1e-10)


def derivatives(value, by):
    """All first derivatives, and those of the squared length of each of them."""
    first = torch.autograd.grad(value, by, create_graph=True)
    lengths = [one.square().sum() for one in first]
    second = [torch.autograd.grad(one, by, retain_graph=True, allow_unused=True) for one in lengths]
    flat = itertools.chain.from_iterable(second)
    return [*(one.detach() for one in first), *(torch.zeros(()) if one is None else one for one in flat)]


def test_a_third_derivative_is_refused():
    """Rather than wrong."""
    weight, x = torch.zeros((), requires_grad=True), torch.tensor(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(absent(weight, torch.sin, x), weight, create_graph=True)
    (second,) = torch.autograd.grad(first, x, create_graph=True)
    assert second.item() == pytest.approx(torch.cos(x).item())
    with pytest.raises(RuntimeError):
        torch.autograd.grad(second, x)
