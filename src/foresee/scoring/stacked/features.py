"""Feature maps of all architectures of a stack, and sums over their layers in one go."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from foresee.proxies.spectra import Formula
from foresee.scoring.stacked.network import Watch
from foresee.scoring.stacked.wiring import Layer

#: numbers that go through a formula together: what stays in the cache of a CPU, and what an accelerator has room for
_ON_CPU, _ON_ACCELERATOR = 2**18, 2**28


class FeatureMaps(Watch):
    """What every module made of the first entry, of one run of a stack of `count` architectures.

    Modules that do the same are held once. Zeros are not held: a formula of spectra gives 0 for them.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._seen: dict[tuple[int, int], list[tuple[Tensor | None, Tensor, Tensor | None]]] = {}
        self._totals: dict[tuple[Formula, bool], Tensor] = {}

    def relu(self, owners: Tensor | None, inputs: Tensor, outputs: Tensor, times: Tensor | None = None) -> None:
        """Its output."""
        self.other(owners, outputs, times)

    def layer(self, layer: Layer, inputs: Tensor, weights: Tensor, outputs: Tensor) -> None:
        """Its output."""
        self.other(layer.owners, outputs.transpose(1, 3) if layer.tokens else outputs)

    def other(self, owners: Tensor | None, outputs: Tensor, times: Tensor | None = None) -> None:
        """Its output."""
        maps = outputs[:, :, 0].flatten(2)
        self._seen.setdefault((maps.shape[1], maps.shape[2]), []).append((owners, maps, times))

    def totals(self, formula: Formula, vectors: bool = True) -> Tensor:
        """The sum over the layers of each architecture, with or without vectors: (architectures,) in float64 on the CPU."""
        if (formula, vectors) not in self._totals:
            self._totals[formula, vectors] = self._total(formula, vectors)
        return self._totals[formula, vectors]

    def _total(self, formula: Formula, vectors: bool) -> Tensor:
        found = []
        for (rows, columns), seen in self._seen.items():
            if columns == 1 and not vectors:
                continue
            device = seen[0][1].device
            most = max(1, (_ON_CPU if device.type == "cpu" else _ON_ACCELERATOR) // (rows * columns))
            values = torch.cat([formula(maps) for maps in _in_pieces([maps for _, maps, _ in seen], most)])
            everyone = torch.arange(self._count, device=device)
            owners = torch.cat([everyone if own is None else own for own, _, _ in seen])
            counts = [torch.ones_like(maps[:, 0, 0]) if times is None else times.double() for _, maps, times in seen]
            total = torch.zeros(self._count, dtype=torch.float64, device=device)
            found.append(total.index_add_(0, owners, values * torch.cat(counts)))
        return torch.stack(found).sum(0).cpu()


def _in_pieces(maps: list[Tensor], most: int) -> Iterator[Tensor]:
    """The maps of all in order, `most` at a time, each time as one tensor."""
    waiting: list[Tensor] = []
    count = 0
    for one in maps:
        for part in torch.split(one, most):
            if count + len(part) > most:
                yield torch.cat(waiting)
                waiting, count = [], 0
            waiting.append(part)
            count += len(part)
    yield torch.cat(waiting)
