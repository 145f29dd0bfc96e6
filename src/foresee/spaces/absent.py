"""Options of weight zero, cheaply: nothing in value, all of their first and second derivatives.

A straight-through draw weighs what was not drawn with zero, and wants its gradient nevertheless. For w = 0 and an option f,
the term w f(x) and its gradients by x and by the option's parameters are zero; what is left of it are derivatives by w:

    of the term                 f(x)                    one forward run of the option
    of the term's gradient      J(x)^T u                one backward run more, where a second derivative is asked for

with u what comes back to the term. So an option that was not drawn never needs a backward run through its backward run, which
is several times as much in time and memory, most of all with batch norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def absent(weight: Tensor, option: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """`weight * option(x)` for a weight of value zero; differentiable twice, and no third time.

    >>> w, x = torch.zeros((), requires_grad=True), torch.tensor([3.0], requires_grad=True)
    >>> term = absent(w, lambda x: x**2, x)
    >>> (slope,) = torch.autograd.grad(term.sum(), w, create_graph=True)
    >>> slope.item(), torch.autograd.grad(slope, x)[0].item()
    (9.0, 6.0)
    """
    with torch.enable_grad():
        inside = x.detach().requires_grad_()
        value = option(inside)
    term: Tensor = _Term.apply(weight, x, value.detach(), _Slope(inside, value))  # type: ignore[no-untyped-call]
    return term


class _Slope:
    """From what comes back to an option's output to what comes back to its input: J^T u, where somebody asks."""

    def __init__(self, x: Tensor, value: Tensor) -> None:
        self.x, self.value = x, value

    def __call__(self, back: Tensor) -> Tensor:
        if not self.value.requires_grad:
            return torch.zeros_like(self.x)
        (found,) = torch.autograd.grad(self.value, self.x, back, retain_graph=True, allow_unused=True)
        return torch.zeros_like(self.x) if found is None else found


class _Term(torch.autograd.Function):
    """w f(x) at w = 0."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Tensor, value: Tensor, slope: _Slope) -> Tensor:
        ctx.save_for_backward(weight, x, value)
        ctx.slope = slope
        return torch.zeros_like(value)

    @staticmethod
    def backward(ctx: Any, back: Tensor) -> Any:
        weight, x, value = ctx.saved_tensors
        by_weight, by_x = _Back.apply(back, weight, x, value, ctx.slope)  # type: ignore[no-untyped-call]
        return by_weight, by_x, None, None


class _Back(torch.autograd.Function):
    """What comes back to w and to x: <u, f(x)> and w J^T u, the latter zero."""

    @staticmethod
    def forward(ctx: Any, back: Tensor, weight: Tensor, x: Tensor, value: Tensor, slope: _Slope) -> Any:
        ctx.save_for_backward(back, value)
        ctx.slope = slope
        return (back * value).sum().to(weight), torch.zeros_like(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_weight: Tensor, by_x: Tensor) -> Any:
        back, value = ctx.saved_tensors
        slope = ctx.slope(back)
        return by_weight * value, (by_x * slope).sum(), by_weight * slope, None, None
