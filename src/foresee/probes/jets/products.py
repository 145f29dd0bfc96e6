"""Products and sums of jets: the rule of Leibniz, with broadcasting and with plain tensors on either side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from foresee.probes.jets.rules import constant
from foresee.probes.jets.tensor import Jet, rule


def _aligned(x: Any, dims: int) -> Any:
    """The stack with its leading axis kept in front when the value's shape is broadcast to `dims` axes."""
    if not isinstance(x, Jet):
        return x
    missing = dims + 1 - x.stack.dim()
    return x.stack if missing <= 0 else x.stack[(slice(None), *[None] * missing)]


def _dims(*tensors: Any) -> int:
    return max(tensor.dim() for tensor in tensors if isinstance(tensor, Tensor))


def _product(multiply: Callable[[Any, Any], Tensor], x: Any, y: Any, dims: int) -> Jet:
    """(xy)' = xy' + x'y and (xy)'' = xy'' + 2x'y' + x''y, for any bilinear operation that broadcasts a leading axis."""
    X, Y = _aligned(x, dims), _aligned(y, dims)
    if not (isinstance(x, Jet) and isinstance(y, Jet)):
        return Jet(multiply(X, Y))
    (x0, x1, x2), (y0, y1, _) = X.unbind(), Y.unbind()
    out = multiply(x0, Y)
    out[1].add_(multiply(x1, y0))
    out[2].add_(multiply(x1, y1), alpha=2).add_(multiply(x2, y0))
    return Jet(out)


@rule("mul")
def mul(func: Any, x: Any, y: Any) -> Jet:
    """Product by elements."""
    return _product(torch.mul, x, y, _dims(x, y))


@rule("mm", "bmm")
def matmul(func: Any, x: Any, y: Any) -> Jet:
    """Product of matrices."""
    return _product(torch.matmul, x, y, _dims(x, y))


@rule("mv")
def mv(func: Any, x: Any, y: Any) -> Tensor:
    """Matrix times vector."""
    return torch.mm(x, y.unsqueeze(1)).squeeze(1)


@rule("dot")
def dot(func: Any, x: Any, y: Any) -> Tensor:
    """Inner product."""
    return torch.sum(x * y)


@rule("div")
def div(func: Any, x: Any, y: Any, **kwargs: Any) -> Any:
    """Quotient x / y; rounding the quotient leaves a constant."""
    if kwargs.get("rounding_mode"):
        return constant(func, x, y, **kwargs)
    if isinstance(y, Jet):
        return x * torch.reciprocal(y)
    return Jet(_aligned(x, _dims(x, y)) / y)


_broadcast: Callable[..., torch.Size] = torch.broadcast_shapes


def _sum(x: Any, y: Any, factor: float) -> Jet:
    """Sum x + factor y; what is constant enters the value only."""
    dims = _dims(x, y)
    X, Y = _aligned(x, dims), _aligned(y, dims)
    if isinstance(x, Jet) and isinstance(y, Jet):
        return Jet(torch.add(X, Y, alpha=factor))
    Y = Y if factor == 1 else factor * Y
    stack, other = (X, Y) if isinstance(x, Jet) else (Y, X)
    if isinstance(other, Tensor):
        shape, dtype = _broadcast(stack.shape[1:], other.shape), torch.result_type(stack, other)
        if shape != stack.shape[1:] or dtype != stack.dtype:
            stack = stack.expand(3, *shape).to(dtype)
    out = stack.clone()
    out[0].add_(other)
    return Jet(out)


@rule("add")
def add(func: Any, x: Any, y: Any, alpha: float = 1) -> Jet:
    """Sum x + alpha y."""
    return _sum(x, y, alpha)


@rule("sub")
def sub(func: Any, x: Any, y: Any, alpha: float = 1) -> Jet:
    """Difference x - alpha y."""
    return _sum(x, y, -alpha)


@rule("rsub")
def rsub(func: Any, x: Any, y: Any, alpha: float = 1) -> Jet:
    """The other difference: y - alpha x."""
    return _sum(y, x, -alpha)


@rule("addmm", "baddbmm", "addmv")
def add_product(func: Any, bias: Any, x: Any, y: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Product and sum: beta bias + alpha x y."""
    if not (isinstance(x, Jet) or isinstance(y, Jet)):
        made = torch.matmul(x, y)
    else:
        made = mv(func, x, y) if y.dim() == 1 else matmul(func, x, y)
    return (bias if beta == 1 else beta * bias) + (made if alpha == 1 else alpha * made) if beta else alpha * made


@rule("addcmul")
def addcmul(func: Any, base: Any, x: Any, y: Any, *, value: float = 1) -> Tensor:
    """Sum base + value x y."""
    made: Tensor = base + value * (x * y)
    return made


@rule("addcdiv")
def addcdiv(func: Any, base: Any, x: Any, y: Any, *, value: float = 1) -> Tensor:
    """Sum base + value x / y."""
    made: Tensor = base + value * (x / y)
    return made
