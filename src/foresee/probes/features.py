"""Looks at what modules make of the batch on the way forward: features, and where activations let a signal pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from foresee.probes.looks import Call, Forward, OverwrittenError, Watcher

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


class Feature(NamedTuple):
    """What one call of a module made of the first sample: `map` is (rows, columns).

    Rows are channels and columns positions; tokens and their numbers for transformers; a vector is one column.
    """

    name: str
    module: nn.Module
    map: Tensor


class Features(Watcher[list[Feature]]):
    """Outputs of the leaf modules for the first sample, one entry per call, in call order."""

    name = "features"

    def __init__(self) -> None:
        self._seen: list[Feature] = []
        self._versions: list[int] = []

    def selects(self, call: Call) -> bool:
        """Leaf modules: what a container returns is what its last child returned."""
        return call.is_leaf

    def after(self, call: Call, output: Tensor) -> None:
        """Keep the first sample."""
        if output.ndim == 0 or not output.is_floating_point():
            return
        rows = output.shape[1] if output.ndim > 1 else 1
        sample = self.kept(output).select(0, 0).reshape(rows, -1)
        if self.careful or len(output) > 1:
            sample = sample.clone()  # neither overwritten nor keeping the whole batch alive
        self._seen.append(Feature(call.name, call.module, sample))
        self._versions.append(sample._version)

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> list[Feature]:
        """All of them."""
        if [feature.map._version for feature in self._seen] != self._versions:
            raise OverwrittenError
        return self._seen


class FeaturesOfAll(Features):
    """As `features`, but for every module, containers and the network itself included (the public codes' rule)."""

    name = "features_of_all"

    def selects(self, call: Call) -> bool:
        """Every module."""
        return True


class Pattern(NamedTuple):
    """Where the input of one call of an activation is positive: (samples, ...) of booleans."""

    name: str
    module: nn.Module
    positive: Tensor


class Patterns(Watcher[list[Pattern]]):
    """Signs of the inputs of the ReLU-like modules, one entry per call; for a ReLU also the signs of its outputs."""

    name = "patterns"

    def __init__(self) -> None:
        self._seen: list[Pattern] = []
        self._spoiled: Tensor | float = 0.0

    def selects(self, call: Call) -> bool:
        """Modules of the `RELU_LIKE` classes."""
        return isinstance(call.module, RELU_LIKE)

    def before(self, call: Call, inputs: Tensor) -> None:
        """Keep the signs, a byte each, and a few of the numbers to see that they are some."""
        signal = inputs.detach()
        self._seen.append(Pattern(call.name, call.module, signal > 0))
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

    def selects(self, call: Call) -> bool:
        """Types with "ReLU" in their name, containers too."""
        return "ReLU" in type(call.module).__name__
