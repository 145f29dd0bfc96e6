"""Why this one: the parts of the winner's scores beside those of all candidates, where its score lies, and its layers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from foresee.report.figures import DRAWN, scale_for
from foresee.report.info import Entry, Info, Measure
from foresee.report.words import short
from foresee.runs.record import Record
from foresee.runs.values import is_number

#: with fewer scored candidates there is no distribution to speak of
FEW = 8
#: layers that are shown, the largest ones, in the order of the network
LAYERS = 40
#: width and height of the histogram, and the room for words above and below its bars
SIZE, ABOVE, BELOW = (420.0, 190.0), 34.0, 36.0


@dataclass(frozen=True)
class Part:
    """A number that the winner's score was made from, its median over all candidates, and the share of them it exceeds."""

    name: str
    value: float
    median: float
    above: float


@dataclass(frozen=True)
class MadeFrom:
    """The parts of one score of the winner."""

    proxy: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Bar:
    """A layer, what it contributes, and that as a share of all layers and of the largest one."""

    name: str
    value: float
    share: float
    length: float


@dataclass(frozen=True)
class Why:
    """All of it; `rest` is the share of the layers that are not shown, `silence` why no layers are."""

    made_from: tuple[MadeFrom, ...]
    histogram: str
    place: str
    layers: tuple[Bar, ...]
    rest: float
    hidden: int
    silence: str = ""


def why(record: Record, info: Info) -> Why | None:
    """The reasons for the best candidate; None where there is none."""
    best = info.best
    if best is None:
        return None
    names = dict.fromkeys([*(one.name for one in info.objectives), *info.others])
    parts = [made_from(name, best, info.entries) for name in names]
    values = [entry.value for entry in info.entries]
    beaten = sum(best.merit > entry.merit for entry in info.entries)
    place = f"The best one scores more than {beaten} of {len(values) - 1} others." if len(values) > 1 else ""
    if info.measure.direction == "lower":
        place = place.replace("scores more", "has less")
    layers, hidden, rest, silence = _layers(record, best.id)
    drawn = histogram(values, best.value, info.measure) if len(values) >= FEW else ""
    return Why(tuple(one for one in parts if one.parts), drawn, place, layers, rest, hidden, silence)


def made_from(name: str, best: Entry, entries: Sequence[Entry]) -> MadeFrom:
    """The parts of one proxy's score of the best, each beside the same part of all candidates that have it."""
    row = best.scores.get(name)
    known = [entry.scores[name].parts for entry in entries if name in entry.scores]
    found = []
    for part, value in row.parts.items() if row is not None and row.value is not None else ():
        all_of_them = [one[part] for one in known if part in one and math.isfinite(one[part])]
        median = statistics.median(all_of_them) if all_of_them else math.nan
        above = sum(value > one for one in all_of_them) / max(1, len(all_of_them) - 1)
        found.append(Part(part, value, median, min(above, 1.0)))
    return MadeFrom(name, tuple(found))


def _layers(record: Record, best: int) -> tuple[tuple[Bar, ...], int, float, str]:
    """The largest layers in their order, how many more there are, the share of those, and the reason where there are none."""
    kept = [event.details for event in record.events if event.kind == "layers" and event.candidate == best]
    if not kept:
        return (), 0, 0.0, ""
    plain = kept[-1].get("layers")
    items = plain.items() if isinstance(plain, dict) else ()
    found = {str(name): float(value) for name, value in items if is_number(value)}
    whole = sum(found.values())
    if not found or not whole > 0:
        return (), 0, 0.0, str(kept[-1].get("reason") or "no layer contributes anything")
    largest = sorted(found, key=lambda name: -found[name])[:LAYERS]
    bars = tuple(
        Bar(name, value, value / whole, value / found[largest[0]]) for name, value in found.items() if name in largest
    )
    return bars, len(found) - len(bars), max(0.0, 1 - sum(bar.share for bar in bars)), ""


def histogram(values: Sequence[float], best: float, measure: Measure) -> str:
    """How the scores are distributed, as SVG: bars, a line at the median, and one at the best candidate.

    The axis is that of the other figures: logarithmic over decades, and without far stragglers on the bad side.
    """
    values, best = [min(max(value, -DRAWN), DRAWN) for value in values], min(max(best, -DRAWN), DRAWN)
    scale = scale_for(values, measure)
    shown = [value for value in values if scale.holds(value)]
    at = [math.log10(value) if scale.log else value for value in shown]
    low, high = min(at), max(at)
    width = (high - low) or 1.0
    many = max(6, min(30, round(2 * math.sqrt(len(shown)))))
    counts = [0] * many
    for one in at:
        counts[min(many - 1, int((one - low) / width * many))] += 1
    floor, step = SIZE[1] - BELOW, SIZE[0] / many
    tallest = (floor - ABOVE) / max(counts)
    bars = "".join(
        f'<rect x="{place * step + 1:.1f}" y="{floor - count * tallest:.1f}" width="{step - 2:.1f}" '
        f'height="{count * tallest:.1f}" style="fill: var(--dot); opacity: .55"/>'
        for place, count in enumerate(counts)
        if count
    )

    def mark(value: float, role: str, word: str, y: float) -> str:
        where = SIZE[0] * ((math.log10(value) if scale.log else value) - low) / width
        where = min(max(where, 1.0), SIZE[0] - 1.0)
        anchor, gap = ("end", -5) if where > SIZE[0] / 2 else ("start", 5)
        return (
            f'<line x1="{where:.1f}" x2="{where:.1f}" y1="{y - 9:.1f}" y2="{floor}" style="stroke: var(--{role}); '
            f'stroke-width: 2"/><text x="{where + gap:.1f}" y="{y}" text-anchor="{anchor}" '
            f'style="fill: var(--{role}); font-size: 11px">{word} {short(value)}</text>'
        )

    ends = f'<text x="0" y="{floor + 16}" class="end">{short(min(shown))}</text>'
    ends += f'<text x="{SIZE[0]}" y="{floor + 16}" text-anchor="end" class="end">{short(max(shown))}</text>'
    title = f"Distribution of {len(values)} scores from {short(min(values))} to {short(max(values))}"
    middle = statistics.median(values)
    marks = (mark(middle, "muted", "median", 24.0) if scale.holds(middle) else "") + mark(best, "best", "best", 11.0)
    return (
        f'<svg class="histogram" viewBox="0 0 {SIZE[0]:g} {SIZE[1]:g}" role="img"><title>{title}</title>{bars}'
        f'<line x1="0" x2="{SIZE[0]}" y1="{floor}" y2="{floor}" style="stroke: var(--grid)"/>{marks}{ends}</svg>'
    )
