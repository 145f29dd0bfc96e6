"""The page of a click log: what is in it, what each column is taken for, what the label depends on, what is malformed.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from foresee.data.clicks.guessing.guess import Guess
from foresee.data.clicks.profile.profiling import Profile
from foresee.data.clicks.profile.tallies import Categories, Numbers, Rate, plain_number
from foresee.grid import listed, shortened
from foresee.quantities import format_bytes
from foresee.report.commands import shown_path
from foresee.report.figures import Chart, Layer, Scale
from foresee.report.html import Drawing, drawing
from foresee.report.page import page
from foresee.report.words import times
from foresee.runs.folder import write_whole

#: columns whose label rates are drawn, those that tell most first
DRAWN = 6
#: what a column must tell of the label to be worth a figure, and what is too much to be believed
LITTLE, TOO_MUCH = 0.0005, 0.9
#: characters of a value on the page
LONG = 40


@dataclass(frozen=True)
class Row:
    """A column in the table: texts for people, and numbers to sort by."""

    name: str
    kind: str
    values: str
    distinct: int
    missing: float
    holds: str
    tells: float
    why: str


@dataclass(frozen=True)
class ProfileInfo:
    """All that the page says."""

    title: str
    headline: str
    lead: str
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    guessed: bool
    why: bool
    left_out: tuple[tuple[str, str], ...]
    parts: tuple[Rate, ...]
    malformed: int
    named: tuple[tuple[int, str], ...]
    toml: str
    lines: tuple[tuple[str, str], ...]


def tell(found: Profile, guess: Guess | None = None) -> ProfileInfo:
    """What a page says of a log; `guess` where nobody described it."""
    name, of = Path(found.path).name, found.schema
    reasons = {} if guess is None else {one.name: one.reason for one in guess.columns}
    columns: list[Numbers | Categories] = [*found.numbers, *found.categories]
    whole = "" if found.whole else " that were looked at"
    numbers, categories = times(len(found.numbers), "number"), len(found.categories)
    counted = f"{numbers} and {categories:,} categor{'y' if categories == 1 else 'ies'}"
    lead = f"{counted} to foresee {of.label} by. "
    lead += (
        f"{times(found.malformed, 'row')} {'is' if found.malformed == 1 else 'are'} malformed."
        if found.malformed
        else "No row is malformed."
    )
    return ProfileInfo(
        title=name,
        headline=f"{found.rows:,} rows{whole}, {percent(found.rate)} of them mean yes",
        lead=lead,
        notes=tuple(notes(found, guess)),
        facts=tuple(_facts(found)),
        rows=tuple(_row(one, found.rows, reasons) for one in columns),
        guessed=guess is not None and not guess.published,
        why=guess is not None,
        left_out=() if guess is None else tuple((o.name, o.reason) for o in guess.columns if o.role == "left out"),
        parts=found.parts,
        malformed=found.malformed,
        named=tuple((one.line, one.reason) for one in found.named),
        toml=of.to_toml() if guess is None else guess.to_toml(),
        lines=tuple(_lines(found, guess is not None and not guess.published)),
    )


def notes(found: Profile, guess: Guess | None = None) -> list[str]:
    """What should be looked at twice, the most serious first."""
    columns: list[Numbers | Categories] = [*found.numbers, *found.categories]
    said = [f"Guessed: {warning}." for warning in guess.warnings] if guess else []
    sure = [one.name for one in columns if one.tells > TOO_MUCH]
    if sure:
        said.append(f"{listed(sure)} alone nearly determines the label: is it known before the click?")
    if found.malformed > 0.01 * (found.rows + found.malformed):
        said.append(f"{percent(found.malformed / (found.rows + found.malformed))} of the rows are malformed.")
    same = [one.name for one in columns if one.distinct <= 1]
    if same:
        said.append(f"{listed(same)}: one value, or none, in all rows; nothing can be learnt from it.")
    return said


def _facts(found: Profile) -> list[tuple[str, str]]:
    of, path = found.schema, Path(found.path)
    split = dict(of.split)
    how = ", ".join(f"{part} {100 * split[part]:g} %" for part in ("train", "val", "test") if split.get(part))
    parted = f"by the column {split['column']}" if split["by"] == "column" else f"by {split['by']}: {how}"
    return [
        ("file", path.name),
        *([("size", format_bytes(path.stat().st_size))] if path.exists() else []),
        ("label", f"{of.label}: {' or '.join(of.positive)} means yes"),
        ("rows", f"{found.rows:,}"),
        ("mean yes", f"{found.yes:,} ({percent(found.rate)})"),
        ("malformed", f"{found.malformed:,}"),
        ("split", parted.replace("by random", "at random")),
        ("schema", of.name or "as it was handed over"),
    ]


def _row(one: Numbers | Categories, rows: int, reasons: dict[str, str]) -> Row:
    if isinstance(one, Numbers):
        middle = f"median {plain_number(one.quantiles[2])}, " if one.quantiles else ""
        holds = f"{middle}{plain_number(one.low)} to {plain_number(one.high)}" if one.quantiles else "–"
    else:
        holds = ", ".join(f"{shortened(v.name, 20)} ({percent(v.rows / rows)})" for v in one.most[:3]) or "–"
    counted = isinstance(one, Categories) and not one.exact
    values = f"about {float(f'{one.distinct:.3g}'):,.0f}" if counted else f"{one.distinct:,}"
    kind = "number" if isinstance(one, Numbers) else "category"
    return Row(one.name, kind, values, one.distinct, one.missing / rows, holds, one.tells, reasons.get(one.name, ""))


def _lines(found: Profile, guessed: bool) -> list[tuple[str, str]]:
    """What to type next."""
    log, name = shown_path(found.path), Path(found.path).name.split(".")[0]
    file = shlex.quote(f"{name}.toml")
    made = (
        [("Write the schema, to be confirmed and edited", f"foresee data {log} --write-schema {file}")]
        if guessed
        else []
    )
    of = file if guessed or not found.schema.name else shlex.quote(found.schema.name)
    return [
        *made,
        (
            "Search",
            f"foresee search nasrec-small --data {log} --schema {of} --warmup 1% --proxy sigeo --out runs/clicks",
        ),
        ("Train what was found", f"foresee train runs/clicks/best.json --data {log} --out runs/trained"),
    ]


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.2261), percent(0.00043), percent(0.0)
    ('22.6 %', '0.043 %', '0 %')
    """
    return f"{100 * share:.3g} %" if math.isfinite(share) else "–"


# -- figures --------------------------------------------------------------------------------------------------------------
def along(found: Profile) -> Drawing:
    """Label rates along the file: a log that drifts, or that is sorted, must not be split blindly."""
    ends = list(accumulate(run.rows for run in found.along))
    middles = tuple(end - run.rows / 2 for end, run in zip(ends, found.along, strict=True))
    layers = (
        Layer("straight", "muted", (0.0, float(found.rows)), (100 * found.rate,) * 2, "all rows"),
        *_rates("run", middles, found.along, "a run of rows"),
    )
    words = f"share that means yes in {len(found.along)} runs of rows along the file"
    chart = Chart("along", words, "row", "mean yes in %", "quantity", layers, Scale(low=0))
    return drawing("Along the file", chart, "The bars hold 95 % of what chance alone would do.")


def by_column(found: Profile) -> list[Drawing]:
    """Label rates by the columns that tell most of the label, each by itself."""
    return [_by(one, place, found.rate) for place, one in enumerate(_telling(found))]


def _telling(found: Profile) -> list[Numbers | Categories]:
    columns: list[Numbers | Categories] = [*found.numbers, *found.categories]
    telling = [one for one in columns if one.tells > LITTLE and one.distinct > 1]
    return sorted(telling, key=lambda one: -one.tells)[:DRAWN]


def _by(one: Numbers | Categories, place: int, rate: float) -> Drawing:
    groups = _shown(one)
    x = tuple(float(number + 1) for number in range(len(groups)))
    layers = (
        Layer("straight", "muted", (0.5, len(groups) + 0.5), (100 * rate,) * 2, "all rows"),
        *_rates(f"by{place}", x, groups, "rows of a value" if isinstance(one, Categories) else "rows of a range"),
    )
    what = "its values, the most frequent first" if isinstance(one, Categories) else "its ranges, from small to large"
    words = f"share that means yes by {one.name}, in {len(groups)} groups"
    chart = Chart(f"by-{place}", words, what, "mean yes in %", "whole", layers, Scale(low=0))
    named = " · ".join(f"{number} {shortened(group.name, 20)}" for number, group in enumerate(groups, 1))
    return drawing(shortened(one.name, LONG), chart, f"Tells {percent(one.tells)} of what there is to know. {named}")


def _shown(one: Numbers | Categories) -> list[Rate]:
    groups = one.groups if isinstance(one, Numbers) else one.most
    return [*groups, *([one.rest] if one.rest.rows else [])]


def _rates(name: str, x: tuple[float, ...], rates: Sequence[Rate], label: str) -> tuple[Layer, Layer]:
    """Dots with bars: the shares, and the intervals of Wilson for each."""
    low, high = zip(*(_interval(one) for one in rates), strict=True)
    dots = tuple(100 * one.rate for one in rates)
    ids = tuple(f"{name}-{place}" for place in range(len(rates)))
    return Layer("bars", "front", x, low, "", (), high), Layer("dots", "best", x, dots, label, ids)


def _interval(one: Rate, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share, in per cent."""
    n, p = one.rows, one.rate
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return 100 * (middle - half) / (1 + z * z / n), 100 * (middle + half) / (1 + z * z / n)


def hover(found: Profile) -> dict[str, list[str]]:
    """What the page says of the dot under the pointer."""
    groups = {f"by{place}": _shown(one) for place, one in enumerate(_telling(found))}
    named = {"run": list(found.along), **groups}
    return {
        f"{name}-{place}": [shortened(one.name, LONG), f"{one.rows:,} rows, {percent(one.rate)} mean yes"]
        for name, rates in named.items()
        for place, one in enumerate(rates)
    }


# -- the page -------------------------------------------------------------------------------------------------------------
def render(found: Profile, guess: Guess | None = None) -> str:
    """The page as HTML text."""
    info = tell(found, guess)
    return page(
        "profile.html", title=info.title, info=info, along=[along(found)], columns=by_column(found), hover=hover(found)
    )


def save(found: Profile, path: str | Path, guess: Guess | None = None) -> Path:
    """Write the page, whole or not at all."""
    return write_whole(Path(path), render(found, guess))
