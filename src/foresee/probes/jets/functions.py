"""Functions of one number with their first and second derivatives.

Each entry takes the argument x, the value y = f(x) that torch computed, and the operation's settings, and gives (f', f'');
None stands for zero, a boolean tensor for ones and zeros. At kinks the choice is autograd's, so that both ways of
differentiating agree there too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Derivatives = tuple[Tensor, Tensor | None]
Function = Callable[..., Derivatives]

#: aten name to derivatives; the longer ones follow below
functions: dict[str, Function] = {
    "neg": lambda x, y: (-torch.ones_like(x), None),
    "exp": lambda x, y: (y, y),
    "exp2": lambda x, y: (y * math.log(2), y * math.log(2) ** 2),
    "expm1": lambda x, y: (y + 1, y + 1),
    "log": lambda x, y: (1 / x, -1 / (x * x)),
    "log2": lambda x, y: (1 / (x * math.log(2)), -1 / (x * x * math.log(2))),
    "log10": lambda x, y: (1 / (x * math.log(10)), -1 / (x * x * math.log(10))),
    "log1p": lambda x, y: (1 / (1 + x), -1 / (1 + x) ** 2),
    "sqrt": lambda x, y: (0.5 / y, -0.25 / (x * y)),
    "rsqrt": lambda x, y: (-0.5 * y / x, 0.75 * y / (x * x)),
    "reciprocal": lambda x, y: (-y * y, 2 * y * y * y),
    "sin": lambda x, y: (x.cos(), -y),
    "cos": lambda x, y: (-x.sin(), -y),
    "tan": lambda x, y: (1 + y * y, 2 * y * (1 + y * y)),
    "atan": lambda x, y: (1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "sinh": lambda x, y: (x.cosh(), y),
    "cosh": lambda x, y: (x.sinh(), y),
    "tanh": lambda x, y: (1 - y * y, -2 * y * (1 - y * y)),
    "sigmoid": lambda x, y: (y * (1 - y), y * (1 - y) * (1 - 2 * y)),
    "abs": lambda x, y: (x.sign(), None),
    "threshold": lambda x, y, threshold, value: (x > threshold, None),
    "hardshrink": lambda x, y, width=0.5: (x.abs() > width, None),
    "softshrink": lambda x, y, width=0.5: (x.abs() > width, None),
    "hardtanh": lambda x, y, low=-1, high=1: ((x > low) & (x < high), None),
    "hardsigmoid": lambda x, y: ((x.abs() < 3).to(x.dtype) / 6, None),
    "leaky_relu": lambda x, y, slope=0.01: (torch.where(x > 0, torch.ones_like(x), slope), None),
    "_prelu_kernel": lambda x, y, slope: (torch.where(x > 0, torch.ones_like(x), slope), None),
    "clamp_min": lambda x, y, low: (x >= low, None),
    "clamp_max": lambda x, y, high: (x <= high, None),
    "celu": lambda x, y, alpha=1.0: elu(x, y, alpha, 1.0, 1 / alpha),
}


def _named(function: Function) -> Function:
    functions[function.__name__] = function
    return function


@_named
def clamp(x: Tensor, y: Tensor, low: Any = None, high: Any = None) -> Derivatives:
    """One inside the limits, both included."""
    inside = torch.ones_like(x, dtype=torch.bool)
    inside = inside if low is None else inside & (x >= low)
    return inside if high is None else inside & (x <= high), None


@_named
def pow(x: Tensor, y: Tensor, exponent: Any) -> Derivatives:
    """Powers of x; those with a vanishing factor are left out, because 0 times x^(n-2) is not a number at x = 0."""
    n = exponent
    if isinstance(n, Tensor):
        return n * x ** (n - 1), n * (n - 1) * x ** (n - 2)
    return n * x ** (n - 1) if n else torch.zeros_like(x), n * (n - 1) * x ** (n - 2) if n not in (0, 1) else None


@_named
def elu(x: Tensor, y: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Derivatives:
    """Linear above zero, exponential below."""
    decay = alpha * scale * input_scale * (x.clamp(max=0) * input_scale).exp()
    return torch.where(x > 0, scale, decay), torch.where(x < 0, decay * input_scale, 0.0)


@_named
def softplus(x: Tensor, y: Tensor, beta: float = 1, threshold: float = 20) -> Derivatives:
    """log(1 + exp(beta x)) / beta, which torch replaces by x above the threshold."""
    slope, linear = (beta * x).sigmoid(), beta * x > threshold
    return torch.where(linear, 1.0, slope), torch.where(linear, 0.0, beta * slope * (1 - slope))


@_named
def silu(x: Tensor, y: Tensor) -> Derivatives:
    """Swish, x sigmoid(x)."""
    s = x.sigmoid()
    return s * (1 + x * (1 - s)), s * (1 - s) * (2 + x * (1 - 2 * s))


@_named
def mish(x: Tensor, y: Tensor) -> Derivatives:
    """Mish, x w with w = tanh(softplus(x)) and w' = (1 - w^2) s."""
    s, w = x.sigmoid(), torch.nn.functional.softplus(x).tanh()
    slope = (1 - w * w) * s
    return w + x * slope, 2 * slope + x * slope * (1 - s - 2 * w * s)


@_named
def hardswish(x: Tensor, y: Tensor) -> Derivatives:
    """A parabola between -3 and 3, zero below and x above."""
    middle = (x > -3) & (x < 3)
    return torch.where(middle, x / 3 + 0.5, (x >= 3).to(x.dtype)), middle.to(x.dtype) / 3


@_named
def erf(x: Tensor, y: Tensor) -> Derivatives:
    """The error function: its slope is a Gaussian."""
    slope = (2 / math.sqrt(math.pi)) * (-x * x).exp()
    return slope, -2 * x * slope


@_named
def gelu(x: Tensor, y: Tensor, approximate: str = "none") -> Derivatives:
    """Gaussian unit: x times the normal distribution function, or its tanh approximation."""
    if approximate == "none":
        below = 0.5 * (1 + torch.erf(x * math.sqrt(0.5)))
        density = (-0.5 * x * x).exp() / math.sqrt(2 * math.pi)
        return below + x * density, density * (2 - x * x)
    k, c = math.sqrt(2 / math.pi), 0.044715
    t = (k * (x + c * x**3)).tanh()
    u1, u2 = k * (1 + 3 * c * x * x), 6 * k * c * x
    return 0.5 * (1 + t + x * (1 - t * t) * u1), (1 - t * t) * (u1 + x * (u2 / 2 - t * u1 * u1))
