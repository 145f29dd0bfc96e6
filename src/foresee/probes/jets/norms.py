"""Normalisations and softmax on jets: operations whose derivatives are worth a formula of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from foresee.probes.jets.tensor import Jet, NoRule, only_first, rule

# ---- normalisations ----------------------------------------------------------------------------------------


def _standardised(stack: Tensor, axes: tuple[int, ...], eps: float, gain: Tensor | None = None) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over `axes` of the stack, counted from the front.

    With the centred c and s = mean(c^2) + eps, let p = mean(c c') / s and q = mean(c'^2 + c c'') / s: half of s'/s and s''/s.
    Then r = s^(-1/2) has r' = -p r and r'' = (3 p^2 - q) r, and what is left is the product r c. A `gain` that is constant
    over `axes` rides on r for free. Few small steps and in place, because networks are full of these.
    """
    c = stack - stack.mean(axes, keepdim=True)
    c0, c1, c2 = c.unbind()
    moments = (c * c0).mean(axes, keepdim=True)
    moments[2].add_((c1 * c1).mean([axis - 1 for axis in axes], keepdim=True))
    s = moments[0] + eps
    p, q = (moments[1:] / s).unbind()
    c2.addcmul_(c1, p, value=-2).addcmul_(c0, torch.addcmul(q, p, p, value=-3), value=-1)
    c1.addcmul_(c0, p, value=-1)
    r = s.rsqrt_()
    return c.mul_(r if gain is None else r * gain)


def _scaled(stack: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int]) -> Jet:
    """Affine weight * x + bias, in place; both have `shape` beside the value."""
    only_first(weight, bias)
    if weight is not None:
        stack.mul_(weight.view(shape))
    if bias is not None:
        stack[0].add_(bias.view(shape))
    return Jet(stack)


def _batch_norm(
    x: Jet, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, eps: float
) -> tuple[Jet, None, None]:
    """Per channel: by the batch's own statistics, or by given ones. Running statistics stay as they are."""
    stack, shape = x.stack, [-1] + [1] * (x.dim() - 2)
    if training:
        axes = tuple(axis for axis in range(1, stack.dim()) if axis != 2)
        only_first(weight)
        gain = None if weight is None else weight.view(shape)
        return _scaled(_standardised(stack, axes, eps, gain), None, bias, shape), None, None
    only_first(mean, variance)
    scale = (variance + eps).rsqrt()
    out = _scaled(stack * scale.view(shape), None, -mean * scale, shape)
    return _scaled(out.stack, weight, bias, shape), None, None


@rule("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "miopen_batch_norm")
def batch_norm(func: Any, x: Jet, weight: Any, bias: Any, *rest: Any) -> Any:
    """All forms end in (training, momentum, eps), with or without running statistics before."""
    *statistics, training, _, eps = rest
    mean, variance = statistics or (None, None)
    made = _batch_norm(x, weight, bias, mean, variance, training, eps)
    return made + (None,) * (len(func._schema.returns) - 3)


@rule("_batch_norm_with_update", "_batch_norm_no_update")
def batch_norm_by_name(
    func: Any, x: Jet, weight: Any, bias: Any, mean: Any, variance: Any, _: float, eps: float
) -> Any:
    """Training and evaluation are told apart by the operation's name."""
    return (*_batch_norm(x, weight, bias, mean, variance, "with_update" in str(func), eps), None)


@rule("native_layer_norm")
def layer_norm(func: Any, x: Jet, shape: Sequence[int], weight: Any, bias: Any, eps: float) -> tuple[Jet, None, None]:
    """Over the last axes."""
    return (
        _scaled(_standardised(x.stack, tuple(range(x.dim() - len(shape) + 1, x.dim() + 1)), eps), weight, bias, shape),
        None,
        None,
    )


@rule("native_group_norm")
def group_norm(func: Any, x: Jet, weight: Any, bias: Any, n: int, c: int, hw: int, groups: int, eps: float) -> Any:
    """Over groups of channels of each sample."""
    out = _standardised(x.stack.reshape(3, n, groups, -1), (3,), eps).view(x.stack.shape)
    return _scaled(out, weight, bias, [-1] + [1] * (x.dim() - 2)), None, None


@rule("_fused_rms_norm")
def rms_norm(func: Any, x: Tensor, shape: Sequence[int], weight: Any, eps: float | None) -> tuple[Tensor, None]:
    """Divided by the root mean square."""
    square = (x * x).mean(list(range(-len(shape), 0)), keepdim=True)
    out = x * torch.rsqrt(square + (torch.finfo(x.dtype).eps if eps is None else eps))
    return out if weight is None else out * weight, None


@rule("var")
def var(func: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Variance, in any of torch's three spellings."""
    return _moments(func, x, *args, **kwargs)[0]


@rule("std")
def std(func: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Standard deviation."""
    return _root(_moments(func, x, *args, **kwargs)[0])


@rule("var_mean")
def var_mean(func: Any, x: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Both at once."""
    return _moments(func, x, *args, **kwargs)


def _moments(
    func: Any, x: Tensor, dim: Any = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    dims = list(dim) if dim else list(range(x.dim()))
    mean = x.mean(dims, keepdim=True)
    centred = x - mean
    count = math.prod(x.shape[axis] for axis in dims) - (1 if correction is None else correction)
    variance = (centred * centred).sum(dims, keepdim=keepdim) / count
    return variance, mean if keepdim else mean.sum(dims)


def _root(square: Any) -> Jet:
    """Root of a sum of squares; where that is zero the derivatives are too, as of a padded token that stays zero."""
    s, s1, s2 = square.stack.unbind()
    root = s.sqrt()
    inverse = torch.where(s > 0, 1 / root, 0.0)
    r1 = s1 / 2 * inverse
    return Jet(torch.stack((root, r1, (s2 / 2 - r1 * r1) * inverse)))


@rule("linalg_vector_norm")
def vector_norm(
    func: Any, x: Tensor, order: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """Euclidean or absolute length."""
    dims = list(dim) if dim else list(range(x.dim()))
    if order == 2 and dtype is None:
        return _root((x * x).sum(dims, keepdim=keepdim))
    if order == 1 and dtype is None:
        return x.abs().sum(dims, keepdim=keepdim)
    raise NoRule(str(func))


# ---- softmax -----------------------------------------------------------------------------------------------


def _softmax_parts(x: Any, dim: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Weights w = softmax(x), the mean of x' under them, c = x' less that mean, and b = c^2 + x''."""
    value, velocity, acceleration = x.stack.unbind()
    w = value.softmax(dim)
    mean = (w * velocity).sum(dim, keepdim=True)
    c = velocity - mean
    return w, mean, c, c * c + acceleration


@rule("_softmax", "_safe_softmax")
def softmax(func: Any, x: Jet, dim: int, *args: Any, **kwargs: Any) -> Jet:
    """Weights: w' = w c and w'' = w (b - mean b)."""
    w, _, c, b = _softmax_parts(x, dim)
    value = func(x.stack[0], dim, *args, **kwargs)
    return Jet(torch.stack((value, value * c, value * (b - (w * b).sum(dim, keepdim=True)))))


@rule("_log_softmax")
def log_softmax(func: Any, x: Jet, dim: int, *args: Any) -> Jet:
    """The logarithm: c, and x'' less the mean of b."""
    w, _, c, b = _softmax_parts(x, dim)
    return Jet(torch.stack((func(x.stack[0], dim, *args), c, x.stack[2] - (w * b).sum(dim, keepdim=True))))


@rule("logsumexp")
def logsumexp(func: Any, x: Jet, dim: Any, keepdim: bool = False) -> Jet:
    """The smooth maximum: mean of x', mean of b."""
    if len(dim) != 1:
        raise NoRule(str(func))
    w, mean, _, b = _softmax_parts(x, dim[0])
    out = torch.stack((func(x.stack[0], dim, True), mean, (w * b).sum(dim, keepdim=True)))
    return Jet(out if keepdim else out.squeeze(dim[0] + 1 if dim[0] >= 0 else dim[0]))
