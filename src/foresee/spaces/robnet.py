"""RobNets: DARTS-like networks in which every cell may differ and a node adds up all nodes before it.

Each of the 14 edges of a cell carries a code: 00 nothing, 01 separable 3x3 convolution, 10 identity, 11 both added. One
cell stands for all, or each layer has its own. Batch norms in cells have neither scale nor shift.

>>> space = RobNet()
>>> space.counts(space.named["RobNet_free"], Task((3, 32, 32), 10)).params
5439790
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from foresee.errors import InputError, UnknownNameError
from foresee.spaces import counting
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.blocks import image_shape
from foresee.spaces.counting import Counts
from foresee.spaces.darts import operations
from foresee.spaces.darts.cells import EDGES, NODES, Edge, normal_form
from foresee.spaces.darts.counts import count_inputs, count_stem
from foresee.spaces.darts.network import Form, Network, Place, places, preprocess_both, unread
from foresee.spaces.darts.text import literal
from foresee.task import Task

#: code -> label; the label is drawn in graphs
CODES = {"00": "none", "01": "sep_conv_3x3", "10": "skip_connect", "11": "sep_conv_3x3 + skip_connect"}
_EXAMPLE = "[['11', '10', ...14 codes], ...]"


@dataclass(frozen=True)
class Cell:
    """The code of each edge, in the order of `EDGES`: into node 2 from 0 and 1, into node 3 from 0, 1 and 2, and so on."""

    codes: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.codes) != len(EDGES):
            raise InputError(f"{len(self.codes)} codes: expected {len(EDGES)}, one for each edge")
        for (source, node), code in zip(EDGES, self.codes, strict=True):
            if code not in CODES:
                raise UnknownNameError(f"code on edge {source}->{node}", str(code), CODES)

    @property
    def nodes(self) -> Iterator[tuple[int, list[Edge]]]:
        """Each node's number with its edges (code, input), those with code 00 left out."""
        for node in NODES:
            pairs = zip(EDGES, self.codes, strict=True)
            yield (
                node,
                [(code, source) for (source, target), code in pairs if target == node and code != "00"],
            )

    @property
    def links(self) -> tuple[tuple[int, ...], ...]:
        """The inputs of each node (so that `darts.width` and `darts.depth` apply)."""
        return tuple(tuple(source for _, source in edges) for _, edges in self.nodes)

    @property
    def concat(self) -> tuple[int, ...]:
        """All nodes are joined into the output."""
        return NODES

    @property
    def reads(self) -> set[int]:
        """Which of the cell's inputs it uses; a node without edges is made of zeros in the shape of input 0."""
        links = self.links
        return {source for sources in links for source in sources} | ({0} if () in links else set())


@dataclass(frozen=True)
class Architecture:
    """One cell for all layers, or one for each. Its `str` lists the codes as the RobNet code does."""

    cells: tuple[Cell, ...]

    def __str__(self) -> str:
        return str([list(cell.codes) for cell in self.cells])


# -- the network --------------------------------------------------------------------------------------------------------
class Residual(nn.Module):
    """A separable convolution with a shortcut beside it."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.main = operations.make("sep_conv_3x3", channels, stride, search=True)
        self.shortcut = operations.make("skip_connect", channels, stride, search=True)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to (B, C, ceil(H/stride), ceil(W/stride))."""
        out: Tensor = self.main(x) + self.shortcut(x)
        return out


class BuiltCell(nn.Module):
    """The cell as a module: `edges` by the name `source->node`."""

    def __init__(self, cell: Cell, place: Place) -> None:
        super().__init__()
        self.links, self.stride = cell.links, place.stride
        self.preprocess = preprocess_both(place, affine=False)
        self.edges = nn.ModuleDict()
        for node, edges in cell.nodes:
            for code, source in edges:
                stride = place.stride if source < 2 else 1
                self.edges[f"{source}->{node}"] = (
                    Residual(place.channels, stride)
                    if code == "11"
                    else operations.make(CODES[code], place.channels, stride, search=True)
                )

    def forward(self, before: Tensor, last: Tensor) -> Tensor:
        """The two last outputs to the joined nodes."""
        states = [self.preprocess[0](before), self.preprocess[1](last)]
        for node, links in enumerate(self.links, 2):
            terms = [self.edges[f"{source}->{node}"](states[source]) for source in links]
            zeros = [] if terms else [states[0][:, :, :: self.stride, :: self.stride] * 0.0]
            first, *others = terms or zeros
            for term in others:
                first = first + term
            states.append(first)
        return torch.cat(states[2:], 1)


@spaces.register("robnet")
class RobNet(Space[Architecture]):
    """The space of RobNets. It has no one-shot network here.

    Args:
        channels: width C of the first cells; 36 in the published networks.
        layers: number of cells; 20 in the published networks.
        network: `cifar` or `imagenet`, as in `darts`.
        shared: whether one cell is sampled for all layers (RobNet-large) or one for each (RobNet-free).
    """

    name = "robnet"
    summary = (
        "cells of 4 nodes that read all nodes before them, 4 codes an edge, one cell for all layers or one for each"
    )
    source = "When NAS Meets Robustness (Guo et al., CVPR 2020)"

    def __init__(self, *, channels: int = 36, layers: int = 20, network: str = "cifar", shared: bool = False) -> None:
        self.form = Form(channels, layers, network)
        self.channels, self.layers, self.network, self.shared = channels, layers, network, bool(shared)

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each edge's code uniformly."""
        count = 1 if self.shared else self.layers
        return Architecture(tuple(Cell(tuple(rng.choices(list(CODES), k=len(EDGES)))) for _ in range(count)))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """Another code on one edge of one cell."""
        cells = list(architecture.cells)
        layer, edge = rng.randrange(len(cells)), rng.randrange(len(EDGES))
        codes = list(cells[layer].codes)
        codes[edge] = rng.choice([code for code in CODES if code != codes[edge]])
        cells[layer] = Cell(tuple(codes))
        return Architecture(tuple(cells))

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each cell from either parent; one of the parents where one has a single cell and the other has many."""
        if len(first.cells) != len(second.cells):
            return rng.choice((first, second))
        return Architecture(tuple(map(rng.choice, zip(first.cells, second.cells, strict=True))))

    def parse(self, text: str) -> Architecture:
        """Read lists of codes; the error names the layer and the edge that are wrong."""
        rows = literal(text, _EXAMPLE)
        if not isinstance(rows, list) or len(rows) not in (1, self.layers):
            count = len(rows) if isinstance(rows, list) else "no"
            raise InputError(f"architecture of {count} cells: expected 1 or {self.layers}, such as {_EXAMPLE}")
        cells = []
        for layer, codes in enumerate(rows):
            if not isinstance(codes, list):
                raise InputError(f"cell {layer}: {codes!r}, expected a list of {len(EDGES)} codes")
            try:
                cells.append(Cell(tuple(str(code) for code in codes)))
            except UnknownNameError as error:
                raise UnknownNameError(f"cell {layer}, {error.kind}", error.name, error.known) from None
            except InputError as error:
                raise InputError(f"cell {layer}: {error}") from None
        return Architecture(tuple(cells))

    @property
    def size(self) -> int:
        """4^14 cells, one for each layer unless they are shared."""
        return int(len(CODES) ** (len(EDGES) * (1 if self.shared else self.layers)))

    @property
    def named(self) -> Mapping[str, Architecture]:
        """`RobNet_large`, and with 20 layers `RobNet_free`."""
        known = {"RobNet_large": _read("rr rrr srsi rsssr")}
        return {**known, "RobNet_free": _read(_FREE)} if self.layers == 20 else known

    # -- one architecture ---------------------------------------------------------------------------------------------
    def cells(self, architecture: Architecture) -> tuple[Cell, ...]:
        """The cell of each layer."""
        if len(architecture.cells) not in (1, self.layers):
            raise InputError(f"architecture of {len(architecture.cells)} cells: expected 1 or {self.layers}")
        return architecture.cells * (1 if len(architecture.cells) == self.layers else self.layers)

    def canonical(self, architecture: Architecture) -> str:
        """The cells with the numbering of their nodes made unique; a cell for all equals the same cell in each layer."""
        forms = [str(normal_form(dict(cell.nodes), NODES)) for cell in self.cells(architecture)]
        return "; ".join(forms if len(set(forms)) > 1 else forms[:1])

    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""
        where = self._places()
        cells = [BuiltCell(cell, place) for cell, place in zip(self.cells(architecture), where, strict=True)]
        last = len(NODES) * where[-1].channels
        return Network(cells, where, (last, last), task, self.form)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        inputs, height, width = image_shape(task, self.name)
        total, before, now = count_stem(inputs, (height, width), self.form)
        for cell, place in zip(self.cells(architecture), self._places(), strict=True):
            total += count_inputs(place, before, now, affine=False)
            out = counting.strided(now, place.stride)
            for _, edges in cell.nodes:
                for code, source in edges:
                    stride, size = (place.stride, now) if source < 2 else (1, out)
                    for op in CODES[code].split(" + "):
                        total += operations.count(op, place.channels, stride, size, affine=False)
            before, now = now, out
        return total + counting.linear(len(NODES) * place.channels, task.outputs)

    def _places(self) -> list[Place]:
        return places(self.form, lambda kind: len(NODES))

    def unused_parameters(self, architecture: Architecture) -> frozenset[str]:
        """Cells and their readers of inputs that nothing reads."""
        return unread([cell.reads for cell in self.cells(architecture)], self.form)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """Every cell; edges with code 00 are not drawn."""
        labels, count = ("before last", "last", *map(str, NODES), "output"), len(architecture.cells)
        joined = tuple((node, 2 + len(NODES), "") for node in NODES)
        return [
            Graph(
                labels,
                (
                    *((source, node, CODES[code]) for node, edges in cell.nodes for code, source in edges),
                    *joined,
                ),
                title="cell" if count == 1 else f"cell {layer}",
            )
            for layer, cell in enumerate(architecture.cells)
        ]


_LETTERS = {"n": "00", "s": "01", "i": "10", "r": "11"}
_FREE = """ri rri rssi rrnrs; rn sis niin srirn; rr rss rsni niinr; ir iss iisi rnnsi; rr sni iisi snisr;
ri rrr sirn isrsr; rr rii sris iiisi; sr rrs rrrs rsrin; rr rrr ssri snisr; ir snr rirs rrrrn; ri rnn nrns insir;
sr srr iiri rsrin; rr iis nirr siins; sr rrs srss rrsii; sr rrr snsi iriir; rr nrr snsi nrsrr; rr srr irii iiirr;
ir srr srnr rnins; ri rrr rrir nrsrr; rr ssr rsnn inssr"""


def _read(short: str) -> Architecture:
    """Letters for codes (nothing, separable, identity, residual), a group for each node, cells between semicolons."""
    rows = short.replace(" ", "").replace("\n", "").split(";")
    return Architecture(tuple(Cell(tuple(_LETTERS[letter] for letter in row)) for row in rows))
