"""The report of a defence: a table like the thesis' 5.4, what each round did, and whether its attacks can be trusted.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from foresee.ensembles.attacks.base import attacks
from foresee.ensembles.attacks.masking import Masking
from foresee.ensembles.defended import Defence, Defended, Round, Spread
from foresee.ensembles.defending import Withstood
from foresee.ensembles.defending import defend_kept as defend_quietly
from foresee.ensembles.defending.withstood import DEFENCE, opened
from foresee.errors import RunError
from foresee.grid import listed
from foresee.quantities import format_seconds
from foresee.report.asked import flatten
from foresee.report.page import page, report_in
from foresee.runs.folder import is_there, write_whole

P = ParamSpec("P")

__all__ = ["DEFENCE", "Shield", "defend", "opened", "render", "shields", "tell", "write"]


@dataclass(frozen=True)
class Shield:
    """One attack of the table: shares from 0 to 1, spreads over the attacked members."""

    attack: str
    settings: str
    paper: str
    clean: Spread
    attacked: Spread
    ensemble: float
    defended: Spread
    outsider: float | None
    control: float | None
    whole: float | None

    @property
    def gained(self) -> float:
        """How much more the ensemble knows than the member that was attacked."""
        return self.defended.mean - self.attacked.mean


@dataclass(frozen=True)
class Told:
    """A round of attack as the page shows it: whom it was aimed at, and its numbers."""

    who: str
    one: Round


@dataclass(frozen=True)
class DefenceInfo:
    """All that the page says."""

    title: str
    headline: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    single: bool
    shields: tuple[Shield, ...]
    rounds: tuple[Told, ...]
    masking: tuple[tuple[str, Masking], ...]
    signs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]


def shields(defence: Defence) -> tuple[Shield, ...]:
    """The rows of the table."""
    return tuple(_shield(defence, one) for one in defence.attacks)


def _shield(defence: Defence, one: Defended) -> Shield:
    said = ", ".join(f"{key} {value}" for key, value in one.settings.items())
    return Shield(
        attack=one.attack,
        settings=said or "as in the thesis",
        paper=attacks[one.attack].paper if one.attack in attacks else "",
        clean=Spread.of(defence.clean),
        attacked=one.attacked,
        ensemble=defence.ensemble,
        defended=one.defended,
        outsider=None if one.control is None else one.control.attacked,
        control=None if one.control is None else one.control.defended,
        whole=None if one.whole is None else one.whole.defended,
    )


def tell(found: Withstood) -> DefenceInfo:
    """The plain values of the page."""
    defence, rows = found.defence, shields(found.defence)
    single = defence.members == 1
    data, outsider = found.asked["data"], found.asked.get("outsider")
    return DefenceInfo(
        title=f"{data['name']} · {defence.members} network{'' if single else 's'} under attack",
        headline=_headline(rows, single),
        lead=_lead(found, rows, single),
        facts=(
            ("Networks", listed(found.names)),
            ("Images", f"{defence.samples:,} of {data['of']:,} of {data['name']}"),
            (
                "Right before any attack",
                f"{Spread.of(defence.clean)} %" + ("" if single else f"; together {100 * defence.ensemble:.1f} %"),
            ),
            ("Outside", "no network" if outsider is None else str(outsider["name"])),
            ("Seed", str(defence.seed)),
            ("Time", format_seconds(found.seconds)),
        ),
        single=single,
        shields=rows,
        rounds=tuple(Told(found.name(each.member), each) for one in defence.attacks for each in _rounds(one)),
        masking=tuple((found.name(place), one) for place, one in found.masking.items()),
        signs=tuple(found.signs),
        notes=found.notes,
        settings=flatten(
            {
                **found.asked,
                "networks": {str(one["name"]): one["weights"] for one in found.asked["networks"]},
                "attacks": {one.attack: dict(one.settings) or "as in the thesis" for one in defence.attacks},
            }
        ),
        environment=flatten(found.environment),
    )


def _rounds(one: Defended) -> list[Round]:
    return [*one.rounds, *(each for each in (one.control, one.whole) if each is not None)]


def _headline(rows: tuple[Shield, ...], single: bool) -> str:
    if single:
        worst = min(rows, key=lambda one: one.attacked.mean)
        return f"{100 * worst.attacked.mean:.1f} % are still right under {worst.attack}"
    worst = min(rows, key=lambda one: one.defended.mean)
    return (
        f"Together {100 * worst.defended.mean:.1f} % right where {worst.attack} leaves the attacked network "
        f"{100 * worst.attacked.mean:.1f} %"
    )


def _lead(found: Withstood, rows: tuple[Shield, ...], single: bool) -> str:
    if single:
        words = "A single network is attacked and answers alone: nothing defends it."
    else:
        helped = [one.attack for one in rows if one.gained > 0]
        others = [one.attack for one in rows if one.gained <= 0]
        words = "One network is attacked by somebody who knows all of it, then all answer; each in its turn."
        if helped:
            words += f" The ensemble knows more than the attacked network under {listed(helped)}."
        if others:
            words += f" It does not under {listed(others)}."
        if any(one.whole is not None for one in rows):
            least = min(one.whole for one in rows if one.whole is not None)
            words += f" Who knows every member leaves {100 * least:.1f} %."
    seen = f" Mind that {found.notes[-1]}." if len(found.notes) > 1 else ""
    if found.signs:
        return f"{words} There are signs of masked gradients: these numbers may flatter.{seen}"
    return f"{words}{' There is no sign of masked gradients.' if found.masking else ''}{seen}"


# -- the page -------------------------------------------------------------------------------------------------------------
def render(found: Withstood) -> str:
    """The report as HTML text."""
    info = tell(found)
    return page("defence.html", title=info.title, info=info, hover={})


def write(found: Withstood, folder: str | Path | None = None) -> Path:
    """Write `report.html` into the folder of the defence (or another), whole or not at all."""
    return write_whole(report_in(folder or found.folder, "defence"), render(found))


def beside(folder: Path) -> Withstood | None:
    """The finished defence of the ensemble or training in a folder, where there is one."""
    place = folder / "defence"
    if not is_there(place / DEFENCE):
        return None
    try:
        return opened(place)
    except RunError:  # it is at work, or was stopped
        return None


def reported(defending: Callable[P, Withstood]) -> Callable[P, Withstood]:
    """The same, writing `report.html` beside every defence that is kept."""

    @wraps(defending)
    def wrapped(*args: P.args, **given: P.kwargs) -> Withstood:
        found = defending(*args, **given)
        if found.folder is not None:
            write(found)
        return found

    return wrapped


defend = reported(defend_quietly)
