"""What may be spent: hard limits on a network, checked before it is ever scored.

    >>> from foresee import budgets
    >>> limits = Limits([budgets.params < 1e6, budgets.macs <= 100e6])
    >>> str(limits)
    'params < 1 M, macs ≤ 100 M'

Params and MACs come from the space's own formulas, so a limit costs microseconds to check.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foresee.errors import InputError, UnknownNameError
from foresee.quantities import format_quantity
from foresee.spaces.base import Counts


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
        return abs(math.log((value + 1.0) / (self.bound + 1.0))) + 1e-12

    def __str__(self) -> str:
        sign = {("max", True): "<", ("max", False): "≤", ("min", True): ">", ("min", False): "≥"}[
            self.side, self.strict
        ]
        return f"{self.quantity} {sign} {format_quantity(self.bound)}"


class Quantity:
    """Something countable; comparing it with a number makes a `Limit`."""

    def __init__(self, name: str, summary: str) -> None:
        self.name, self.summary = name, summary

    def of(self, counts: Counts) -> float:
        """Its value for a network with these counts."""
        return float(getattr(counts, self.name))

    def __lt__(self, bound: float) -> Limit:
        return Limit(self.name, "max", float(bound), strict=True)

    def __le__(self, bound: float) -> Limit:
        return Limit(self.name, "max", float(bound))

    def __gt__(self, bound: float) -> Limit:
        return Limit(self.name, "min", float(bound), strict=True)

    def __ge__(self, bound: float) -> Limit:
        return Limit(self.name, "min", float(bound))


params = Quantity("params", "trainable numbers of the network")
macs = Quantity("macs", "multiply-accumulates of one sample: convolutions, linear layers, matrix products")
flops = Quantity("flops", "floating-point operations of one sample: two per MAC")

QUANTITIES = {quantity.name: quantity for quantity in (params, macs, flops)}


class Limits:
    """Several limits that hold together."""

    def __init__(self, limits: Iterable[Limit] = ()) -> None:
        self._limits = tuple(limits)
        for limit in self._limits:
            if not isinstance(limit, Limit):
                raise InputError(f"budget {limit!r}: expected a limit such as fs.budgets.params < 1e6")
            if limit.quantity not in QUANTITIES:
                raise UnknownNameError("budget", limit.quantity, QUANTITIES)

    def __iter__(self) -> Iterator[Limit]:
        return iter(self._limits)

    def __bool__(self) -> bool:
        return bool(self._limits)

    def __str__(self) -> str:
        return ", ".join(map(str, self._limits)) or "no limit"

    def miss(self, counts: Counts) -> float:
        """How far outside the limits a network is; 0 when it meets them all."""
        return sum(limit.miss(QUANTITIES[limit.quantity].of(counts)) for limit in self._limits)

    def explain(self, counts: Counts) -> str:
        """The quantities that miss, with their values."""
        missed = (
            (limit, QUANTITIES[limit.quantity].of(counts))
            for limit in self._limits
            if not limit.met(QUANTITIES[limit.quantity].of(counts))
        )
        return ", ".join(f"{limit.quantity} {value:,.0f} where {limit} is asked" for limit, value in missed)

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
        makers = {"max": Quantity.__le__, "min": Quantity.__ge__, "below": Quantity.__lt__, "above": Quantity.__gt__}
        limits = []
        for name, bounds in plain.items():
            if name not in QUANTITIES:
                raise UnknownNameError("budget", name, QUANTITIES)
            if not isinstance(bounds, Mapping):
                raise InputError(f"limits.{name}: expected max or min, such as {{max = 600000}}, got {bounds!r}")
            for key, bound in bounds.items():
                if key not in makers:
                    raise UnknownNameError(f"bound of limits.{name}", key, makers)
                if isinstance(bound, bool) or not isinstance(bound, int | float):
                    raise InputError(f"limits.{name}.{key}: expected a number, got {bound!r}")
                limits.append(makers[key](QUANTITIES[name], bound))
        return cls(limits)
