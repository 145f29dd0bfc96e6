"""How well inherited weights foresee what trained networks do, alone and together (thesis, Table 5.6).

Some architectures are drawn, looked at with inherited weights, and those that stand evenly spaced by their estimated error
are trained. Every ensemble of a size that can be made of them has an estimated and a true performance on the same samples:
their correlations, and how many of the foremost 30 % by one are among those by the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresee.checks import whole
from foresee.ensembles.finding.members import Member, labels_of, numbered
from foresee.ensembles.finding.run import asked, begin, cut
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.finding.workshop import Common
from foresee.ensembles.measures import measure, nll
from foresee.errors import InputError, UnknownNameError
from foresee.grid import Column, Grid, Shown
from foresee.runs.events import Observer
from foresee.runs.progress import watched
from foresee.seeds import generator, stream
from foresee.spaces.base import Space
from foresee.statistics import pearson, spearman, top_overlap

#: sizes of ensembles, and the share of the foremost, of Table 5.6
SIZES, SHARE = (1, 3, 5, 7), 0.3
#: ensembles of a size that are looked at, at most
MOST = 1000
BY = ("error", "nll")


@dataclass(frozen=True)
class Agreement:
    """Of ensembles of one size: how many were looked at, both correlations, and the agreement of the foremost."""

    size: int
    ensembles: int
    spearman: float
    pearson: float
    agreement: float

    def to_json(self) -> dict[str, Any]:
        """Plain values; what does not exist (all of one performance) is None."""
        return {key: None if isinstance(one, float) and math.isnan(one) else one for key, one in asdict(self).items()}


def agreement(
    estimated: Tensor,
    true: Tensor,
    labels: Tensor,
    *,
    sizes: Sequence[int] = SIZES,
    share: float = SHARE,
    by: str = "error",
    most: int = MOST,
    seed: int = 0,
) -> list[Agreement]:
    """Estimated against true performance of all ensembles that a pool has.

    Args:
        estimated: probabilities of the pool by inherited weights, (networks, samples, classes).
        true: of the trained networks, likewise.
        labels: (samples,).
        sizes: of ensembles; those that the pool is too small for are left out.
        share: of the foremost.
        by: `error` or `nll`.
        most: ensembles of a size; of more, so many are drawn.
        seed: of these draws.

    >>> pool = torch.softmax(torch.randn(4, 30, 3, generator=torch.Generator().manual_seed(0)), -1)
    >>> [(one.size, one.ensembles, one.spearman) for one in agreement(pool, pool, torch.arange(30) % 3, sizes=(1, 2))]
    [(1, 4, 1.0), (2, 6, 1.0)]
    """
    if by not in BY:
        raise UnknownNameError("performance", by, BY)
    if estimated.shape != true.shape or estimated.ndim != 3:
        raise InputError(
            f"agreement: probabilities of shapes {tuple(estimated.shape)} and {tuple(true.shape)}: equal ones"
        )
    found = []
    for size in (one for one in sizes if one <= len(true)):
        groups = _groups(len(true), size, most, seed)
        ours, theirs = ([-_loss(one[list(group)], labels, by) for group in groups] for one in (estimated, true))
        foremost = max(1, round(share * len(groups)))
        numbers = spearman(ours, theirs), pearson(ours, theirs), top_overlap(ours, theirs, foremost)
        found.append(Agreement(size, len(groups), *numbers))
    return found


def _loss(members: Tensor, labels: Tensor, by: str) -> float:
    if by == "error":
        return measure(members, labels).error
    return float(nll(members.double().mean(0), labels))


def _groups(count: int, size: int, most: int, seed: int) -> list[tuple[int, ...]]:
    """All subsets of a size, or `most` of them drawn without repetition."""
    if math.comb(count, size) <= most:
        return list(itertools.combinations(range(count), size))
    numbers, found = generator(seed, "groups", size), dict[tuple[int, ...], None]()
    while len(found) < most:
        found[tuple(sorted(torch.randperm(count, generator=numbers)[:size].tolist()))] = None
    return list(found)


@dataclass(frozen=True, eq=False)
class Estimation(Shown):
    """Table 5.6 measured: one row for each size, the architectures, and their errors estimated and true."""

    rows: tuple[Agreement, ...]
    architectures: tuple[str, ...]
    estimated: tuple[float, ...]
    true: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        plain = {"architectures": self.architectures, "estimated": self.estimated, "true": self.true}
        return {"rows": [one.to_json() for one in self.rows], **{key: list(one) for key, one in plain.items()}}

    def _grid(self) -> Grid:
        heads = [Column("members"), *map(Column, ("ensembles", "Spearman", "Pearson", "agreement"))]
        rows = [
            [
                str(one.size),
                str(one.ensembles),
                f"{one.spearman:.2f}",
                f"{one.pearson:.2f}",
                f"{100 * one.agreement:.0f} %",
            ]
            for one in self.rows
        ]
        return Grid(heads, rows, title=f"estimated against true performance, {len(self.architectures)} architectures")

    def __str__(self) -> str:
        return str(self._grid())


def estimation(
    space: str | Space[Any],
    data: Any,
    *,
    architectures: int = 10,
    drawn: int = 50,
    sizes: Sequence[int] = SIZES,
    by: str = "error",
    out: str | Path | None = None,
    val: Any = None,
    test: Any = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
    **settings: Any,
) -> Estimation:
    """Measure how well inherited weights estimate; goes on with what is in `out`.

    Args:
        space: as for `ensemble`.
        data: as for `ensemble`; performances are those on its test part.
        architectures: how many are trained.
        drawn: of how many they are those that stand evenly spaced by their estimated error.
        sizes: of ensembles.
        by: `error` or `nll`.
        out: the folder of the supernet and of the pool of trained networks: that of a seed of a comparison will do.
        val: as for `ensemble`.
        test: as for `ensemble`.
        observers: are told what happens.
        progress: show a line of progress.
        settings: as for `ensemble`.
    """
    whole("architectures", architectures, 2, of="estimation")
    whole("drawn", drawn, architectures, of="estimation")
    said = asked(space, test=test, **settings)
    parts = cut(said, data, val=val, test=test)
    if out is not None:
        begin(Shelf(out), said, parts)
    common = Common(said, parts, None if out is None else Path(out), watched(observers, progress))
    estimates = common.estimates("test")
    pool = {str(one): one for one in (common.space.sample(stream(said.seed, "estimation", n)) for n in range(drawn))}
    errors = {text: estimates.measure([one]).error for text, one in pool.items()}
    chosen = spaced(sorted(pool, key=lambda text: (errors[text], text)), architectures)
    members: list[Member] = numbered(common.candidate(pool[text]) for text in chosen)
    true = common.members.pool(members, "test")
    labels = labels_of(parts.test)
    inherited = estimates.together([pool[text] for text in chosen])
    rows = agreement(inherited, true, labels, sizes=sizes, by=by, seed=said.seed)
    found = Estimation(
        tuple(rows),
        tuple(chosen),
        tuple(errors[text] for text in chosen),
        tuple(measure(one[None], labels).error for one in true),
    )
    Shelf(out).write("estimation.json", found.to_json())
    return found


def spaced(things: Sequence[str], count: int) -> list[str]:
    """So many of a list, from its first to its last, evenly spaced.

    >>> spaced(["a", "b", "c", "d", "e"], 3)
    ['a', 'c', 'e']
    """
    count = min(count, len(things))
    return [things[round(place * (len(things) - 1) / max(1, count - 1))] for place in range(count)]
