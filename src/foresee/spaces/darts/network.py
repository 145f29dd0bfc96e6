"""Networks of DARTS cells: a stem, cells that read the last two outputs, global average, classifier.

A third and two thirds of the way a reduction cell halves the map and doubles the width. The frame is the same for
stand-alone networks, one-shot networks and RobNets; what differs is how a cell is made for its `Place`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError, UnsupportedError
from foresee.spaces.blocks import global_average, image_shape
from foresee.spaces.counting import Size
from foresee.spaces.darts import operations
from foresee.spaces.darts.cells import KINDS, Architecture, Cell, reaching
from foresee.spaces.partial import Partial
from foresee.spaces.staged import Staged
from foresee.task import Task

NETWORKS = ("cifar", "imagenet")


@dataclass(frozen=True)
class Form:
    """How an architecture becomes a network.

    Args:
        channels: width C of the first cells' nodes.
        layers: number of cells.
        network: `cifar` has a 3x3 stem of 3C channels; `imagenet` a stem that divides the input's size by 8.
        auxiliary: whether there is an auxiliary head after the second reduction, for training.
        drop_path: probability at first; training sets it through the modules `DropPath`.
        search: operations as in a one-shot network (see `operations`).
        partial: in a one-shot network, one in so many channels passes through the operation (PC-DARTS).
        pooled: reduction cells have stride 1 and a max-pool halves both their inputs (NASI's search).
    """

    channels: int = 36
    layers: int = 20
    network: str = "cifar"
    auxiliary: bool = False
    drop_path: float = 0.0
    search: bool = False
    partial: int = 1
    pooled: bool = False

    def __post_init__(self) -> None:
        for key in ("channels", "layers", "partial"):
            whole(key, getattr(self, key))
        if self.network not in NETWORKS:
            raise UnknownNameError("network of DARTS cells", str(self.network), NETWORKS)
        if not isinstance(self.drop_path, int | float) or not 0 <= self.drop_path < 1:
            raise InputError(f"drop_path {self.drop_path!r}: expected a probability from 0 to below 1")
        if self.channels % self.partial:
            raise InputError(f"partial {self.partial}: expected a divisor of the {self.channels} channels")


@dataclass(frozen=True)
class Place:
    """Where a cell stands in a network.

    Args:
        kind: `normal` or `reduce`.
        inputs: channels of the output before the last, and of the last.
        channels: width of the cell's nodes.
        halve: whether the output before the last is twice as large as the last.
        stride: of operations that read the cell's inputs.
        pooled: whether both inputs are halved by a pool first.
    """

    kind: str
    inputs: tuple[int, int]
    channels: int
    halve: bool
    stride: int
    pooled: bool


def places(form: Form, joined: Callable[[str], int]) -> list[Place]:
    """The cells' places in order; `joined` says how many nodes a normal or reduction cell joins into its output."""
    image = form.network == "imagenet"
    width = form.channels
    before = last = width if image else 3 * width
    halve, found = image, []
    for layer in range(form.layers):
        kind = KINDS[layer in reductions(form.layers)]
        reduce = kind == "reduce"
        width *= 2 if reduce else 1
        stride = 2 if reduce and not form.pooled else 1
        found.append(Place(kind, (before, last), width, halve, stride, reduce and form.pooled))
        before, last, halve = last, width * joined(kind), stride == 2
    return found


def reductions(layers: int) -> tuple[int, int]:
    """Which cells reduce; the auxiliary head reads the second."""
    return layers // 3, 2 * layers // 3


# -- modules ------------------------------------------------------------------------------------------------------------
class DropPath(nn.Module):
    """In training, drops whole maps of single samples with `probability` and scales up the others."""

    def __init__(self, probability: float = 0.0) -> None:
        super().__init__()
        self.probability = probability

    @property
    def active(self) -> bool:
        """Whether it changes anything now; where not, cells do not call it, so that hooks see each map once."""
        return self.training and self.probability > 0

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same shape."""
        if not self.active:
            return x
        kept = torch.rand(len(x), 1, 1, 1, device=x.device) >= self.probability
        return x * kept.to(x.dtype) / (1.0 - self.probability)

    def extra_repr(self) -> str:
        """Shown by `print`."""
        return f"probability={self.probability}"


class BuiltCell(nn.Module):
    """A cell as a module: `edges` in the cell's order, two for each node."""

    def __init__(self, cell: Cell, place: Place, form: Form) -> None:
        super().__init__()
        self.links, self.concat = cell.links, cell.concat
        self.preprocess = preprocess_both(place, affine=not form.search)
        self.drop_path = DropPath(form.drop_path)
        self.edges = nn.ModuleList()
        for op, source in cell.edges:
            stride = place.stride if source < 2 else 1
            made = operations.make(op, place.channels // form.partial, stride, search=form.search)
            self.edges.append(made if form.partial == 1 else Partial(made, form.partial, stride))

    def forward(self, before: Tensor, last: Tensor) -> Tensor:
        """The two last outputs to the joined nodes."""
        states = [self.preprocess[0](before), self.preprocess[1](last)]
        edges = iter(self.edges)
        for links in self.links:
            first, second = [self._edge(next(edges), states[source]) for source in links]
            states.append(first + second)
        return torch.cat([states[node] for node in self.concat], 1)

    def _edge(self, op: nn.Module, x: Tensor) -> Tensor:
        out: Tensor = op(x)
        if self.drop_path.active and not isinstance(op, nn.Identity):
            out = self.drop_path(out)
        return out


def preprocess_both(place: Place, *, affine: bool) -> nn.ModuleList:
    """How a cell reads its two inputs."""
    before, last = place.inputs
    return nn.ModuleList(
        [
            operations.preprocess(before, place.channels, halve=place.halve, affine=affine),
            operations.preprocess(last, place.channels, halve=False, affine=affine),
        ]
    )


class AuxiliaryHead(nn.Module):
    """A second classifier on a map half way: pool, 1x1 convolution to 128, 2x2 to 768, linear.

    What is left of the map after the 2x2 convolution (a single pixel at the published sizes) is averaged.
    """

    def __init__(self, inputs: int, outputs: int, network: str) -> None:
        super().__init__()
        cifar = network == "cifar"
        layers = [
            nn.ReLU(),
            nn.AvgPool2d(5, stride=3 if cifar else 2, count_include_pad=False),
            nn.Conv2d(inputs, 128, 1, bias=False),
            nn.BatchNorm2d(128),
            nn.ReLU(),
            nn.Conv2d(128, 768, 2, bias=False),
            *([nn.BatchNorm2d(768)] if cifar else []),  # the published ImageNet networks do without
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(1),
            nn.Linear(768, outputs),
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to logits (B, outputs)."""
        logits: Tensor = self.layers(x)
        return logits


def stem(inputs: int, form: Form) -> nn.ModuleList:
    """One part for `cifar`, two for `imagenet`, each with an output that cells read."""
    width = form.channels
    if form.network == "cifar":
        conv = nn.Conv2d(inputs, 3 * width, 3, padding=1, bias=False)
        return nn.ModuleList([nn.Sequential(conv, nn.BatchNorm2d(3 * width))])
    half = max(1, width // 2)
    first = nn.Sequential(
        nn.Conv2d(inputs, half, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(half),
        nn.ReLU(),
        nn.Conv2d(half, width, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(width),
    )
    conv = nn.Conv2d(width, width, 3, stride=2, padding=1, bias=False)
    return nn.ModuleList([first, nn.Sequential(nn.ReLU(), conv, nn.BatchNorm2d(width))])


class Network(Staged):
    """The frame around cells.

    Args:
        cells: a module for each place, from the last two outputs to the next.
        where: the places of the cells.
        outputs: channels of the second reduction's output, and of the last cell's.
    """

    def __init__(
        self,
        cells: Sequence[nn.Module],
        where: Sequence[Place],
        outputs: tuple[int, int],
        task: Task,
        form: Form,
    ) -> None:
        super().__init__()
        inputs, *size = image_shape(task, "of DARTS cells")
        self.tap = reductions(form.layers)[1]
        self.stem = stem(inputs, form)
        self.pooled = tuple(place.pooled for place in where)
        self.down = nn.MaxPool2d(2, 2, ceil_mode=True) if any(self.pooled) else None
        self.cells = nn.ModuleList(cells)
        self.auxiliary: AuxiliaryHead | None = None
        if form.auxiliary:
            _check_auxiliary((size[0], size[1]), form)
            self.auxiliary = AuxiliaryHead(outputs[0], task.outputs, form.network)
        self.pool = global_average()
        self.classifier = nn.Linear(outputs[1], task.outputs)

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """Outputs of the stem's parts, then of each cell."""
        before = last = x
        for part in self.stem:
            before, last = last, part(last)
            yield last
        if len(self.stem) == 1:
            before = last
        for pooled, cell in zip(self.pooled, self.cells, strict=True):
            if pooled and self.down is not None:
                before, last = self.down(before), self.down(last)
            before, last = last, cell(before, last)
            yield last

    def forward_with_auxiliary(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The logits, and those of the auxiliary head, for training."""
        if self.auxiliary is None:
            raise UnsupportedError("the network has no auxiliary head: build it from a space with auxiliary=True")
        last = side = x
        for number, last in enumerate(self.flow(x), -len(self.stem)):
            if number == self.tap:
                side = self.auxiliary(last)
        return self.classifier(self.pool(last)), side


def _check_auxiliary(size: Size, form: Form) -> None:
    """The head's pool and 2x2 convolution need a map of 8x8 (7x7 for `imagenet`)."""
    needed = 8 if form.network == "cifar" else 7
    factor = 2 ** (len(set(reductions(form.layers))) + (0 if form.network == "cifar" else 3))
    if any(-(-side // factor) < needed for side in size):
        least = (needed - 1) * factor + 1
        raise InputError(f"auxiliary head: inputs of {size[0]}x{size[1]}, expected at least {least}x{least}")


# -- an architecture's network, and its idle parts -------------------------------------------------------------------
def build(architecture: Architecture, task: Task, form: Form) -> Network:
    """The stand-alone network."""
    where, outputs = plan(joined_by(architecture), form)
    cells = [BuiltCell(architecture[place.kind], place, form) for place in where]
    return Network(cells, where, outputs, task, form)


def plan(joined: Mapping[str, int], form: Form) -> tuple[list[Place], tuple[int, int]]:
    """Places of cells that join so many nodes, by kind, and the outputs' channels at the second reduction and at the end."""
    where = places(form, joined.__getitem__)
    tap, last = (where[layer].channels * joined[where[layer].kind] for layer in (reductions(form.layers)[1], -1))
    return where, (tap, last)


def joined_by(architecture: Architecture) -> dict[str, int]:
    """How many nodes each kind of cell joins into its output."""
    return {kind: len(architecture[kind].concat) for kind in KINDS}


def idle(architecture: Architecture, form: Form) -> frozenset[str]:
    """Modules of the stand-alone network that cannot reach its output."""
    live = {kind: reaching(architecture[kind]) for kind in KINDS}
    kinds = [place.kind for place in plan(joined_by(architecture), form)[0]]
    dead = {
        f"cells.{layer}.edges.{edge}"
        for layer, kind in enumerate(kinds)
        for edge in range(len(architecture[kind].edges))
        if 2 + edge // 2 not in live[kind]
    }
    return unread([live[kind] for kind in kinds], form) | dead


def unread(reads: Sequence[Collection[int]], form: Form) -> frozenset[str]:
    """Modules around cells that cannot reach the output, given which of its inputs (0, 1) each cell reads."""
    names = {"auxiliary"} if form.auxiliary else set()
    needed = {form.layers - 1}  # cells, and below zero parts of the stem, whose output is read
    for layer in reversed(range(form.layers)):
        if layer in needed:
            needed |= {layer - 2 + source for source in (0, 1) if source in reads[layer]}
            names |= {f"cells.{layer}.preprocess.{source}" for source in (0, 1) if source not in reads[layer]}
        else:
            names.add(f"cells.{layer}")
    if form.network == "imagenet" and -1 not in needed:
        names.add("stem.1")
    return frozenset(names)
