"""Limits: hard bounds on what a network may cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foresee.budgets.quantities import QUANTITIES, Quantity
from foresee.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class Limit:
    """One bound on one quantity. `strict` leaves the bound itself out."""

    quantity: str
    side: str  # "max" or "min"
    bound: float
    strict: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound) or self.bound < 0:
            raise InputError(f"limit on {self.quantity}: {self.bound} is not a finite number of at least 0")

    def met(self, value: float) -> bool:
        """Whether `value` is within the bound."""
        if value == self.bound:
            return not self.strict
        return value < self.bound if self.side == "max" else value > self.bound

    def miss(self, value: float) -> float:
        """How far `value` is outside, as a ratio on a log scale; 0 when met."""
        if self.met(value):
            return 0.0
        tiny = 1e-9
        return abs(math.log((value + tiny) / (self.bound + tiny))) + 1e-12

    def __str__(self) -> str:
        sign = {("max", True): "<", ("max", False): "≤", ("min", True): ">", ("min", False): "≥"}[
            self.side, self.strict
        ]
        return f"{self.quantity} {sign} {QUANTITIES[self.quantity].show(self.bound)}"


class Limits:
    """Several limits that hold together. Cheap quantities are looked at first, expensive ones only when those pass."""

    def __init__(self, limits: Iterable[Limit] = ()) -> None:
        self._limits = tuple(limits)
        for limit in self._limits:
            if not isinstance(limit, Limit):
                raise InputError(f"budget {limit!r}: expected a limit such as fs.budgets.params < 1e6")
            if limit.quantity not in QUANTITIES:
                raise UnknownNameError("budget", limit.quantity, QUANTITIES)
        levels = sorted({QUANTITIES[limit.quantity].level for limit in self._limits})
        self._levels = [[x for x in self._limits if QUANTITIES[x.quantity].level == level] for level in levels]

    def __iter__(self) -> Iterator[Limit]:
        return iter(self._limits)

    def __bool__(self) -> bool:
        return bool(self._limits)

    def __str__(self) -> str:
        return ", ".join(map(str, self._limits)) or "no limit"

    @property
    def quantities(self) -> list[str]:
        """Names of what is limited."""
        return list(dict.fromkeys(limit.quantity for limit in self._limits))

    def miss(self, costs: Mapping[str, float]) -> float:
        """How far outside the limits a network is; 0 when it meets them all. Nearer is less."""
        for done, level in enumerate(self._levels):
            miss = sum(limit.miss(costs[limit.quantity]) for limit in level)
            if miss:  # what was not looked at counts as farther than anything that was
                return miss + 1e3 * (len(self._levels) - done - 1)
        return 0.0

    def explain(self, costs: Mapping[str, float]) -> str:
        """The quantities that miss, with their values."""
        missed = []
        for level in self._levels:
            missed += [limit for limit in level if not limit.met(costs[limit.quantity])]
            if missed:
                break
        shown = ((limit, QUANTITIES[limit.quantity].show(costs[limit.quantity], exact=True)) for limit in missed)
        return ", ".join(f"{limit.quantity} {value} where {limit} is asked" for limit, value in shown)

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Plain form: `{"params": {"max": 600000}}`; a strict bound is kept under `below` or `above`."""
        plain: dict[str, dict[str, Any]] = {}
        names = {("max", False): "max", ("min", False): "min", ("max", True): "below", ("min", True): "above"}
        for limit in self._limits:
            bound = int(limit.bound) if limit.bound == int(limit.bound) else limit.bound
            plain.setdefault(limit.quantity, {})[names[limit.side, limit.strict]] = bound
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Limits:
        """Inverse of `to_json`, checked."""
        sides = {"max": ("max", False), "min": ("min", False), "below": ("max", True), "above": ("min", True)}
        limits = []
        for name, bounds in plain.items():
            if name not in QUANTITIES:
                raise UnknownNameError("budget", name, QUANTITIES)
            if not isinstance(bounds, Mapping):
                raise InputError(f"limits.{name}: expected max or min, such as {{max = 600000}}, got {bounds!r}")
            for key, bound in bounds.items():
                if key not in sides:
                    raise UnknownNameError(f"bound of limits.{name}", key, sides)
                if isinstance(bound, bool) or not isinstance(bound, int | float):
                    raise InputError(f"limits.{name}.{key}: expected a number, got {bound!r}")
                side, strict = sides[key]
                limits.append(Limit(name, side, float(bound), strict))
        return cls(limits)


class Bounded(Quantity):
    """A quantity that makes limits when compared with a number: `params < 1e6`."""

    def __lt__(self, bound: float) -> Limit:
        return Limit(self.name, "max", float(bound), strict=True)

    def __le__(self, bound: float) -> Limit:
        return Limit(self.name, "max", float(bound))

    def __gt__(self, bound: float) -> Limit:
        return Limit(self.name, "min", float(bound), strict=True)

    def __ge__(self, bound: float) -> Limit:
        return Limit(self.name, "min", float(bound))


params, macs, flops, layers, memory, latency = (
    Bounded(q.name, q.summary, q.level, q.measure, q.unit) for q in QUANTITIES.values()
)
