"""A defence with all that belongs to it, as plain values: what was asked, signs of masked gradients, notes; and on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foresee.ensembles.attacks.masking import Masking
from foresee.ensembles.defended import WHOLE, Defence
from foresee.errors import RunError
from foresee.grid import Grid, Shown
from foresee.runs.folder import is_there
from foresee.training.keeping import read_plain

#: the file that keeps a defence
DEFENCE = "defence.json"


@dataclass(frozen=True, eq=False)
class Withstood(Shown):
    """A defence with all that belongs to it.

    Args:
        defence: the numbers of the table.
        asked: networks, data, seed: what the numbers are of.
        masking: signs of masked gradients, by network as `Round.member` counts them; empty where nobody looked.
        notes: what a reader has to know besides.
        seconds: spent on all of it.
        folder: where it is kept, or None.
        environment: of the last that was done.
    """

    defence: Defence
    asked: Mapping[str, Any]
    masking: Mapping[int, Masking] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    folder: Path | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """How the networks are called."""
        return tuple(str(one["name"]) for one in self.asked["networks"])

    @property
    def signs(self) -> list[tuple[str, str]]:
        """Signs of masked gradients: whose, and in words."""
        return [(self.name(place), sign) for place, one in self.masking.items() for sign in one.signs]

    def name(self, place: int) -> str:
        """How a network is called that a round attacked."""
        return (
            self.names[place]
            if place >= 0
            else "the ensemble"
            if place == WHOLE
            else str(self.asked["outsider"]["name"])
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        masking = [{"member": place, **one.to_json()} for place, one in self.masking.items()]
        return {
            "asked": dict(self.asked),
            "defence": self.defence.to_json(),
            "masking": masking,
            "notes": list(self.notes),
            "seconds": self.seconds,
            "environment": dict(self.environment),
        }

    def __str__(self) -> str:
        return str(self._grid())

    def _grid(self) -> Grid:
        found = self.defence._grid()
        if self.signs:
            masked = [f"gradients may be masked: {name}: {sign}" for name, sign in self.signs]
        else:
            masked = ["no sign of masked gradients"] if self.masking else []
        return Grid(found.columns, found.rows, found.title, [*found.notes, *self.notes, *masked])


def opened(folder: str | Path) -> Withstood:
    """A finished defence as it is stored."""
    folder = Path(folder)
    if not is_there(folder / DEFENCE):
        raise RunError(f"{folder}: there is no defence here ({DEFENCE} is missing)")
    plain = read_plain(folder / DEFENCE)
    if plain.get("status") != "finished":
        raise RunError(
            f"{folder}: the defence is not finished; the same command goes on, and writes its report at the end"
        )
    try:
        looks = {
            int(one["member"]): Masking.from_json({key: value for key, value in one.items() if key != "member"})
            for one in plain["masking"]
        }
        notes, seconds = tuple(map(str, plain["notes"])), float(plain["seconds"])
        found = Defence.from_json(plain["defence"])
        return Withstood(found, plain["asked"], looks, notes, seconds, folder, plain["environment"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunError(f"{folder / DEFENCE}: not as a defence leaves it ({error} is wrong or missing)") from error
