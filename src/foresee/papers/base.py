"""How a table of a paper is computed again.

A reproduction is a function that yields what it found, cell by cell, from a `Workshop` (tables, data, sample, seeds):

    @reproduction("dextr-table-7")
    def table_7(workshop: Workshop) -> Iterator[Found]:
        sample = workshop.sampled("nats-sss-cifar10")                       # raises Unavailable with the reason
        measured = workshop.measure(sample, {"dextr": Asked("dextr:reference_nb201")})
        yield Cell("dextr", "nats-sss-cifar10", workshop.correlation(measured["dextr"], sample.truth))
        yield Cell.missing("dextr", "nats-sss-cifar100", "no table with test_acc_cifar100")

Its docstring says how it was measured: which form of each proxy, which networks, which batch. The rows and columns are those
of `numbers.published(name)`: a row is `key`, or `group/key` where rows stand in groups. A number of ours appears only where
it was computed in this run. A paper is one file of this room, or a folder of several: its reproductions are found without
naming it anywhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from foresee.errors import InputError, UnknownNameError, shown
from foresee.papers import numbers
from foresee.papers.cells import Found
from foresee.papers.numbers import Published
from foresee.papers.workshop import SAMPLE, Workshop
from foresee.registry import import_all

Compute: TypeAlias = Callable[[Workshop], Iterator[Found]]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure that is computed here.

    `judged` is False where ours cannot be of the paper's own networks; `by_row` is True where rows are proxies, of which some
    can be asked for; `by_data` where data alone is asked for, and no table. `document` is the paper in words. `settings` are
    its own, with the paper's values: a run may have others (`Workshop.own`). `stated` says how much is looked at by default
    where that is neither the usual sample nor in the settings.
    """

    name: str
    caption: str
    compute: Compute
    judged: bool = True
    by_row: bool = False
    document: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    by_data: bool = False
    stated: str = ""

    @property
    def computes(self) -> str:
        """What is computed, in a sentence or two: how the docstring begins."""
        return " ".join(self.how.partition("\n\n")[0].split())

    @property
    def size(self) -> str:
        """How much is looked at, or trained, by default."""
        return self.stated or in_words(self.settings) or f"{SAMPLE:,} architectures of each benchmark"

    @property
    def how(self) -> str:
        """How it is measured: the function's docstring."""
        return inspect.getdoc(self.compute) or ""

    def check_rows(self, asked: Iterable[str]) -> None:
        """Raise, before any work, for rows that cannot be asked for."""
        for row in asked:
            if not self.by_row:
                raise InputError(f"row {row}: {self.name} is computed as a whole; leave out --row")
            numbers.published(self.name).row(row)

    def check_settings(self, asked: Mapping[str, Any]) -> None:
        """Raise, before any work, for settings that it does not have, or that are of another kind than the paper's."""
        for key, value in asked.items():
            if key not in self.settings:
                raise UnknownNameError(f"setting of {self.name}", key, self.settings)
            usual = self.settings[key]
            kinds = (
                (int, float) if isinstance(usual, float) else (list, tuple) if isinstance(usual, tuple) else type(usual)
            )
            if not isinstance(value, kinds) or isinstance(value, bool) != isinstance(usual, bool):
                raise InputError(f"{self.name}: {key} = {shown(value)}: expected something like {usual}")


#: settings that say how large a computation is, and how they are said
SIZES: Mapping[str, str] = {
    **{"variants": "{} variants", "random": "{} random cells", "seeds": "{} seeds", "draws": "{} draws"},
    **{"evaluations": "{} candidates", "epochs": "{} epochs", "steps": "{} steps", "channels": "{} channels"},
    **{"layers": "{} cells", "nodes": "{} nodes", "width": "width {}", "pool": "a pool of {}", "samples": "{} samples"},
    **{"points": "{} points", "levels": "warm-up of {} %", "networks": "{} networks"},
}


def in_words(settings: Mapping[str, Any]) -> str:
    """What settings say of the size of a computation, "" where they say nothing.

    >>> in_words({"channels": 8, "layers": 5, "epochs": 1, "seeds": 3, "recipe": "fast"})
    '3 seeds, 1 epoch, 8 channels, 5 cells'
    """
    said = []
    for key, words in SIZES.items():
        if key in settings:
            value = settings[key]
            text = ", ".join(map(str, value)) if isinstance(value, tuple) else f"{value:,}"
            said.append(words.format(text).removesuffix("s") if value == 1 else words.format(text))
    return ", ".join(said)


reproductions: dict[str, Reproduction] = {}


def reproduction(
    name: str,
    *,
    also: Iterable[str] = (),
    caption: str = "",
    judged: bool = True,
    by_row: bool = False,
    document: str = "",
    settings: Mapping[str, Any] | None = None,
    by_data: bool = False,
    size: str = "",
) -> Callable[[Compute], Compute]:
    """Register how a table is computed; `also` names copies of it in other documents.

    What has no published numbers here needs a `caption`, and a paper that has none at all its `document`: authors, title,
    where and when. `settings` and `by_data` as in `Reproduction`, `size` as `stated` there.
    """

    def decorate(compute: Compute) -> Compute:
        for each in (name, *also):
            words = numbers.published(each).caption if each in numbers.names() else caption
            if not words:
                raise InputError(f"{each} has no published numbers: say what it shows (caption=...)")
            paper = document or numbers.DOCUMENTS.get(each.partition("-")[0], "")
            if not paper:
                raise InputError(f"{each} is of a paper without published numbers: say which it is (document=...)")
            if each in reproductions:
                raise InputError(f"{each} is registered already")
            made = Reproduction(each, words, compute, judged, by_row, paper, settings or {}, by_data, size)
            reproductions[each] = made
        return compute

    return decorate


def load_all() -> dict[str, Reproduction]:
    """All reproductions, by name: those of every file of this room."""
    import_all("foresee.papers")
    return reproductions


def names() -> list[str]:
    """Everything that can be shown: the published tables, then the figures without printed numbers."""
    printed = numbers.names()
    return printed + sorted(name for name in load_all() if name not in printed)


def find(name: str) -> tuple[Published | None, Reproduction | None]:
    """The published table and the reproduction of this name; an unknown name is answered with the nearest ones."""
    if name not in names():
        raise UnknownNameError("table or figure of a paper", name, names())
    return (numbers.published(name) if name in numbers.names() else None), reproductions.get(name)
