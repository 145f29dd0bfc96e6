"""What a network can cost, and how each cost is found: by formula, on the meta device, or with a clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from foresee.budgets.clock import Clock
from foresee.counting import stored_bytes
from foresee.errors import InputError, UnknownNameError
from foresee.quantities import format_quantity, format_seconds
from foresee.spaces.base import Space
from foresee.spaces.counting import Counts, on_meta
from foresee.task import Task


@dataclass(frozen=True)
class Quantity:
    """Something that can be limited. `level` orders quantities by what finding them costs."""

    name: str
    summary: str
    level: int
    measure: Callable[[Costs], float]
    unit: str = ""

    def show(self, value: float, *, exact: bool = False) -> str:
        """The value for people."""
        if self.unit == "s":
            return format_seconds(value) if value >= 1e-3 else f"{value * 1e6:.0f} us"
        if exact:
            return f"{value:,.0f}{' ' + self.unit if self.unit else ''}"
        return format_quantity(value) + self.unit


@dataclass
class Costs(Mapping[str, float]):
    """The costs of one architecture, each found when it is asked for and then kept.

    Args:
        space: where the architecture is from.
        architecture: the architecture.
        task: what its network is built for.
        batch: samples per batch that `memory` is for.
        clock: measures `latency`, or sums it from a table.
        known: costs found before.
    """

    space: Space[Any]
    architecture: Any
    task: Task
    batch: int = 1
    clock: Clock = field(default_factory=Clock)
    known: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        if name not in QUANTITIES:
            raise UnknownNameError("budget", name, QUANTITIES)
        if name not in self.known:
            self.known[name] = QUANTITIES[name].measure(self)
        if not 0 <= self.known[name] < math.inf:  # a stranger's formula may say anything
            raise InputError(f"{name} {self.known[name]:g}: expected a finite number of at least 0")
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(QUANTITIES)

    def __len__(self) -> int:
        return len(QUANTITIES)

    @property
    def counts(self) -> Counts:
        """Params and MACs, from the space's formulas."""
        if "params" not in self.known or "macs" not in self.known:
            found = self.space.counts(self.architecture, self.task)
            self.known.update(params=float(found.params), macs=float(found.macs))
        return Counts(int(self.known["params"]), int(self.known["macs"]))

    def build(self) -> nn.Module:
        """The network, where it is asked for (meta or real)."""
        return self.space.build(self.architecture, self.task)


def _layers(costs: Costs) -> float:
    """Convolutions and linear layers of the network, each call counted once."""
    network = on_meta(costs.build)
    return float(sum(isinstance(module, nn.Linear | nn.modules.conv._ConvNd) for module in network.modules()))


def _memory(costs: Costs) -> float:
    """Bytes that one training forward of a batch stores for the backward pass, parameters left out."""
    return float(stored_bytes(on_meta(costs.build), costs.task.example(costs.batch)))


def _latency(costs: Costs) -> float:
    return costs.clock(costs.space, costs.architecture, costs.task)


QUANTITIES: dict[str, Quantity] = {
    quantity.name: quantity
    for quantity in (
        Quantity("params", "trainable numbers of the network", 0, lambda costs: float(costs.counts.params)),
        Quantity("macs", "multiply-accumulates of one sample", 0, lambda costs: float(costs.counts.macs)),
        Quantity("flops", "floating-point operations of one sample: two per MAC", 0, lambda c: 2.0 * c.counts.macs),
        Quantity("layers", "convolutions and linear layers", 1, _layers),
        Quantity("memory", "bytes of activations stored for a backward pass at a batch size", 2, _memory, "B"),
        Quantity("latency", "seconds of one forward at batch 1 on this device", 3, _latency, "s"),
    )
}
