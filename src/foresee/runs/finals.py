"""The finals of a run: its best few, scored again under fresh seeds, and whether the first is really ahead of the second.

A search keeps the greatest of many scores, and the greatest is partly luck: other weights and other data would have given
another number. So the score by which a finalist was chosen does not count here; only the fresh ones do. All finalists see
the same seeds, so that two are compared seed by seed, under equal luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foresee.runs.values import is_number
from foresee.statistics import Estimate, mean_of_few

#: the event of one fresh score: the number of its seed, its value, and the reason where there is none
KIND = "finalist"


@dataclass(frozen=True)
class Finalist:
    """A candidate with its fresh scores, one per seed, and their mean with a 95 % interval.

    One that failed under any seed has a reason, and is ranked behind all that did not.
    """

    candidate: int
    values: tuple[float, ...]
    mean: Estimate
    reason: str = ""


@dataclass(frozen=True)
class Finals:
    """The finalists, best mean first, after how many fresh seeds, and by how much the first leads the second.

    `lead` is the mean difference over the same seeds with a 95 % interval, more being better; None where there are no two to
    compare. `chosen` are the ids in the order in which the search ranked them.
    """

    ranked: tuple[Finalist, ...]
    chosen: tuple[int, ...]
    seeds: int
    lead: Estimate | None = None

    @property
    def ahead(self) -> bool:
        """Whether the first is really ahead: the whole interval of its lead is above 0."""
        return self.lead is not None and self.lead.low > 0

    @property
    def verdict(self) -> str:
        """In two words: "ahead" or "not told apart"; "" where there are no two to compare."""
        return "" if self.lead is None else "ahead" if self.ahead else "not told apart"

    @property
    def moved(self) -> bool:
        """Whether another than the search's own first is ranked first."""
        return self.ranked[0].candidate != self.chosen[0]


def finals(
    chosen: Sequence[int], seeds: int, found: Mapping[tuple[int, int], Mapping[str, Any]], sign: float = 1.0
) -> Finals | None:
    """Rank the chosen by what was found: `found` holds the details of an event for (candidate, number of the seed).

    None while a score is still missing, or where not one of the finalists has all of them: then nothing was decided.
    """
    if not chosen or not all((one, number) in found for one in chosen for number in range(seeds)):
        return None
    made = [_finalist(one, [found[one, number] for number in range(seeds)]) for one in chosen]
    sound = sorted((one for one in made if not one.reason), key=lambda one: -sign * one.mean.value)
    if not sound:
        return None
    lead = None
    if len(sound) > 1:
        pairs = zip(sound[0].values, sound[1].values, strict=True)
        lead = mean_of_few([sign * (first - second) for first, second in pairs])
    return Finals((*sound, *(one for one in made if one.reason)), tuple(chosen), seeds, lead)


def fresh(events: Sequence[tuple[int | None, Mapping[str, Any]]]) -> dict[tuple[int, int], Mapping[str, Any]]:
    """The details of events of this kind by (candidate, number of the seed); what makes no sense is left out."""
    found: dict[tuple[int, int], Mapping[str, Any]] = {}
    for candidate, details in events:
        number, value, reason = details.get("number"), details.get("value"), details.get("reason")
        told = is_number(value) or (value is None and isinstance(reason, str) and reason)
        if candidate is not None and isinstance(number, int) and told:
            found[candidate, number] = details
    return found


def _finalist(candidate: int, details: Sequence[Mapping[str, Any]]) -> Finalist:
    reasons = [str(one["reason"]) for one in details if one["value"] is None]
    values = tuple(float(one["value"]) for one in details if one["value"] is not None)
    why = f"under {len(reasons)} of {len(details)} seeds: {reasons[0]}" if reasons else ""
    return Finalist(candidate, values, mean_of_few(values), why)
