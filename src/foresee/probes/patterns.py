"""Looks at where activations let a signal pass: the signs of what goes into them, be they modules or functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from foresee.probes.looks import Call, Forward, Watcher, first_tensor

#: modules that let a signal pass or hold it back by its sign; a plain class test, so subclasses count
RELU_LIKE: tuple[type[nn.Module], ...] = (
    nn.ReLU,
    nn.ReLU6,
    nn.LeakyReLU,
    nn.PReLU,
    nn.RReLU,
    nn.ELU,
    nn.CELU,
    nn.SELU,
    nn.GELU,
    nn.SiLU,
    nn.Mish,
    nn.Hardswish,
)

#: the same as functions; those that torch has under several names, or in place, under each
RELU_FUNCTIONS: frozenset[Any] = frozenset(
    getattr(place, name)
    for name in "relu relu6 leaky_relu prelu rrelu elu celu selu gelu silu mish hardswish".split()  # noqa: SIM905
    for name in (name, f"{name}_")
    for place in (F, torch, Tensor)
    if hasattr(place, name)
)


class Pattern(NamedTuple):
    """Where the input of one call of an activation is positive: (samples, ...) of booleans; a function has no module."""

    name: str
    module: nn.Module | None
    positive: Tensor


class Patterns(Watcher[list[Pattern]]):
    """Signs of the inputs of ReLU-like modules and functions, one entry per call; of a ReLU also those of its outputs."""

    name = "patterns"

    def __init__(self) -> None:
        self._seen: list[Pattern] = []
        self._spoiled: Tensor | float = 0.0
        self._inside = 0

    def during(self, network: nn.Module) -> AbstractContextManager[Any]:
        """Functions are heard by a mode of torch that they pass through; modules by hooks, as everywhere."""
        return _Functions(self._function)

    def selects(self, call: Call) -> bool:
        """Modules of the `RELU_LIKE` classes."""
        return isinstance(call.module, RELU_LIKE)

    def before(self, call: Call, inputs: Tensor) -> None:
        """Its input; the function it will call is not a second one."""
        self._inside += 1
        self._note(call.name, call.module, inputs)

    def after(self, call: Call, output: Tensor) -> None:
        """Functions are heard again."""
        self._inside -= 1

    def _function(self, function: Any, inputs: Tensor) -> None:
        if not self._inside:
            self._note(f"{function.__name__}()", None, inputs)

    def _note(self, name: str, module: nn.Module | None, inputs: Tensor) -> None:
        """Keep the signs, a byte each, and a few of the numbers to see that they are some."""
        signal = inputs.detach()
        self._seen.append(Pattern(name, module, signal > 0))
        # A weight that is NaN spoils all positions of a channel: one of them will do, and costs next to nothing.
        place: tuple[Any, ...] = (slice(None), slice(None), *[0] * (signal.ndim - 2))
        self._spoiled = self._spoiled + (0 * signal[place[: signal.ndim]]).sum()  # 0, or NaN from now on

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> list[Pattern]:
        """All of them; what is not a number is neither positive nor not, and has no pattern."""
        if not math.isfinite(float(self._spoiled)):
            raise FloatingPointError("what goes into an activation is NaN or infinite")
        outputs = forward.outputs
        plain = outputs.is_floating_point() and outputs.layout is torch.strided and not outputs.is_nested
        if plain and not bool(outputs.isfinite().all()):
            raise FloatingPointError("the outputs are NaN or infinite")
        return self._seen


class PatternsByName(Patterns):
    """As `patterns`, but for every module whose type is called something with "ReLU" (the public code's rule)."""

    name = "patterns_by_name"

    def during(self, network: nn.Module) -> AbstractContextManager[Any]:
        """Functions are not heard."""
        return nullcontext()

    def selects(self, call: Call) -> bool:
        """Types with "ReLU" in their name, containers too."""
        return "ReLU" in type(call.module).__name__


class _Functions(TorchFunctionMode):
    """Tells about every call of a function of `RELU_FUNCTIONS` with what goes in."""

    def __init__(self, tell: Callable[[Any, Tensor], None]) -> None:
        super().__init__()
        self._tell = tell

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        if func in RELU_FUNCTIONS:
            inputs = first_tensor((args, named))
            if inputs is not None:
                self._tell(func, inputs)
        return func(*args, **named)
