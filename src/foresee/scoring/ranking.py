"""Several networks in order: each scored alike, ordered by their ranks over the proxies that vote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from foresee.errors import InputError, UnknownNameError
from foresee.grid import Column, Grid, Shown, frame, listed
from foresee.handed import read
from foresee.lazy import find
from foresee.probes.losses import Loss
from foresee.probes.outputs import Outputs
from foresee.proxies.base import Proxy, Score, is_baseline
from foresee.scoring import together
from foresee.scoring.one import Model, chosen_proxies, scores, wants

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

#: what networks are ordered by where there are several proxies
WAYS = ("mean_rank", "log_rank")


class Row(NamedTuple):
    """One network of a ranking: its name, its place (1 is the best) and its scores by proxy."""

    name: str
    place: int
    scores: Mapping[str, Score]


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """Networks in order, best first. `ranking[0]` and `ranking["name"]` are rows, and so is what a loop over it gives.

    `scores` is by network and proxy; `ranks` likewise (1 is best, ties share the mean of their places, failures come last).
    `votes` are the proxies that decide: baselines (size, work, chance) are shown beside them and decide nothing, unless there
    is nothing else. `order` sorts by the number of failures, then by what `by` names: `mean_ranks`, the mean over the votes,
    or `log_ranks`, the sum of log(rank from below / number of networks), which punishes a single bad rank more.
    """

    scores: Mapping[str, Mapping[str, Score]]
    ranks: Mapping[str, Mapping[str, float]]
    mean_ranks: Mapping[str, float]
    order: tuple[str, ...]
    log_ranks: Mapping[str, float]
    by: str
    votes: tuple[str, ...]

    @property
    def best(self) -> str:
        """Name of the first in order."""
        return self.order[0]

    @property
    def baselines(self) -> tuple[str, ...]:
        """The proxies that are shown and have no vote."""
        return tuple(name for name in next(iter(self.scores.values())) if name not in self.votes)

    @property
    def joined_ranks(self) -> Mapping[str, float]:
        """By network, the number that several votes were joined to: what `by` names."""
        return self.mean_ranks if self.by == "mean_rank" else self.log_ranks

    @property
    def joined(self) -> str:
        """How the order came about, in words."""
        ways = {"mean_rank": "the mean of the ranks by", "log_rank": "the sum of the logarithms of the ranks by"}
        words = f"ordered by {ways[self.by] + ' ' if len(self.votes) > 1 else ''}{listed(self.votes)}"
        if self.baselines:
            says = "is a baseline and has" if len(self.baselines) == 1 else "are baselines and have"
            words += f"; {listed(self.baselines)} {says} no vote"
        failed = any(not own[name].ok for own in self.scores.values() for name in self.votes)
        return words + ("; what failed comes last" if failed else "")

    @property
    def problems(self) -> list[str]:
        """A line for each proxy that had no score of some network, with the first reason."""
        lines = []
        for proxy in (*self.votes, *self.baselines):
            reasons = [own[proxy].reason for own in self.scores.values() if not own[proxy].ok]
            if reasons:
                lines.append(f"{proxy}: no score of {len(reasons)} of {len(self)}: {reasons[0]}")
        return lines

    # -- rows -----------------------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[Row]:
        return (self._row(place) for place in range(len(self)))

    def __getitem__(self, which: int | str) -> Row:
        """A row by its index (0 is the best, -1 the last) or by the name of the network."""
        if isinstance(which, str):
            if which not in self.scores:
                raise UnknownNameError("network", which, self.order)
            return self._row(self.order.index(which))
        return self._row(range(len(self))[which])

    def _row(self, index: int) -> Row:
        return Row(self.order[index], index + 1, self.scores[self.order[index]])

    # -- what people see ------------------------------------------------------------------------------------------------
    def to_frame(self) -> pandas.DataFrame:
        """A row for each network, best first: place, values by proxy, and what several votes were joined to. Needs pandas."""
        several = len(self.votes) > 1
        return frame(
            (
                {
                    "network": row.name,
                    "place": row.place,
                    **{name: row.scores[name].value for name in self.votes},
                    **({self.by: self.joined_ranks[row.name]} if several else {}),
                    **{name: row.scores[name].value for name in self.baselines},
                }
                for row in self
            ),
            index="network",
        )

    def plot(self) -> Figure:
        """The ranks by proxy, a line for each network, as a matplotlib figure."""
        drawn: Figure = find("foresee.report.plots", "of_ranking")(self)
        return drawn

    def _grid(self) -> Grid:
        several = len(self.votes) > 1
        columns = [Column(""), Column("network", words=True), *map(Column, self.votes)]
        columns += [Column(self.by.replace("_", " "))] if several else []
        columns += [Column(f"{name} (baseline)", quiet=True) for name in self.baselines]
        rows = [
            [
                str(row.place),
                row.name,
                *(row.scores[name].cell for name in self.votes),
                *([f"{self.joined_ranks[row.name]:.3g}"] if several else []),
                *(row.scores[name].cell for name in self.baselines),
            ]
            for row in self
        ]
        return Grid(columns, rows, notes=[self.joined, *self.problems])

    def __str__(self) -> str:
        return str(self._grid())

    def __repr__(self) -> str:
        return f"<Ranking of {len(self)} networks: {self.best} is the best, {self.joined}>"


def rank(
    models: Sequence[Model] | Mapping[str, Model],
    batch: Any,
    proxies: str | Proxy | Iterable[str | Proxy] = "foresee",
    *,
    seed: int = 0,
    repeats: int = 1,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    loss: Loss | str | None = None,
    device: torch.device | str | None = None,
    initialise: str | None = None,
    outputs: Outputs | None = None,
    memory: str | float | None = None,
    by: str = "mean_rank",
) -> Ranking:
    """Compare networks on the same batch and under the same draws; order them by their ranks over the proxies.

    Size, work and chance (params, macs, flops, random) are baselines: they are shown and have no vote, unless nothing else is
    asked for. `models` are modules or functions that make one (made one at a time), in a list or by name in a dictionary.
    `by` is "mean_rank" or "log_rank". The other arguments are those of `scores`.

    >>> nets = {"wide": nn.Linear(4, 30), "narrow": nn.Linear(4, 3)}
    >>> print(rank(nets, torch.zeros(1, 4), ["params", "macs"]))
       network  params  macs  mean rank
    1  wide        150   120          1
    2  narrow       15    12          2
    ordered by the mean of the ranks by params and macs
    """
    check_way(by)
    named = _named(models)
    chosen = chosen_proxies(proxies, settings or {}, initialise)
    handed = read(batch, map(wants, chosen), seed)  # once, so that all look at the same
    how: dict[str, Any] = {"loss": loss, "device": device, "outputs": outputs, "memory": memory}
    found = {name: scores(model, handed, chosen, seed=seed, repeats=repeats, **how) for name, model in named.items()}
    return ranked(found, by)


def check_way(by: str) -> None:
    """Whether `by` is a way to order."""
    if by not in WAYS:
        raise UnknownNameError("way to order by", by, WAYS)


def ranked(found: Mapping[str, Mapping[str, Score]], by: str = "mean_rank") -> Ranking:
    """The order of networks whose scores, by the same proxies for all of them, are there already."""
    check_way(by)
    asked = list(next(iter(found.values())))
    votes = [name for name in asked if not is_baseline(name)] or asked
    both = zip(found, together.places(_merits(found, asked)).tolist(), strict=True)
    ranks = {name: dict(zip(asked, row, strict=True)) for name, row in both}
    table = _merits(found, votes)
    means = dict(zip(found, together.mean_rank(table).tolist(), strict=True))
    logs = dict(zip(found, together.log_rank(table).tolist(), strict=True))
    failures = {name: sum(not own[vote].ok for vote in votes) for name, own in found.items()}
    badness = means if by == "mean_rank" else {name: -number for name, number in logs.items()}
    order = tuple(sorted(found, key=lambda name: (failures[name], badness[name])))
    return Ranking(found, ranks, means, order, logs, by, tuple(votes))


def _merits(found: Mapping[str, Mapping[str, Score]], names: Sequence[str]) -> torch.Tensor:
    return torch.tensor([[own[name].merit for name in names] for own in found.values()], dtype=torch.float64)


def _named(models: Sequence[Model] | Mapping[str, Model]) -> dict[str, Model]:
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    else:
        named = {f"{index} {_title(model)}".strip(): model for index, model in enumerate(models)}
    if not named:
        raise InputError("no networks to rank")
    return named


def _title(model: Model) -> str:
    return type(model).__name__ if isinstance(model, nn.Module) else getattr(model, "__name__", "")
