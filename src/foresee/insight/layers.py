"""A network layer by layer: what each costs, how evenly it reads and is told, and where the network loses most by it.

What a layer *reads* is its input, what it is *told* the gradient that comes back to its output; both are matrices of
channels, and how even they are is what the default score takes (`docs/default-score.md`): the sphericity of their
correlations, 1 where all channels are independent and 0 where one is a combination of others. A layer would add the root
of its work (between its weights and its MACs) to the sum of its resolution if all were; what it *loses* is the part of this
that unevenness takes away.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from torch import nn

from foresee.counting import macs_by_module
from foresee.errors import UnsupportedError
from foresee.handed import as_batches
from foresee.probes.exchanges import Exchanges
from foresee.probes.probe import Probe

#: a layer is uneven where it reads, or is told, less evenly than this share of the network's median
UNEVEN = 0.5
#: and in any case where it is less even than this
LEAST = 0.02


@dataclass(frozen=True)
class Layer:
    """One module that has weights of its own or multiplies.

    Args:
        name: of the module in the network.
        kind: its class.
        params: numbers in its own parameters, shared ones where they come first.
        macs: multiply-accumulates that it does itself, of one sample.
        capacity: what it would add to the default score's sum if it were even: the root of its work, over all its calls;
            None where it is no convolution, linear layer or the like.
        reads: evenness of what goes in, 0 to 1.
        told: evenness of what comes back.
    """

    name: str
    kind: str
    params: int
    macs: int
    capacity: float | None = None
    reads: float | None = None
    told: float | None = None

    @property
    def contributes(self) -> float | None:
        """Its part of the sum over a resolution, before what is unsteady is taken away."""
        if self.capacity is None or self.reads is None or self.told is None:
            return None
        return self.capacity * math.sqrt(self.reads * self.told)

    @property
    def loses(self) -> float:
        """What unevenness takes away."""
        return 0.0 if self.contributes is None or self.capacity is None else self.capacity - self.contributes


@dataclass(frozen=True)
class Layers:
    """All of them in the order of the network."""

    rows: tuple[Layer, ...]

    @property
    def seen(self) -> tuple[Layer, ...]:
        """Those that were seen to exchange something."""
        return tuple(one for one in self.rows if one.contributes is not None)

    def bound(self, what: str) -> float:
        """Below this a layer `reads` (or is `told`) unevenly: a share of the median over the layers, or `LEAST`."""
        values = sorted(float(getattr(one, what)) for one in self.seen)
        return max(LEAST, UNEVEN * values[len(values) // 2]) if values else LEAST

    def uneven(self, what: str) -> tuple[Layer, ...]:
        """The layers that `reads` (or `told`) unevenly."""
        least = self.bound(what)
        return tuple(one for one in self.seen if getattr(one, what) < least)

    def worst(self, many: int = 3) -> tuple[Layer, ...]:
        """The uneven layers by which most is lost, the worst first: where to change the network."""
        uneven = {one.name: one for what in ("reads", "told") for one in self.uneven(what)}
        return tuple(sorted(uneven.values(), key=lambda one: -one.loses)[:many])

    def share_lost(self, one: Layer) -> float:
        """What is lost by a layer, as a share of what all could add."""
        whole = math.fsum(layer.capacity or 0.0 for layer in self.seen)
        return one.loses / whole if whole else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"layers": [asdict(one) for one in self.rows]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Layers:
        """What `to_json` gave."""
        return cls(tuple(Layer(**one) for one in plain["layers"]))


def layers_of(network: nn.Module, batch: Any, *, seed: int = 0) -> Layers:
    """Every layer of a network: parameters, MACs, and what the batch shows of it; the network is left as found.

    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
    >>> import torch
    >>> [(one.name, one.params, one.macs) for one in layers_of(net, torch.randn(4, 3, 8, 8)).rows]
    [('0', 216, 7776), ('3', 2890, 2880)]
    """
    first = as_batches(batch, seed=seed)[0]
    try:
        macs = macs_by_module(network, first.first(1).inputs)
    except UnsupportedError:
        macs = {}
    exchanged = _exchanged(network, first, seed)
    rows, counted = [], set[int]()
    for name, module in network.named_modules():
        new = [one for one in module.parameters(recurse=False) if id(one) not in counted]
        counted |= set(map(id, new))
        found = exchanged.get(name)
        if new or macs.get(name) or found:
            params = sum(one.numel() for one in new)
            rows.append(Layer(name or "network", type(module).__name__, params, macs.get(name, 0), *(found or ())))
    return Layers(tuple(rows))


def _exchanged(network: nn.Module, batch: Any, seed: int) -> dict[str, tuple[float, float, float]]:
    """Capacity, reads and told by module; those of several calls are their means."""
    with Probe(network, batch, seed=seed).initialised("default") as probe:
        seen = probe.batch.see(Exchanges())
    modules = dict(network.named_modules())
    sums: dict[str, list[float]] = {}
    for name, *values in zip(
        seen.names, seen.work.sqrt().tolist(), seen.reads.tolist(), seen.told.tolist(), strict=True
    ):
        at = name if name in modules else name.rpartition(".")[0]
        n, reads, told = values
        row = sums.setdefault(at, [0.0, 0.0, 0.0])
        for place, value in enumerate((n, n * reads, n * told)):
            row[place] += value
    return {name: (n, reads / n, told / n) for name, (n, reads, told) in sums.items() if n > 0}
