"""How each aten operation acts on a jet.

Three kinds cover most: an operation that looks at the value only, one that is affine in some arguments (it acts on each
derivative by itself), and a function of one number (chain rule). Maxima follow the element that was picked. Products and
sums of two jets, and normalisations with softmax, have files of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from foresee.probes.jets.functions import Function, functions
from foresee.probes.jets.tensor import Jet, NoRule, only_first, rule

# ---- the value only: comparisons, shapes, random numbers, step functions -----------------------------------


@rule(
    *("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "equal", "is_nonzero", "_local_scalar_dense"),
    *("logical_and", "logical_or", "logical_not", "logical_xor", "any", "all", "count_nonzero", "nonzero"),
    *("argmax", "argmin", "argsort", "bucketize", "sign", "sgn", "floor", "ceil", "round", "trunc", "signbit"),
    *("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "bernoulli", "zero"),
    *("new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided", "detach", "heaviside"),
)
def constant(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Derivatives vanish (or are cut, as `detach` asks): a plain result from the values."""
    return func(*(_part(arg, 0) for arg in args), **kwargs)


@rule("fill")
def fill(func: Any, x: Jet, value: Any) -> Any:
    """A new constant value."""
    only_first(value)
    return func(x.stack[0], value)


# ---- affine: acts on value, velocity and acceleration separately -------------------------------------------


def _part(arg: Any, k: int) -> Any:
    """The k-th derivative of an argument; what is not a jet is constant."""
    if isinstance(arg, Jet):
        return arg.stack[k]
    if isinstance(arg, list | tuple):
        return [_part(item, k) for item in arg]
    if k == 0 or arg is None:
        return arg
    return torch.zeros_like(arg) if isinstance(arg, Tensor) else 0


def _affine(*positions: int) -> Callable[..., Any]:
    """Rule of an operation that is affine in the arguments at `positions` together."""

    def act(func: Any, *args: Any, **kwargs: Any) -> Jet:
        if "reduce" in kwargs:  # scatter(..., reduce="multiply") is not affine
            raise NoRule(str(func))
        only_first(*(arg for i, arg in enumerate(args) if i not in positions), *kwargs.values())
        parts = [[_part(arg, k) if i in positions else arg for i, arg in enumerate(args)] for k in range(3)]
        return Jet(torch.stack([func(*part, **kwargs) for part in parts]))

    return act


rule(
    *("clone", "sum", "mean", "cumsum", "trace", "flip", "roll", "tril", "triu", "repeat", "cat", "stack"),
    *("gather", "index", "index_select", "take", "masked_select", "embedding", "im2col", "col2im"),
    *("grid_sampler_2d", "grid_sampler_3d", "max_unpool2d", "max_unpool3d", "_fft_r2c", "_fft_c2r", "_fft_c2c"),
)(_affine(0))
rule("copy", "slice_scatter", "select_scatter", "diagonal_scatter", "lerp")(_affine(0, 1))
rule("masked_fill", "constant_pad_nd", "index_put", "_unsafe_index_put")(_affine(0, 2))
rule("scatter", "scatter_add", "index_add", "index_copy", "index_fill")(_affine(0, 3))
rule("where")(_affine(1, 2))


@rule("_to_copy")
def to_copy(func: Any, x: Jet, **kwargs: Any) -> Any:
    """Another type or device; a type without fractions has no derivatives."""
    dtype = kwargs.get("dtype") or x.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        return func(x.stack[0], **kwargs)
    return _affine(0)(func, x, **kwargs)


@rule("as_strided_")
def restride(func: Any, x: Jet, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> Jet:
    """Global average pooling asks for other strides of axes of length one, which changes nothing; no more is known."""
    same = all(wanted == own for n, wanted, own in zip(size, stride, x.stride(), strict=False) if n > 1)
    if offset is not None or list(size) != list(x.shape) or not same:
        raise NoRule(str(func))
    return x


@rule(
    *("avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "pixel_shuffle", "pixel_unshuffle"),
    *(f"{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (1, 2, 3)),
    *(f"upsample_{kind}" for kind in ("linear1d", "bilinear2d", "bicubic2d", "trilinear3d")),
    *(f"{kind}{n}d" for kind in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)),
    *("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "channel_shuffle"),
)
def along_batch(func: Any, x: Jet, *args: Any, **kwargs: Any) -> Jet:
    """Linear and sample by sample: the three derivatives go through as one batch."""
    return _apart(func(x.stack.flatten(0, 1), *args, **kwargs))


def _apart(together: Tensor) -> Jet:
    """The three derivatives that went through as one batch."""
    return Jet(together.view(3, -1, *together.shape[1:]))


@rule("avg_pool2d")
def avg_pool(func: Any, x: Jet, *args: Any) -> Jet:
    """As above; torch's kernel on the CPU is several times faster with the channels last."""
    stack = x.stack.flatten(0, 1)
    if stack.dim() == 4 and stack.device.type == "cpu":
        stack = stack.contiguous(memory_format=torch.channels_last)
    return _apart(func(stack, *args).contiguous())


@rule("convolution")
def convolution(func: Any, x: Any, weight: Tensor, bias: Tensor | None, *geometry: Any) -> Jet:
    """As above; the bias is constant, so it enters the value only."""
    only_first(weight, bias)
    out = _apart(func(x.stack.flatten(0, 1), weight, None, *geometry))
    if bias is not None:
        out.stack[0].add_(bias.view(-1, *[1] * (x.dim() - 2)))
    return out


@rule("native_dropout")
def native_dropout(func: Any, x: Jet, p: float, train: bool | None) -> tuple[Jet, Tensor]:
    """A random mask is drawn once and scales all three."""
    _, mask = func(x.stack[0], p, train)
    return Jet(x.stack * mask / (1 - p if train and p < 1 else 1)), mask


# ---- chain rule --------------------------------------------------------------------------------------------


def _chain(derivatives: Function) -> Callable[..., Jet]:
    """(f(x))' = f' x' and (f(x))'' = f' x'' + f'' x'^2."""

    def act(func: Any, x: Any, *settings: Any, **kwargs: Any) -> Jet:
        only_first(*settings)
        value, velocity, _ = x.stack.unbind()
        y = func(value, *settings, **kwargs)
        if value.is_complex() or y.shape != value.shape:
            raise NoRule(str(func))
        first, second = derivatives(value, y, *settings, **kwargs)
        out = x.stack * first
        out[0].copy_(y)
        if second is not None:
            out[2].addcmul_(velocity * velocity, second)
        return Jet(out)

    return act


for _name, _derivatives in functions.items():
    rule(_name)(_chain(_derivatives))


_positive = torch.ops.aten.threshold_backward.default


@rule("relu")
def relu(func: Any, x: Jet) -> Jet:
    """Keeps all three where the value is positive."""
    return Jet(_positive(x.stack, x.stack[0], 0))


@rule("pow")
def power(func: Any, x: Any, exponent: Any) -> Jet:
    """Constant exponent, or constant base: a^x = exp(x log a)."""
    if isinstance(x, Jet):
        made: Jet = _chain(functions["pow"])(func, x, exponent)
        return made
    base = x if isinstance(x, Tensor) else torch.tensor(float(x), dtype=exponent.dtype, device=exponent.device)
    return torch.exp(exponent * base.log())  # type: ignore[return-value]


@rule("log_sigmoid_forward")
def log_sigmoid(func: Any, x: Any) -> tuple[Tensor, None]:
    """Logarithm of the sigmoid: -softplus(-x)."""
    return -torch.nn.functional.softplus(-x), None


@rule("glu")
def glu(func: Any, x: Tensor, dim: int = -1) -> Tensor:
    """One half gates the other."""
    left, right = x.chunk(2, dim)
    return left * right.sigmoid()


# ---- maxima: the derivatives follow the element that was picked --------------------------------------------


@rule(*("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d"))
def max_pool(func: Any, x: Jet, *args: Any, **kwargs: Any) -> tuple[Jet, Tensor]:
    """Indices count positions of one channel."""
    _, indices = func(x.stack[0], *args, **kwargs)
    spatial = 3 if "pool3d" in str(func) else 2
    where = indices.flatten(-spatial)
    picked = x.stack.flatten(-spatial).gather(-1, where.expand(3, *where.shape))
    return Jet(picked.view(3, *indices.shape)), indices


@rule("sort", "topk", "kthvalue", "median", "max", "min")
def pick(func: Any, x: Jet, *args: Any, **kwargs: Any) -> Any:
    """Along one axis by index; `max` and `min` also of everything, or of two tensors."""
    if len(func._schema.returns) == 1:
        return extreme(func, x, *args)
    _, indices = made = func(x.stack[0], *args, **kwargs)
    dim = _axis_of(func, args, kwargs)
    flat = indices.dim() < x.dim()
    where = indices.unsqueeze(dim) if flat else indices
    axis = dim + 1 if dim >= 0 else dim
    picked = x.stack.gather(axis, where.expand(3, *where.shape))
    return type(made)((Jet(picked.squeeze(axis) if flat else picked), indices))


def _axis_of(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> int:
    names = [argument.name for argument in func._schema.arguments][1:]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return int(given.get("dim", -1))


@rule("amax", "amin")
def extreme(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Largest or smallest of some axes; elements that tie share the derivative."""
    if args and isinstance(args[0], Tensor):
        return larger(func, x, args[0])
    dims = list(args[0]) if args and len(args[0]) else list(range(x.dim()))
    keepdim = bool(args[1]) if len(args) > 1 else bool(kwargs.get("keepdim", False))
    value = x.stack[0]
    kept = value.amin(dims, keepdim=True) if "min" in str(func) else value.amax(dims, keepdim=True)
    share = (value == kept).to(value.dtype)
    return (x * (share / share.sum(dims, keepdim=True))).sum(dims, keepdim=keepdim)


@rule("maximum", "minimum")
def larger(func: Any, x: Any, y: Any) -> Any:
    """The larger (smaller) of two; a tie is shared."""
    a, b = _part(x, 0), _part(y, 0)
    chosen = torch.where(a < b if "min" in str(func) else a > b, x, y)
    return torch.where(a == b, (x + y) / 2, chosen)
