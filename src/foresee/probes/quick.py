"""The same numbers from quicker kernels, where torch's own choice is a slow one on a CPU.

Pooling: torch averages maps several times quicker with the channels last, to the same bits. Convolutions: on ARM the library
behind torch has no quick backward run (the gradient by the weights of a 3x3 convolution takes eight times its forward run),
but both gradients of a convolution without strides are convolutions, too; they agree to rounding.
"""

from __future__ import annotations

import platform
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

#: whether backward runs of convolutions are better made of forward ones
SLOW_BACKWARD = platform.machine() in ("aarch64", "arm64")
#: multiply-accumulates below which the detour costs more than it saves
LEAST = 1 << 20


class Average:
    """The forward of an average pooling module; results and gradients are the module's own, bit for bit.

    >>> maps, pool = torch.rand(2, 4, 6, 6), nn.AvgPool2d(3, stride=1, padding=1)
    >>> torch.equal(Average(pool)(maps), pool(maps))
    True
    """

    def __init__(self, pool: nn.AvgPool2d) -> None:
        self._pool = pool

    def __call__(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the means; anything else goes the module's own way."""
        if type(x) is not Tensor or not x.is_cpu or x.ndim != 4:
            return nn.AvgPool2d.forward(self._pool, x)
        last = x.contiguous(memory_format=torch.channels_last)
        if last.requires_grad:  # what comes back has the layout that the layers before know
            last.register_hook(Tensor.contiguous)  # type: ignore[no-untyped-call]
        return nn.AvgPool2d.forward(self._pool, last).contiguous()


def quick_backward(network: nn.Module) -> AbstractContextManager[Any]:
    """Inside, convolutions of this network are written down such that their backward runs are quick."""
    weights = (
        {id(one.weight) for one in network.modules() if isinstance(one, nn.Conv2d) and "weight" in one._parameters}
        if SLOW_BACKWARD
        else set()
    )
    return _Convolutions(weights) if weights else nullcontext()


class _Convolutions(TorchFunctionMode):
    """Takes over the calls of `conv2d` with weights of these identities, where it pays."""

    def __init__(self, weights: set[int]) -> None:
        super().__init__()
        self._weights = weights

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.conv2d and not kwargs and len(args) == 7 and id(args[1]) in self._weights and _pays(*args):
            x, weight, bias, _, padding, _, _ = args
            return _Convolution.apply(x, weight, bias, padding)  # type: ignore[no-untyped-call]
        return func(*args, **(kwargs or {}))


def _pays(x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> bool:
    """Whether it is a convolution of float32 maps, step by step, in one group, and large enough."""
    return (
        torch.is_grad_enabled()
        and type(x) is Tensor
        and x.is_cpu
        and x.ndim == 4
        and x.dtype == weight.dtype == torch.float32
        and groups == 1
        and tuple(stride) == tuple(dilation) == (1, 1)
        and not isinstance(padding, str)
        and all(p < size for p, size in zip(padding, weight.shape[2:], strict=True))
        and (x.requires_grad or weight.requires_grad)
        and weight.numel() * x.numel() // x.shape[1] >= LEAST
    )


class _Convolution(torch.autograd.Function):
    """A convolution whose gradients are convolutions: by the input with turned weights, by the weights over samples."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, padding: tuple[int, int]) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.padding = padding
        return F.conv2d(x, weight, bias, padding=padding)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        by_input = by_weight = by_bias = None
        if ctx.needs_input_grad[0]:
            left = [size - 1 - p for size, p in zip(weight.shape[2:], ctx.padding, strict=True)]
            by_input = F.conv2d(g, weight.flip(-1, -2).transpose(0, 1), padding=left)
        if ctx.needs_input_grad[1]:
            by_weight = _by_weight(x, g, weight, ctx.padding)
        if ctx.needs_input_grad[2]:
            by_bias = g.sum((0, 2, 3))
        return by_input, by_weight, by_bias, None


def _by_weight(x: Tensor, g: Tensor, weight: Tensor, padding: tuple[int, int]) -> Tensor:
    """Samples take the place of channels; a 1x1 convolution is a product of matrices."""
    x, g = x.transpose(0, 1), g.transpose(0, 1)
    if weight.shape[2:] == (1, 1):
        return (g.flatten(1) @ x.flatten(1).mT).view_as(weight)
    return F.conv2d(x, g, padding=padding).transpose(0, 1)
