"""One-shot networks of DARTS cells: on every candidate edge all operations, with one set of weights.

Operations are in their search form: batch norms without scale and shift, one after each pool. `inherit` gives stand-alone
networks in this same form, which is not the form that `build` makes for training from scratch.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import InputError
from foresee.spaces.darts import network, operations
from foresee.spaces.darts.cells import EDGES, KINDS, NODES, OPS, Architecture, Cell, discretise, within
from foresee.spaces.darts.network import Form, Network, Place
from foresee.spaces.one_shot import Choice, Mixed, StagedOneShot, check_vectors, one_hot, share, tensors
from foresee.spaces.weighing import Live, Weight, Weights, live
from foresee.task import Task

#: what a node adds up: (input, weights of the operations on that edge, weight of the edge or None for 1)
Terms = Callable[[str, int], Iterator[tuple[int, Live, Weight | None]]]


class MixedCell(nn.Module):
    """A cell with all its candidate edges, in the order of `EDGES`; a node is the sum of its terms."""

    def __init__(self, place: Place, form: Form, terms: Terms) -> None:
        super().__init__()
        self.kind, self.stride, self.terms = place.kind, place.stride, terms
        self.preprocess = network.preprocess_both(place, affine=False)
        self.edges = nn.ModuleList()
        for source, _ in EDGES:
            stride = place.stride if source < 2 else 1
            width = place.channels // form.partial
            made = {op: operations.make(op, width, stride, search=True) for op in OPS}
            self.edges.append(Mixed(made, partial=form.partial, stride=stride))

    def forward(self, before: Tensor, last: Tensor) -> Tensor:
        """The two last outputs to the joined nodes."""
        states = [self.preprocess[0](before), self.preprocess[1](last)]
        for node in NODES:
            total: Tensor | None = None
            for source, weights, scale in self.terms(self.kind, node):
                edge = partial(self.edges[EDGES.index((source, node))], weights=weights)
                term = edge(states[source]) if scale is None else scale.times(edge, states[source])
                total = term if total is None else total + term
            if total is None:  # nothing chosen for this node
                total = states[0][:, :, :: self.stride, :: self.stride] * 0.0
            states.append(total)
        return torch.cat(states[2:], 1)


class CellOneShot(StagedOneShot[Architecture]):
    """What the one-shot networks of DARTS and of NASI share: the network, and inheriting from it."""

    network: Network

    def __init__(self, choices: Sequence[Choice], task: Task, form: Form) -> None:
        super().__init__(choices)
        self.task, self.form = task, form
        where = network.places(form, lambda kind: len(NODES))
        last = len(NODES) * where[-1].channels
        cells = [MixedCell(place, form, self.terms) for place in where]
        self.network = network.Network(cells, where, (last, last), task, form)

    @abstractmethod
    def terms(self, kind: str, node: int) -> Iterator[tuple[int, Live, Weight | None]]:
        """What a node adds up under the present weights; edges that need not be computed are left out."""

    def holds(self, cell: Cell) -> bool:
        """Whether a cell is among those the network holds."""
        return within(cell)

    def inherit(self, architecture: Architecture) -> nn.Module:
        """The stand-alone network in search form, its parameters and buffers in this network's storage."""
        self._check(architecture)
        with torch.device("meta"):
            alone = network.build(architecture, self.task, self.form)
        kinds = [cell.kind for cell in self.network.cells if isinstance(cell, MixedCell)]
        sources = {}
        for name in tensors(alone):
            match = re.fullmatch(r"cells\.(\d+)\.edges\.(\d+)\.(?:op\.)?(.+)", name) if ".edges." in name else None
            if match is None:
                sources[name] = self._held(name)
                continue
            layer, place, rest = int(match[1]), int(match[2]), match[3]
            op, source = architecture[kinds[layer]].edges[place]
            edge = EDGES.index((source, 2 + place // 2))
            sources[name] = self._held(f"cells.{layer}.edges.{edge}.options.{op}.{rest}")
        return share(alone, sources).train(self.training)

    def _held(self, name: str) -> Tensor:
        """A tensor of the network by its name; listing all of them takes longer than building an architecture."""
        found: Any = self.network
        for part in name.split("."):
            found = getattr(found, part)
        assert isinstance(found, Tensor)
        return found

    def _check(self, architecture: Architecture) -> None:
        for kind in KINDS:
            if not self.holds(architecture[kind]):
                raise InputError(
                    f"{kind} cell {list(architecture[kind].edges)}: outside the space, so not in its one-shot network"
                )


class DARTSOneShot(CellOneShot):
    """The DARTS search network. One choice for each edge: `normal.3.0` weighs `none` and the operations from node 0 to 3.

    An edge without any operation to compute is left out altogether; with partial channels also where the operations weigh
    zero and have a gradient, for what goes by would come back with it.

    Args:
        task: inputs and outputs.
        channels: width of the first cells; 16 in the paper.
        layers: number of cells; 8 in the paper.
        network: `cifar` or `imagenet`.
        partial: one in so many channels passes through the operations (PC-DARTS takes 4, NESBS 2).
        edge_normalisation: one more choice for each node, `normal.3.inputs`, that weighs its edges (PC-DARTS).
    """

    def __init__(
        self,
        task: Task,
        *,
        channels: int = 16,
        layers: int = 8,
        network: str = "cifar",
        partial: int = 1,
        edge_normalisation: bool = False,
    ) -> None:
        choices = []
        for kind in KINDS:
            choices += [Choice(f"{kind}.{node}.{source}", ("none", *OPS)) for source, node in EDGES]
            if edge_normalisation:
                choices += [Choice(f"{kind}.{node}.inputs", tuple(map(str, range(node)))) for node in NODES]
        super().__init__(choices, task, Form(channels, layers, network, search=True, partial=partial))
        self.edge_normalisation = edge_normalisation
        if edge_normalisation:  # a drawn cell reads two inputs a node
            self.counts = {f"{kind}.{node}.inputs": 2 for kind in KINDS for node in NODES}

    def check(self, weights: Weights) -> None:
        """One vector for each choice."""
        check_vectors(weights)
        super().check(weights)

    def terms(self, kind: str, node: int) -> Iterator[tuple[int, Live, Weight | None]]:
        """Each edge with its operations' weights, times the weight of the edge where edges are weighed."""
        scales = self.live(f"{kind}.{node}.inputs") if self.edge_normalisation else [None] * node
        for source, scale in enumerate(scales):
            name = f"{kind}.{node}.{source}"
            weights = self.live(name)[1:]  # `none` adds nothing
            asked = weights if self.form.partial == 1 else live(self.weight(name)[1:], "chosen", self.host(name)[1:])
            if any(weight is not None for weight in asked) and not (self.edge_normalisation and scale is None):
                yield source, weights, scale

    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """One operation on each edge of the architecture, `none` on the others."""
        self._check(architecture)
        weights = {choice.name: torch.zeros(len(choice.options)) for choice in self.choices}
        for kind in KINDS:
            for source, node in EDGES:
                weights[f"{kind}.{node}.{source}"] = one_hot(0, 1 + len(OPS))
            for node, pair in architecture[kind].nodes:
                for op, source in pair:
                    weights[f"{kind}.{node}.{source}"] = one_hot(1 + OPS.index(op), 1 + len(OPS))
                    if self.edge_normalisation:
                        weights[f"{kind}.{node}.inputs"][source] = 1.0
        return weights

    def derive(self, weights: Weights) -> Architecture:
        """DARTS' rule (see `discretise`); with edge normalisation on the products, as in PC-DARTS."""
        cells = {}
        for kind in KINDS:
            rows = []
            for source, node in EDGES:
                row = weights[f"{kind}.{node}.{source}"].detach().double()[1:]
                if self.edge_normalisation:
                    row = row * weights[f"{kind}.{node}.inputs"].detach().double()[source].to(row.device)
                rows.append(row.tolist())
            cells[kind] = discretise(rows)
        return Architecture(**cells)
