"""One-shot networks of cells with four nodes and six edges: NAS-Bench-201 and TransNAS-Bench-101.

One choice for each edge: `3.1` weighs the operations from node 1 to node 3, in the order of the space. `none` has a weight
like the others and adds nothing; an edge where only `none` is to be computed is not.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from foresee.spaces.four_nodes.cell import EDGES, EDGES_INTO
from foresee.spaces.one_shot import Choice, Mixed, StagedOneShot, check_vectors, chosen, one_hot, share, tensors
from foresee.spaces.weighing import Live, Weights
from foresee.task import Task


class CellArchitecture(Protocol):
    """An architecture that is six operations."""

    @property
    def ops(self) -> tuple[str, ...]:
        """The operation of each edge, in the order of `EDGES`."""
        ...


A = TypeVar("A", bound=CellArchitecture)


class MixedCell(nn.Module):
    """A cell with all operations on all edges.

    Args:
        edges: one for each of `EDGES`; their options are the operations without `none`.
        zero: the cell's input to the zeros of a node without any term.
        weights: the present weights of an edge's options.
        every: compute edges without any option to compute too (with partial channels something passes by).
    """

    def __init__(
        self, edges: Sequence[Mixed], zero: nn.Module, weights: Callable[[int], Live], *, every: bool = False
    ) -> None:
        super().__init__()
        self.edges, self.zero = nn.ModuleList(edges), zero
        self.weights, self.every = weights, every

    def forward(self, x: Tensor) -> Tensor:
        """The cell's input to its last node."""
        states = [x]
        for edges in EDGES_INTO.values():
            total: Tensor | None = None
            for edge in edges:
                weights = self.weights(edge)
                if self.every or any(weight is not None for weight in weights):
                    term = self.edges[edge](states[EDGES[edge][0]], weights)
                    total = term if total is None else total + term
            states.append(self.zero(x) if total is None else total)
        return states[-1]


class CellOneShot(StagedOneShot[A]):
    """What the one-shot networks of both spaces share: choices, paths, and inheriting.

    A subclass sets `network`, whose cells are `MixedCell`s with the names that stand-alone networks have.
    """

    def __init__(self, task: Task, ops: Sequence[str]) -> None:
        super().__init__([Choice(f"{target}.{source}", tuple(ops)) for source, target in EDGES])
        self.task = task

    @abstractmethod
    def stand_alone(self, architecture: A) -> nn.Module:
        """The network of one architecture, in the form its weights have here."""

    @abstractmethod
    def architecture(self, ops: tuple[str, ...]) -> A:
        """The architecture of six operations."""

    # -- what is evaluated --------------------------------------------------------------------------------------------
    def check(self, weights: Weights) -> None:
        """One vector for each edge."""
        check_vectors(weights)
        super().check(weights)

    def edge_weights(self, edge: int) -> Live:
        """Present weights of an edge's operations without `none`, which is the first."""
        return self.live(self.choices[edge].name)[1:]

    # -- weights and architectures ------------------------------------------------------------------------------------
    def path(self, architecture: A) -> dict[str, Tensor]:
        """A one for each edge's operation."""
        return {
            choice.name: one_hot(choice.options.index(op), len(choice.options))
            for choice, op in zip(self.choices, architecture.ops, strict=True)
        }

    def derive(self, weights: Weights) -> A:
        """The operation of greatest weight on each edge, `none` included."""
        return self.architecture(tuple(op for _, op in chosen(weights, self.choices)))

    def inherit(self, architecture: A) -> nn.Module:
        """The stand-alone network; each of its parameters and buffers is one of this network's."""
        with torch.device("meta"):
            alone = self.stand_alone(architecture)
        mine = tensors(self.network)
        sources = {name: mine[_source(name, architecture.ops)] for name in tensors(alone)}
        return share(alone, sources).train(self.training)


def _source(name: str, ops: Sequence[str]) -> str:
    """Where the one-shot network keeps what a stand-alone network calls `name`.

    >>> _source("cells.3.edges.1.0.weight", ("none", "skip_connect", "none", "none", "none", "none"))
    'cells.3.edges.1.options.skip_connect.0.weight'
    """
    # `op.` comes from `Partial`, `ops.<name>.` from `MaskedEdge`, which holds all operations
    match = re.fullmatch(r"(.*\bedges\.(\d+))\.(?:op\.)?(?:ops\.(\w+)\.)?(.+)", name)
    if match is None:
        return name
    place, edge, held, rest = match.groups()
    return f"{place}.options.{held or ops[int(edge)]}.{rest}"
