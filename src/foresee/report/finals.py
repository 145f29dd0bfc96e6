"""The finals of a run in words and as a table: who is first under fresh seeds, and whether that is more than luck."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from foresee.report.info import Entry, Info
from foresee.report.intervals import Axis
from foresee.report.words import short
from foresee.runs.finals import Finalist, Finals
from foresee.runs.record import Record
from foresee.statistics import Estimate


@dataclass(frozen=True)
class Row:
    """A finalist: its candidate, its fresh scores, and how much they vary (the standard deviation)."""

    entry: Entry
    finalist: Finalist

    @property
    def spread(self) -> float | None:
        """None where it failed under a seed."""
        return None if self.finalist.reason else statistics.stdev(self.finalist.values)

    @property
    def text(self) -> str:
        """The mean with its interval."""
        return with_interval(self.finalist.mean)


@dataclass(frozen=True)
class FinalsPage:
    """The finalists in the order of their means, on one axis, and what there is to say."""

    rows: tuple[Row, ...]
    axis: Axis
    seeds: int
    words: tuple[str, ...]


def finals_page(info: Info) -> FinalsPage | None:
    """All that a page shows of the finals; None where there were none."""
    found = info.finals
    entries = {entry.id: entry for entry in info.entries}
    if found is None or not all(one.candidate in entries for one in found.ranked):
        return None
    ends = [end for one in found.ranked if not one.reason for end in (one.mean.low, one.mean.high)]
    room = 0.04 * (max(ends) - min(ends)) or 1.0
    rows = tuple(Row(entries[one.candidate], one) for one in found.ranked)
    values = {entry.id: entry.value for entry in info.entries}
    return FinalsPage(rows, Axis(min(ends) - room, max(ends) + room), found.seeds, in_words(found, values))


def in_words(found: Finals, values: Mapping[int, float]) -> tuple[str, ...]:
    """What the finals say, a sentence each; `values` are the scores of the search by candidate.

    >>> from foresee.runs.finals import finals
    >>> scores = {(1, 0): 5.0, (1, 1): 5.2, (2, 0): 4.0, (2, 1): 4.3}
    >>> held = finals([1, 2], 2, {key: {"value": value} for key, value in scores.items()})
    >>> print(in_words(held, {1: 7.0, 2: 6.0})[1])
    The first is ahead of the second: by 0.95 [0.3147, 1.585], seed by seed.
    """
    first = found.ranked[0]
    words = [
        f"Under {found.seeds} fresh seeds (other weights, other data) the mean of the first is {with_interval(first.mean)}."
    ]
    if found.lead is not None:
        lead, second = with_interval(found.lead), found.ranked[1].candidate
        words.append(
            f"The first is ahead of the second: by {lead}, seed by seed."
            if found.ahead
            else f"The first and the second (candidate {second}) are not told apart: the lead is {lead}, seed by seed."
        )
    if found.moved:
        own = found.chosen[0]
        words.append(
            f"The search itself, under its own seed, had candidate {own} first, with {short(values[own])} against "
            f"{short(values[first.candidate])} of candidate {first.candidate}."
        )
    return tuple(words)


def why_none(record: Record) -> str:
    """Why a finished run that asked for finals has none, in words; "" where it has some, or asked for none."""
    if record.finals or not record.settings.get("finalists") or record.status != "finished" or not record.scored:
        return ""
    if len(record.objectives) > 1:
        return "No finals: with several objectives there is a front, and no single candidate is first."
    fresh = [event for event in record.events if event.kind == "finalist"]
    if not fresh:
        return "No finals: what the run followed is the same under every seed."
    return "No finals: not one of the finalists could be scored under every fresh seed."


def with_interval(one: Estimate) -> str:
    """A number with its 95 % interval, four digits each, with a true minus."""
    return f"{short(one.value)} [{short(one.low)}, {short(one.high)}]".replace("-", "−")
