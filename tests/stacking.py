"""Small stacks, and the networks of their architectures by themselves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import torch

from foresee.scoring.stacked.skeletons import choices_of, skeleton_of
from foresee.scoring.stacked.weights import Stream
from foresee.scoring.stacked.wiring import Wiring
from foresee.seeds import derive
from foresee.spaces.autoformer import Architecture as Transformer
from foresee.spaces.autoformer import AutoFormerTiny
from foresee.spaces.base import Space
from foresee.spaces.darts.cells import Architecture, Cell
from foresee.spaces.darts.space import DARTS
from foresee.spaces.nasbench201.space import NASBench201
from foresee.spaces.nasbench_macro.space import NASBenchMacro
from foresee.spaces.nats_size import NATSSize
from foresee.spaces.transnas.space import TransNASMicro
from foresee.task import Task

SEED = derive(0, "weights")
CPU = torch.device("cpu")


class Ground:
    """A space that is stacked, and a task for small networks.

    Args:
        space: of architectures that are stacked.
        side: of the images.
        special: those that are always there, or their operations.
    """

    def __init__(self, space: Space[Any], side: int, special: Sequence[Any]) -> None:
        self.space, self.special = space, special
        self.task = Task(inputs=(3, side, side), outputs=5)
        self.skeleton = skeleton_of(space, self.task)

    def cells(self, count: int = 6) -> list[Any]:
        """The special ones, and some drawn."""
        rng = random.Random(3)
        kind = type(self.space.sample(rng))
        special = [kind(one) if isinstance(one, tuple) else one for one in self.special]
        return [*special, *(self.space.sample(rng) for _ in range(count))]

    def stack(self, architectures: list[Any]) -> tuple[Wiring, Stream]:
        """Their wiring and weights."""
        wiring = Wiring(self.skeleton, self.chosen(architectures), CPU)
        return wiring, Stream(SEED, wiring.length, CPU)

    def chosen(self, architectures: list[Any]) -> list[Sequence[str]]:
        """What they chose."""
        return [choices_of(self.space, one) for one in architectures]

    def alone(self, architecture: Any) -> torch.nn.Module:
        """The network with the weights that a scorer gives it."""
        torch.manual_seed(SEED)
        return self.space.build(architecture, self.task)


#: nothing reaches the output; the output hears nothing of one edge; one node hears nothing; all of one kind
SPECIAL = [
    ("none",) * 6,
    ("nor_conv_3x3", "none", "none", "none", "none", "none"),
    ("nor_conv_3x3", "nor_conv_1x1", "none", "skip_connect", "none", "none"),
    ("none", "none", "nor_conv_3x3", "none", "nor_conv_1x1", "avg_pool_3x3"),
    ("skip_connect",) * 6,
    ("nor_conv_3x3",) * 6,
]
#: the same where nothing pools, and a ReLU that a skip and convolutions read alike
_MICRO = [tuple("nor_conv_1x1" if op == "avg_pool_3x3" else op for op in ops) for ops in SPECIAL]
_MICRO.append(("skip_connect", "nor_conv_1x1", "skip_connect", "nor_conv_3x3", "none", "skip_connect"))

CELLS = Ground(NASBench201(channels=4, cells=1), 8, SPECIAL)
#: maps of odd sizes on the way: 33, 17, 9, 5, 3, 2
MICRO = Ground(TransNASMicro(channels=4), 33, _MICRO)
#: tiles of 32 pixels, of which maps of one position come
JIGSAW = Ground(TransNASMicro(channels=4, head="jigsaw"), 97, _MICRO[1:4])
#: nothing at all, everything of one kind, and both kinds with and without a sum; maps of 17, 9, 5 and 3 pixels a side
MACRO = Ground(
    NASBenchMacro(channels=3, head=7),
    17,
    [
        *[(op,) * 8 for op in ("identity", "e3k3", "e6k5")],
        ("e3k3", "identity", "identity", "e6k5", "e3k3", "e6k5", "identity", "e3k3"),
    ],
)


def cell(*edges: tuple[str, int]) -> Cell:
    """A DARTS cell of these edges."""
    return Cell(edges)


_WIDE = cell(*[("sep_conv_5x5", source) for source in (1, 0, 0, 2, 3, 1, 4, 0)])
#: nodes that read one input twice, by one operation and by two
_TWICE = cell(
    *(("sep_conv_3x3", 0), ("sep_conv_3x3", 0), ("dil_conv_5x5", 2), ("max_pool_3x3", 2)),
    *(("skip_connect", 1), ("skip_connect", 1), ("avg_pool_3x3", 4), ("dil_conv_3x3", 4)),
)
#: published ones, which name inputs in any order, and such that only the parser lets in; maps of 9, 5 and 3 pixels a side
GENOTYPES = Ground(
    DARTS(channels=4, layers=4),
    9,
    [
        *(DARTS().named[name] for name in ("DARTS_V1", "PC_DARTS_C10")),
        *(Architecture(_TWICE, _TWICE), Architecture(_WIDE, _WIDE)),
    ],
)
#: the widest, the narrowest, and such that have blocks in common
WIDTHS = Ground(
    NATSSize(step=1),
    9,
    [(8, 8, 8, 8, 8), (1, 1, 1, 1, 1), (3, 3, 5, 5, 2), (3, 3, 2, 5, 2), (3, 6, 5, 4, 4)],
)
#: of each depth, two with halves in common; widths and hidden layers that are no multiples of sixteen, and distances clipped
TOKENS = Ground(
    AutoFormerTiny(embed=(16, 20, 25), mlp=(1.5, 3.5), heads=(1, 2, 3), depth=(1, 2, 3), patch=4, head_dim=6, reach=1),
    12,
    [
        *(Transformer(25, (3.5,) * 3, (3,) * 3), Transformer(16, (1.5,), (1,))),
        *(Transformer(20, (1.5, 3.5), (2, 1)), Transformer(20, (1.5, 3.5, 1.5), (2, 3, 1))),
    ],
)
GROUNDS = {
    "nasbench201": CELLS,
    "transnas_micro": MICRO,
    "jigsaw": JIGSAW,
    "nasbench_macro": MACRO,
    "darts": GENOTYPES,
    "nats_size": WIDTHS,
    "autoformer": TOKENS,
}
