"""What attacks did to an ensemble, as plain values and as a table like the thesis' 5.4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, stdev
from typing import Any

from foresee.errors import InputError, shown
from foresee.grid import Column, Grid, Shown
from foresee.registry import tidy

#: the place of a network that is attacked and does not belong to the ensemble; of the ensemble itself, as one network
OUTSIDER, WHOLE = -1, -2


@dataclass(frozen=True)
class Round:
    """One network attacked by one attack; the ensemble answers for the images that came out. Accuracies are shares.

    Args:
        attack: its name.
        member: which network was attacked, from 0; -1 is the one outside, -2 the whole ensemble.
        clean: what the attacked network knew of the clean images.
        attacked: what it knows of the changed ones.
        defended: what the ensemble knows of them.
        carried: share of the samples that the attack turned, and that the ensemble knew before, that it gets wrong too; None
            where there is no such sample.
        linf: mean largest change of a pixel, over the samples that were turned; None where there is none.
        l2: mean Euclidean length of the change, likewise.
        queries: forward runs for a sample, on average.
        gradients: backward runs, likewise.
    """

    attack: str
    member: int
    clean: float
    attacked: float
    defended: float
    carried: float | None
    linf: float | None
    l2: float | None
    queries: float
    gradients: float


@dataclass(frozen=True)
class Spread:
    """The mean over the members and their standard deviation, None of a single one.

    >>> print(Spread.of([0.4, 0.5, 0.6]))
    50.0 ± 10.0
    """

    mean: float
    deviation: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one number per member."""
        return cls(fmean(values), stdev(values) if len(values) > 1 else None)

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f}" + ("" if self.deviation is None else f" ± {100 * self.deviation:.1f}")


@dataclass(frozen=True)
class Defended:
    """One attack against every member in turn; against a network outside, and against the whole ensemble, where asked for."""

    attack: str
    settings: Mapping[str, Any]
    rounds: tuple[Round, ...]
    control: Round | None = None
    whole: Round | None = None

    @property
    def attacked(self) -> Spread:
        """What the attacked members know: the column "attack"."""
        return Spread.of([one.attacked for one in self.rounds])

    @property
    def defended(self) -> Spread:
        """What the ensemble knows meanwhile: the column "defence"."""
        return Spread.of([one.defended for one in self.rounds])


@dataclass(frozen=True)
class Defence(Shown):
    """All attacks, on the same samples.

    Args:
        samples: how many.
        members: how many networks answer together.
        seed: of random starts.
        ensemble: what the ensemble knows of the clean images.
        clean: what each member knows of them.
        attacks: one entry for each.
    """

    samples: int
    members: int
    seed: int
    ensemble: float
    clean: tuple[float, ...]
    attacks: tuple[Defended, ...] = field(repr=False)

    def __getitem__(self, attack: str) -> Defended:
        for one in self.attacks:
            if one.attack == tidy(attack):
                return one
        raise InputError(f"attack {shown(attack)}: there are {', '.join(one.attack for one in self.attacks)}")

    def to_json(self) -> dict[str, Any]:
        """Plain values, means and spreads among them."""
        plain = [
            {**asdict(one), "attacked": asdict(one.attacked), "defended": asdict(one.defended)} for one in self.attacks
        ]
        return {**asdict(self), "clean": list(self.clean), "attacks": plain}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Defence:
        """Inverse of `to_json`."""
        rows = tuple(
            Defended(
                attack=one["attack"],
                settings=one["settings"],
                rounds=tuple(Round(**each) for each in one["rounds"]),
                **{name: None if one[name] is None else Round(**one[name]) for name in ("control", "whole")},
            )
            for one in plain["attacks"]
        )
        return cls(**{**plain, "clean": tuple(plain["clean"]), "attacks": rows})

    def __str__(self) -> str:
        return str(self._grid())

    def _grid(self) -> Grid:
        extra = {"control": "outsider %,control %", "whole": "whole %"}
        there = [name for name in extra if any(getattr(one, name) for one in self.attacks)]
        names = [
            "clean %",
            "attack %",
            "ensemble %",
            "defence %",
            *(word for one in there for word in extra[one].split(",")),
        ]
        clean = str(Spread.of(self.clean))
        rows = [
            [one.attack, clean, str(one.attacked), f"{100 * self.ensemble:.1f}", str(one.defended)]
            + [f"{100 * value:.1f}" for name in there for value in _shown(name, getattr(one, name))]
            for one in self.attacks
        ]
        notes = [f"{self.samples:,} samples, mean ± standard deviation over {self.members} attacked members"]
        said = {
            "control": "control: the ensemble where the network outside was attacked",
            "whole": "whole: the ensemble where all of it was attacked",
        }
        notes += [said[name] for name in there]
        return Grid([Column("attack", words=True), *map(Column, names)], rows, notes=notes)


def _shown(name: str, one: Round | None) -> list[float]:
    found = [math.nan, math.nan] if one is None else [one.attacked, one.defended]
    return found if name == "control" else found[1:]
