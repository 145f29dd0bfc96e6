"""The one-shot network of the NATS-Bench size space: a narrower block uses the first channels of the widest.

The choices are `c1` to `c5`, their options the widths. Under mixture weights p a block is as wide as its widest option of
that is to be computed, and each channel is scaled by the weight of all options that have it, so that channel j of a map is
multiplied by the sum of p over the widths above j. A path has factors of exactly 1 and costs what its network costs.

In cells that change the width the skip is the identity where both widths are equal and a convolution where they differ; in a
mixture each counts with its probability, the widths taken as independent.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.spaces.blocks import global_average, image_shape
from foresee.spaces.four_nodes import EDGES, EDGES_INTO
from foresee.spaces.nats_size.architecture import LAYERS, REDUCTIONS, Architecture
from foresee.spaces.nats_size.network import OPS, Network
from foresee.spaces.one_shot import Choice, OneShot, chosen, one_hot, share_corners
from foresee.spaces.sliced import SlicedBatchNorm2d, SlicedConv2d, SlicedLinear
from foresee.spaces.weighing import Live, Weights, live
from foresee.task import Task


class SlicedConvBN(nn.Sequential):
    """Convolution and batch norm, after a ReLU if there is one; children as in `blocks.relu_conv_bn`."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, relu: bool = True) -> None:
        conv = SlicedConv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)
        super().__init__(*[nn.ReLU()] * relu, conv, SlicedBatchNorm2d(outputs))

    def forward(self, x: Tensor, outputs: int) -> Tensor:  # type: ignore[override]
        """(B, any, H, W) to (B, outputs, H', W')."""
        *relu, conv, norm = self
        for module in relu:
            x = module(x)
        out: Tensor = norm(conv(x, outputs))
        return out


# -- blocks; names as in the stand-alone network --------------------------------------------------------------------------
class SlicedReduction(nn.Module):
    """`blocks.Reduction` of any width; `scale` has a factor for each channel of its output."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.main = nn.Sequential(SlicedConvBN(width, width, 3, stride=2), SlicedConvBN(width, width, 3))
        pool = nn.AvgPool2d(2, stride=2, ceil_mode=True)
        self.shortcut = nn.Sequential(pool, SlicedConv2d(width, width, 1, bias=False))

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        """(B, any, H, W) to (B, len(scale), H/2, W/2)."""
        first, second = self.main
        pool, conv = self.shortcut
        inner = scaled(first(x, len(scale)), scale)
        out: Tensor = conv(pool(x), len(scale)) + second(inner, len(scale))
        return scaled(out, scale)


class SlicedCell(nn.Module):
    """The fixed cell of any width."""

    def __init__(self, width: int, *, widens: bool) -> None:
        super().__init__()
        self.edges = nn.ModuleList(
            SlicedConvBN(width, width, 3)
            if op == "nor_conv_3x3"
            else (SlicedConvBN(width, width, 1, relu=False) if widens else nn.Identity())
            for op in OPS
        )

    def forward(self, x: Tensor, scale: Tensor, skips: Live | None) -> Tensor:
        """(B, any, H, W) to (B, len(scale), H, W); `skips` weigh identity and convolution, None: it is the identity."""
        states, outputs = [x], len(scale)
        for edges in EDGES_INTO.values():
            terms = []
            for edge in edges:
                state, module = states[EDGES[edge][0]], self.edges[edge]
                skip = OPS[edge] == "skip_connect"
                terms.append(self._skip(module, state, outputs, skips) if skip else module(state, outputs))
            states.append(scaled(reduce(operator.add, terms), scale))
        return states[-1]

    @staticmethod
    def _skip(module: nn.Module, x: Tensor, outputs: int, skips: Live | None) -> Tensor:
        if skips is None:
            out: Tensor = module(x)
            return out
        equal, different = skips
        terms = [] if different is None else [different.to(x) * module(x, outputs)]
        terms += [] if equal is None else [equal.to(x) * fitted(x, outputs)]
        total: Tensor = reduce(operator.add, terms)
        return total


def scaled(x: Tensor, scale: Tensor) -> Tensor:
    """Each channel of (B, C, H, W) times its factor."""
    return x * scale.to(x)[:, None, None]


def fitted(x: Tensor, channels: int) -> Tensor:
    """The first channels; zeros where there are not enough."""
    return F.pad(x, (0, 0, 0, 0, 0, channels - x.shape[1])) if x.shape[1] < channels else x[:, :channels]


class NATSSizeOneShot(OneShot[Architecture]):
    """All widths of the size space in one network; an inherited network has views of its weights.

    Args:
        task: images.
        widths: the candidates for each block, ascending; each a multiple of the first.
    """

    def __init__(self, task: Task, widths: Sequence[int]) -> None:
        options = tuple(map(str, widths))
        super().__init__([Choice(f"c{number}", options) for number in range(1, LAYERS + 1)])
        self.task, self.widths = task, tuple(widths)
        inputs, widest = image_shape(task, "nats_size")[0], widths[-1]
        self.stem = SlicedConvBN(inputs, widest, 3, relu=False)
        self.cells = nn.ModuleList(
            SlicedReduction(widest) if layer in REDUCTIONS else SlicedCell(widest, widens=layer > 0)
            for layer in range(LAYERS)
        )
        self.last = nn.Sequential(SlicedBatchNorm2d(widest), nn.ReLU())
        self.pool = global_average()
        self.classifier = SlicedLinear(widest, task.outputs)

    # -- what is evaluated --------------------------------------------------------------------------------------------
    def check(self, weights: Weights) -> None:
        """One vector for each block, not all of it zero."""
        for name, vector in weights.items():
            if vector.ndim != 1 or not bool(vector.detach().any()):
                raise InputError(
                    f"weights of {name}: {vector.detach().tolist()}, expected a vector with a weight above 0"
                )
        super().check(weights)

    def scale(self, choice: str) -> Tensor:
        """A factor for each channel up to the widest option in use: the weight of all options that have the channel."""
        used = 1 + max(place for place, weight in enumerate(self.live(choice)) if weight is not None)
        share_of_block = self.weight(choice)[:used].flip(0).cumsum(0).flip(0)
        return share_of_block.repeat_interleave(self.widths[0])

    def stages(self, x: Tensor) -> list[Tensor]:
        """Output of the stem, then of each cell and reduction."""
        scale = self.scale("c1")
        maps = [scaled(self.stem(x, len(scale)), scale)]
        for layer, (block, choice) in enumerate(zip(self.cells, self.choices, strict=True)):
            scale = self.scale(choice.name)
            if isinstance(block, SlicedReduction):
                maps.append(block(maps[-1], scale))
                continue
            maps.append(
                block(maps[-1], scale, self.skips(self.choices[layer - 1].name, choice.name) if layer else None)
            )
        return maps

    def skips(self, before: str, choice: str) -> Live:
        """Weights of the skip's two forms: how likely two blocks are of equal width, and how likely they are not."""
        equal = (self.weight(before) * self.weight(choice)).sum()
        known = (self.host(before) * self.host(choice)).sum()
        return live(torch.stack([equal, 1.0 - equal]), self.gradient, torch.stack([known, 1.0 - known]))

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling."""
        out: Tensor = scaled(self.last(self.stages(x)[-1]), self.scale(self.choices[-1].name))
        return out

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.classifier(self.pool(self.pre_gap(x)))
        return logits

    # -- weights and architectures ------------------------------------------------------------------------------------
    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """A one for the width of each block."""
        for number, width in enumerate(architecture.channels, 1):
            if width not in self.widths:
                raise InputError(f"widths {architecture}, block {number}: {width}, expected one of {self.widths}")
        indices = [self.widths.index(width) for width in architecture.channels]
        return {
            choice.name: one_hot(index, len(self.widths)) for choice, index in zip(self.choices, indices, strict=True)
        }

    def derive(self, weights: Weights) -> Architecture:
        """The width of greatest weight for each block."""
        return Architecture(tuple(int(width) for _, width in chosen(weights, self.choices)))

    def inherit(self, architecture: Architecture) -> Network:
        """The stand-alone network; its parameters are the first channels of this network's, as views."""
        self.path(architecture)
        with torch.device("meta"):
            alone = Network(architecture, self.task)
        share_corners(alone, self).train(self.training)
        return alone
