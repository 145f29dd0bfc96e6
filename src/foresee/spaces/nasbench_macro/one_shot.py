"""The one-shot network of NAS-Bench-Macro: all three operations in every layer, with one set of weights.

One choice for each layer: `1` to `8` weigh its operations in the order of `OPS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import torch
from torch import Tensor, nn

from foresee.spaces.nasbench_macro.architecture import LAYERS, OPS, Architecture
from foresee.spaces.nasbench_macro.network import Network, Place, build, make_layer
from foresee.spaces.one_shot import Choice, Mixed, StagedOneShot, check_vectors, chosen, one_hot, share, tensors
from foresee.spaces.weighing import Live, Weights
from foresee.task import Task


class MixedLayer(Mixed):
    """A layer with all its operations, which asks for their weights itself.

    Args:
        place: where it stands.
        layer: its number.
        weights: the present weights of a layer's operations.
    """

    def __init__(self, place: Place, layer: int, weights: Callable[[int], Live]) -> None:
        super().__init__({op: make_layer(op, place) for op in OPS})
        self.layer, self.weights = layer, weights

    def forward(self, x: Tensor, weights: Live | Tensor | None = None) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H/stride), ceil(W/stride))."""
        return super().forward(x, self.weights(self.layer) if weights is None else weights)


class NASBenchMacroOneShot(StagedOneShot[Architecture]):
    """All operations in every layer; an inherited network is what the space builds.

    Args:
        task: images.
        channels: width of the stem.
        head: width of the last convolution.
    """

    def __init__(self, task: Task, *, channels: int, head: int) -> None:
        super().__init__([Choice(str(number), OPS) for number in range(1, LAYERS + 1)])
        self.task, self.channels, self.head = task, channels, head
        self.network = Network(task, channels, head, self._mixed_layer)

    def _mixed_layer(self, layer: int, place: Place) -> MixedLayer:
        return MixedLayer(place, layer, self.layer_weights)

    def layer_weights(self, layer: int) -> Live:
        """Present weights of a layer's operations."""
        return self.live(self.choices[layer].name)

    # -- what is evaluated --------------------------------------------------------------------------------------------
    def check(self, weights: Weights) -> None:
        """One vector for each layer."""
        check_vectors(weights)
        super().check(weights)

    # -- weights and architectures ------------------------------------------------------------------------------------
    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """A one for each layer's operation."""
        pairs = zip(self.choices, architecture.ops, strict=True)
        return {choice.name: one_hot(OPS.index(op), len(OPS)) for choice, op in pairs}

    def derive(self, weights: Weights) -> Architecture:
        """The operation of greatest weight in each layer."""
        return Architecture(tuple(op for _, op in chosen(weights, self.choices)))

    def inherit(self, architecture: Architecture) -> nn.Module:
        """The stand-alone network; each of its parameters and buffers is one of this network's."""
        with torch.device("meta"):
            alone = build(architecture, self.task, self.channels, self.head)
        mine = tensors(self.network)
        sources = {name: mine[_source(name, architecture)] for name in tensors(alone)}
        return share(alone, sources).train(self.training)


def _source(name: str, architecture: Architecture) -> str:
    """Where the one-shot network keeps what a stand-alone network calls `name`.

    >>> _source("layers.0.look.0.weight", Architecture(("e3k3",) * 8))
    'layers.0.options.e3k3.look.0.weight'
    """
    match = re.fullmatch(r"layers\.(\d+)\.(.+)", name)
    return name if match is None else f"layers.{match[1]}.options.{architecture.ops[int(match[1])]}.{match[2]}"
