"""Looks at what modules make of the batch on the way forward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor, nn

from foresee.probes.coverage import Coverage
from foresee.probes.looks import Call, Forward, OverwrittenError, Watcher


class Feature(NamedTuple):
    """What one call of a module made of the first sample: `map` is (rows, columns).

    Rows are channels and columns positions; tokens and their numbers for transformers; a vector is one column.
    """

    name: str
    module: nn.Module
    map: Tensor


class Features(Watcher[list[Feature]]):
    """Outputs of the leaf modules for the first sample, one entry per call, in call order."""

    name = "features"

    def __init__(self) -> None:
        self._seen: list[Feature] = []
        self._versions: list[int] = []

    def selects(self, call: Call) -> bool:
        """Leaf modules: what a container returns is what its last child returned."""
        return call.is_leaf

    def after(self, call: Call, output: Tensor) -> None:
        """Keep the first sample."""
        if output.ndim == 0 or not output.is_floating_point():
            return
        rows = output.shape[1] if output.ndim > 1 else 1
        sample = self.kept(output).select(0, 0).reshape(rows, -1)
        if self.careful or len(output) > 1 or output.is_inference():
            sample = (
                sample.clone()
            )  # neither overwritten nor keeping the whole batch alive, and a tensor that counts writes
        self._seen.append(Feature(call.name, call.module, sample))
        self._versions.append(sample._version)

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> list[Feature]:
        """All of them."""
        if [feature.map._version for feature in self._seen] != self._versions:
            raise OverwrittenError
        self.coverage = self._covered(forward.network)
        return self._seen

    def _covered(self, network: nn.Module) -> Coverage:
        """Weights of modules that were looked at; not those that a container holds itself, whose products have no module."""
        others = [module for module in network.modules() if module._parameters and not self.selects(Call("", module))]
        held = [p for module in others for p in module._parameters.values() if p is not None and p.ndim > 1]
        if not held:
            return Coverage()
        seen = {id(feature.module): feature.module for feature in self._seen}
        return Coverage.of(network, (p for module in seen.values() for p in module.parameters() if p.ndim > 1), held)


class FeaturesOfAll(Features):
    """As `features`, but for every module, containers and the network itself included (the public codes' rule)."""

    name = "features_of_all"

    def selects(self, call: Call) -> bool:
        """Every module."""
        return True
