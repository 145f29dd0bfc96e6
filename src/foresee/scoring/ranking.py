"""Several networks in order: each scored alike, ordered by their ranks over the proxies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from foresee.errors import InputError, UnknownNameError
from foresee.handed import read
from foresee.probes.losses import Loss
from foresee.probes.outputs import Outputs
from foresee.proxies.base import Proxy, Score
from foresee.scoring import together
from foresee.scoring.one import Model, chosen_proxies, scores, wants

#: what networks are ordered by where there are several proxies
WAYS = ("mean_rank", "log_rank")


@dataclass(frozen=True)
class Ranking:
    """Networks in order, best first.

    `scores` is by network and proxy; `ranks` likewise (1 is best, ties share the mean of their places, failures come last);
    `order` sorts by the number of failures, then by what `by` names: `mean_ranks`, the mean over the proxies, or `log_ranks`,
    the sum of log(rank from below / number of networks), which punishes a single bad rank more.
    """

    scores: Mapping[str, Mapping[str, Score]]
    ranks: Mapping[str, Mapping[str, float]]
    mean_ranks: Mapping[str, float]
    order: tuple[str, ...]
    log_ranks: Mapping[str, float] = field(default_factory=dict)
    by: str = "mean_rank"

    @property
    def best(self) -> str:
        """Name of the first in order."""
        return self.order[0]

    def __str__(self) -> str:
        names = list(next(iter(self.scores.values())))
        last = self.mean_ranks if self.by == "mean_rank" else self.log_ranks
        rows = [["", "network", *names, self.by.replace("_", " ")]]
        for place, network in enumerate(self.order, 1):
            cells = [_cell(self.scores[network][name]) for name in names]
            rows.append([str(place), network, *cells, f"{last[network]:.3g}"])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(c.ljust(w) if i == 1 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
            for row in rows
        ]
        return "\n".join(line.rstrip() for line in lines)


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

    `models` are modules or functions that make one (made one at a time), in a list or by name in a dictionary. `by` is
    "mean_rank" or "log_rank". The other arguments are those of `scores`.

    >>> nets = {"wide": nn.Linear(4, 30), "narrow": nn.Linear(4, 3)}
    >>> print(rank(nets, torch.zeros(1, 4), ["params", "macs"]))
       network  params  macs  mean rank
    1  wide        150   120          1
    2  narrow       15    12          2
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
    table = torch.tensor([[one.merit for one in own.values()] for own in found.values()], dtype=torch.float64)
    both = zip(found.items(), together.places(table).tolist(), strict=True)
    ranks = {name: dict(zip(own, row, strict=True)) for (name, own), row in both}
    means = dict(zip(found, together.mean_rank(table).tolist(), strict=True))
    logs = dict(zip(found, together.log_rank(table).tolist(), strict=True))
    failures = {name: sum(not one.ok for one in own.values()) for name, own in found.items()}
    badness = means if by == "mean_rank" else {name: -number for name, number in logs.items()}
    order = tuple(sorted(found, key=lambda name: (failures[name], badness[name])))
    return Ranking(found, ranks, means, order, logs, by)


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


def _cell(found: Score) -> str:
    return f"{found.value:.6g}" if found.value is not None else found.status
