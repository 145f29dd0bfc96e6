"""Golden values: what public reference codes (and formulas written from papers) gave on three small networks.

`values.json` holds the values by network and entry, in float64 and float32, some with the parts they were made from (in
float64). The arrays beside it hold the weights, the batch and everything that was drawn, so a value depends on no random
generator. Where a public code has no value for a network (no ReLU in a transformer), there is no entry.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.golden.networks import NETWORKS
from torch import Tensor, nn

from foresee.probes.draws import Draws
from foresee.probes.probe import Probe
from foresee.proxies import get

HERE = Path(__file__).parent
DTYPES = ("float64", "float32")
VALUES: dict[str, dict[str, dict[str, Any]]] = json.loads((HERE / "values.json").read_text())


@cache
def arrays(name: str) -> dict[str, np.ndarray]:
    """The arrays of one network, or the `common` ones: inputs, labels, and activation patterns for a count by itself."""
    with np.load(HERE / f"{name}.npz") as held:
        return dict(held)


@dataclass
class Golden:
    """One network in one type with its weights, its batch, what was drawn for it, and the values that are known."""

    name: str
    dtype: torch.dtype
    network: nn.Module
    inputs: Tensor
    labels: Tensor
    #: by the names that foresee draws them under
    draws: dict[str, Tensor]

    def value(self, entry: str) -> float:
        """The known value in the network's type; an entry that does not exist is a mistake of the test."""
        return VALUES[self.name][entry][str(self.dtype).removeprefix("torch.")]

    def parts(self, entry: str) -> dict[str, Any]:
        """What the value was made from, in float64."""
        return VALUES[self.name][entry].get("parts", {})

    def probe(self, batches: Any) -> Probe:
        """A probe under the known draws."""
        return Probe(self.network, batches, draws=Draws(0, given=self.draws))

    def compute(self, proxy: str, batches: Any, **settings: Any) -> float:
        """Our value under the known draws."""
        return float(get(proxy, settings)(self.probe(batches)))

    def tolerance(self, float64: float = 1e-6, float32: float = 1e-4) -> float:
        """The one of the two that is for the network's type."""
        return float64 if self.dtype == torch.float64 else float32


def load(name: str, dtype: torch.dtype) -> Golden:
    """The network called `name`, fresh, in this type."""
    network, held = NETWORKS[name](), {key: torch.from_numpy(array) for key, array in arrays(name).items()}
    nn.utils.vector_to_parameters(held["weights"], network.parameters())
    network = network.to(dtype).train()
    common = arrays("common")
    inputs, labels = torch.from_numpy(common["inputs"]).to(dtype), torch.from_numpy(common["labels"]).long()
    return Golden(name, dtype, network, inputs, labels, _draws(network, inputs, held))


def _draws(network: nn.Module, inputs: Tensor, held: dict[str, Tensor]) -> dict[str, Tensor]:
    layers = {n: m.weight for n, m in network.named_modules() if isinstance(m, nn.Conv2d | nn.Linear)}
    with torch.no_grad():
        maps = [stage.shape for stage in network.stages(inputs)[1:]]
    network.apply(lambda module: isinstance(module, nn.BatchNorm2d) and module.reset_running_stats())
    bits = torch.from_numpy(np.unpackbits(held["signs"].numpy(), count=sum(shape.numel() for shape in maps)))
    found = {
        "coordinates": held["coordinates"].long(),
        "input": held["input"],
        "step": held["step"],
        **{f"plane.{3 * side**2}": held[f"plane_{side}"] for side in (32, 64) if f"plane_{side}" in held},
        **{f"channels.{call}": row.long() for call, row in enumerate(held["channels"])},
    }
    for number, part in enumerate(bits.split([shape.numel() for shape in maps])):
        found[f"signs.{number + 1}"] = part.view(maps[number]).to(torch.int8) * 2 - 1
    for (name, weight), part in zip(
        layers.items(), held["gaussian"].split([w.numel() for w in layers.values()]), strict=True
    ):
        found[f"weights.{name}.weight"] = part.view_as(weight)
    return found
