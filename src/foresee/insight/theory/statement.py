"""A statement as it was found on a network: its steps with both sides, its conditions, its constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from foresee.errors import InputError
from foresee.grid import Bad, Column, Grid

Relation = Literal["<=", ">=", "="]
#: relative rounding that a comparison forgives
ROUNDING = 1e-9


@dataclass(frozen=True)
class Step:
    """One inequality: what was measured stands on the left, what it is compared with on the right.

    `tolerance` is relative to the larger side. `note` says what a reader has to know, above all where it does not hold.
    """

    name: str
    measured: float
    bound: float
    relation: Relation = "<="
    tolerance: float = ROUNDING
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the two sides stand as said; a side that is no number never does."""
        slack = self.tolerance * max(abs(self.measured), abs(self.bound), 1e-300)
        if self.relation == "<=":
            return self.measured <= self.bound + slack
        if self.relation == ">=":
            return self.measured >= self.bound - slack
        return abs(self.measured - self.bound) <= slack


@dataclass(frozen=True)
class Condition:
    """Something the statement assumes, whether it is so here, and the number that says it."""

    name: str
    met: bool
    value: float | None = None


@dataclass(frozen=True)
class Statement:
    """What a theorem says, and what was found.

    >>> one = Statement("Example", "a square is not negative", (Step("x^2 >= 0", 4.0, 0.0, ">="),))
    >>> one.holds, Statement.from_json(one.to_json()) == one
    (True, True)
    >>> print(one)
    Example: a square is not negative
    step      measured  bound  holds
    x^2 >= 0         4      0  yes
    """

    name: str
    text: str
    steps: tuple[Step, ...]
    conditions: tuple[Condition, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.steps:
            raise InputError(f"{self.name}: a statement has at least one step")

    @property
    def holds(self) -> bool:
        """Whether every step does."""
        return all(step.holds for step in self.steps)

    @property
    def applies(self) -> bool:
        """Whether all that it assumes is so."""
        return all(condition.met for condition in self.conditions)

    @property
    def failing(self) -> tuple[Step, ...]:
        """The steps that do not hold."""
        return tuple(step for step in self.steps if not step.holds)

    def step(self, name: str) -> Step:
        """A step by the beginning of its name."""
        for step in self.steps:
            if step.name.startswith(name):
                return step
        raise InputError(f"{self.name} has no step {name}; it has {', '.join(step.name for step in self.steps)}")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "constants": dict(self.constants)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Statement:
        """What `to_json` gave."""
        return cls(
            plain["name"],
            plain["text"],
            tuple(Step(**step) for step in plain["steps"]),
            tuple(Condition(**condition) for condition in plain["conditions"]),
            dict(plain["constants"]),
            tuple(plain["notes"]),
        )

    @property
    def grid(self) -> Grid:
        """As a table for terminals and notebooks."""
        heads = [Column("step", words=True), Column("measured"), Column("bound"), Column("holds", words=True)]
        rows = [
            [step.name, f"{step.measured:.6g}", f"{step.bound:.6g}", "yes" if step.holds else Bad("no")]
            for step in self.steps
        ]
        notes = [
            *(f"{step.name}: {step.note}" for step in self.steps if step.note),
            *(
                f"assumed: {one.name}{'' if one.value is None else f' ({one.value:.4g})'}{'' if one.met else ', not so here'}"
                for one in self.conditions
            ),
            *(", ".join(f"{name} = {value:.4g}" for name, value in self.constants.items()),),
            *self.notes,
        ]
        return Grid(heads, rows, f"{self.name}: {self.text}", [note for note in notes if note])

    def __str__(self) -> str:
        return str(self.grid)
