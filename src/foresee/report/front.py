"""The front of several objectives for a page: networks to pick from along it, and how it was filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foresee.report.figures import Chart, Layer, Scale
from foresee.report.info import Entry, Info

#: networks of the front that are shown to pick from
PICKS = 9


@dataclass(frozen=True)
class Pick:
    """One of the front, and what it stands for: the best by an objective, the knee, or nothing in particular."""

    entry: Entry
    words: str


def picks(info: Info) -> tuple[Pick, ...]:
    """Some of the front, from its best by the first objective on: the ends, the knee, and others evenly between."""
    on_front = set(info.front)
    along = [entry for entry in info.entries if entry.id in on_front]  # they come by rank
    unlike = {entry.identity or entry.architecture: entry for entry in reversed(along)}
    along = [entry for entry in along if unlike[entry.identity or entry.architecture] is entry]
    words: dict[int, list[str]] = {}
    for one in info.objectives:
        known = [entry for entry in along if one.name in entry.objectives]
        if known:
            best = max(known, key=lambda entry: one.sign * entry.objectives[one.name])
            words.setdefault(best.id, []).append(one.name)
    named = {id: f"best by {' and '.join(names)}" for id, names in words.items()}
    if info.knee is not None:
        named[info.knee] = "; ".join(filter(None, ["the knee", named.get(info.knee, "")]))
    places = {place for place, entry in enumerate(along) if entry.id in named}
    chosen = sorted(places | set(spread([i for i in range(len(along)) if i not in places], PICKS - len(places))))
    return tuple(Pick(along[place], named.get(along[place].id, "")) for place in chosen)


def spread(places: Sequence[int], many: int) -> list[int]:
    """So many of these, evenly spaced; all where there are no more.

    >>> spread(range(10), 3), spread([4, 7], 5), spread([], 2)
    ([1, 5, 8], [4, 7], [])
    """
    if many <= 0 or len(places) <= many:
        return list(places[: max(many, 0)])
    return [places[int((number + 0.5) * len(places) / many)] for number in range(many)]


def filled_chart(name: str, filled: Sequence[tuple[int, float]]) -> Chart:
    """How much of its box the front filled after each candidate, in percent."""
    ids, shares = tuple(float(id) for id, _ in filled), tuple(100 * share for _, share in filled)
    words = f"hypervolume of the front after each candidate; at the end it fills {shares[-1]:.3g} % of its box"
    layers = (Layer("line", "front", ids, shares, "hypervolume so far"),)
    return Chart(name, words, "candidate", "share of the box that the front dominates, %", "whole", layers, Scale())
