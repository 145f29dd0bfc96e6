"""Picks: what the user's function is handed to ask with, what it may be answered, and the architecture that comes of it."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar, overload

from foresee.errors import InputError

Value = str | int | float | bool | None
Whole = int  # `Pick` has a method of the other name
V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class Listed:
    """Answers that can be listed: plain values, or a range of whole numbers (`log`: drawn evenly in the logarithm)."""

    values: tuple[Value, ...] | range
    log: bool = False

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self.values)

    def draw(self, rng: random.Random) -> Value:
        """A random answer."""
        if self.log and isinstance(self.values, range):  # each number gets the stretch of the axis that rounds to it
            low, high = self.values[0], self.values[-1]
            return min(max(round(math.exp(rng.uniform(math.log(low - 0.5), math.log(high + 0.5)))), low), high)
        return rng.choice(self.values)

    def holds(self, value: Value) -> bool:
        """Whether `value` is an answer."""
        if isinstance(self.values, range):
            return type(value) is int and value in self.values
        return any(same(value, one) for one in self.values)

    def __str__(self) -> str:
        if isinstance(self.values, range):
            steps = f" in steps of {self.values.step}" if self.values.step > 1 else ""
            return f"a whole number from {self.values[0]} to {self.values[-1]}{steps}"
        return "one of " + ", ".join(json.dumps(value) for value in self.values)


@dataclass(frozen=True)
class Interval:
    """Any real number from `low` to `high` (`log`: drawn evenly in the logarithm)."""

    low: float
    high: float
    log: bool = False
    size: None = None

    @property
    def values(self) -> Sequence[Value]:
        """Real numbers cannot be listed."""
        raise InputError(f"not enumerable: a pick may be {self}")

    def draw(self, rng: random.Random) -> float:
        """A random answer."""
        if self.log:
            return min(max(math.exp(rng.uniform(math.log(self.low), math.log(self.high))), self.low), self.high)
        return rng.uniform(self.low, self.high)

    def holds(self, value: Value) -> bool:
        """Whether `value` is an answer."""
        return type(value) is float and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"a real number from {self.low!r} to {self.high!r}"


Answers = Listed | Interval
Decide = Callable[[str, Answers], Value]


def same(first: Value, second: Value) -> bool:
    """Whether two answers are one: 1, 1.0 and True are three."""
    return type(first) is type(second) and first == second


class RejectedError(InputError):
    """The user's function does not want an architecture: `pick.reject(why)`, or a `ValueError` it raised.

    `picks` are those it was asked for until then, where they are known.
    """

    picks: Picks | None = None


class Pick:
    """What the user's function is handed: it asks for one answer by name. A name is asked once in a build.

    Picks may depend on each other: ask under an `if`, in a loop, or in a part of its own (`sub`). A combination that makes
    no sense is turned down by `reject`.
    """

    def __init__(self, decide: Decide) -> None:
        self._decide, self._prefix = decide, ""
        self.asked: dict[str, tuple[Answers, Value]] = {}

    def __call__(self, name: str, choices: Sequence[V]) -> V:
        """One of `choices`: plain values (str, int, float, bool, None). For other things, pick their names."""
        if isinstance(choices, str) or not isinstance(choices, Sequence) or not choices:
            raise InputError(f"pick {name!r}: choices {choices!r}, expected a list of at least one plain value")
        for value in choices:
            if type(value) not in (str, int, float, bool, type(None)) or (
                isinstance(value, float) and not math.isfinite(value)
            ):
                raise InputError(f"pick {name!r}: choice {value!r}, expected a finite str, int, float, bool or None")
        if len({(type(value), value) for value in choices}) < len(choices):
            raise InputError(f"pick {name!r}: choices {list(choices)!r} hold the same value twice")
        return self._ask(name, Listed(tuple(choices)))  # type: ignore[return-value]

    def int(self, name: str, low: Whole, high: Whole, step: Whole = 1, log: bool = False) -> Whole:
        """A whole number from `low` to `high`, both included, in steps (`log`: drawn evenly in the logarithm)."""
        if not all(type(number) is int for number in (low, high, step)) or low > high or step < 1:
            raise InputError(f"pick {name!r}: there is no whole number from {low!r} to {high!r} in steps of {step!r}")
        if log and (low < 1 or step != 1):
            raise InputError(f"pick {name!r}: log needs low of at least 1 and step 1, got {low} and {step}")
        return self._ask(name, Listed(range(low, high + 1, step), log))  # type: ignore[return-value]

    integer = int  # the same by its long name

    def number(self, name: str, low: float, high: float, log: bool = False) -> float:
        """A real number from `low` to `high`."""
        if not -math.inf < low < high < math.inf or (log and low <= 0):
            raise InputError(f"pick {name!r}: from {low!r} to {high!r}{' (log)' * log}, expected a range of numbers")
        return self._ask(name, Interval(float(low), float(high), log))  # type: ignore[return-value]

    @overload
    def log(self, name: str, low: Whole, high: Whole) -> Whole: ...
    @overload
    def log(self, name: str, low: float, high: float) -> float: ...
    def log(self, name: str, low: float, high: float) -> float:
        """A number from `low` to `high`, drawn evenly in the logarithm: a whole one where both ends are whole numbers."""
        if type(low) is int and type(high) is int:
            return self.int(name, low, high, log=True)
        return self.number(name, low, high, log=True)

    def sub(self, name: str) -> Pick:
        """The same pick for a part of the network: what is asked there is called `name.…`."""
        if not isinstance(name, str) or not name:
            raise InputError(f"pick.sub({name!r}): a part needs a name, a text that is not empty")
        part = Pick(self._decide)
        part._prefix, part.asked = f"{self._prefix}{name}.", self.asked
        return part

    def reject(self, why: str = "") -> NoReturn:
        """Not this one: the function wants another combination of picks. It counts as no candidate."""
        raise RejectedError(str(why) or "rejected without a reason")

    def _ask(self, name: str, answers: Answers) -> Value:
        if not isinstance(name, str) or not name:
            raise InputError(f"pick {name!r}: a pick needs a name, a text that is not empty")
        name = f"{self._prefix}{name}"
        if name in self.asked:
            how = "twice" if self.asked[name][0] == answers else f"again, now for {answers}"
            raise InputError(f"pick {name!r} is asked {how}: every pick of a build needs its own name")
        value = self._decide(name, answers)
        self.asked[name] = answers, value
        return value


@dataclass(frozen=True)
class Picks:
    """An architecture: the picks that were asked, in that order. Its `str` is compact JSON with sorted keys."""

    text: str
    values: Mapping[str, Value] = field(compare=False, repr=False)
    answers: Mapping[str, Answers] = field(compare=False, repr=False)
    #: why there is no network of these picks, where the function failed with them; they end where it did
    problem: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def of(cls, pick: Pick, problem: str = "") -> Picks:
        """What a build asked and got."""
        values = {name: value for name, (_, value) in pick.asked.items()}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return cls(text, values, {name: answers for name, (answers, _) in pick.asked.items()}, problem)
