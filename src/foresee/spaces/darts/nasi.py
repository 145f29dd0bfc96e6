"""NASI's form of the DARTS space: a node chooses its operations and its inputs independently.

In the search a node draws one operation and one input; at the end it keeps the two likeliest of each, paired rank with
rank. So the two operations of a node differ, as its inputs do. During the search reduction cells have stride 1, and a
max-pool before them halves both their inputs; networks are built as in the DARTS space.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from foresee.errors import InputError
from foresee.spaces.base import spaces
from foresee.spaces.darts.cells import KINDS, NODES, OPS, Architecture, Cell, Edge, within
from foresee.spaces.darts.network import Form
from foresee.spaces.darts.one_shot import CellOneShot
from foresee.spaces.darts.space import DARTS
from foresee.spaces.one_shot import Choice
from foresee.spaces.weighing import Live, Weight, Weights, live
from foresee.task import Task


@spaces.register("darts_nasi")
class DARTSNASI(DARTS):
    """The DARTS cells as NASI searches them: the two operations of a node differ. Settings as in `darts`."""

    name = "darts_nasi"
    summary = "the DARTS cells with operations and inputs chosen independently, two different ones of each a node"
    source = "NASI (Shu et al., ICLR 2022), appendix B.2"

    SAMPLINGS = ("uniform",)
    MUTATIONS = ("single",)

    def _draw_ops(self, rng: random.Random) -> Sequence[str]:
        return rng.sample(OPS, 2)

    def _other_ops(self, op: str, beside: str) -> list[str]:
        return [other for other in OPS if other not in (op, beside)]

    def contains(self, architecture: Architecture) -> bool:
        """Whether both cells are DARTS cells in which no node has the same operation twice."""
        return all(_within(architecture[kind]) for kind in KINDS)

    @property
    def size(self) -> int:
        """(180 x (7 x 6)^4)^2: the order of a node's edges does not count."""
        return (180 * (len(OPS) * (len(OPS) - 1)) ** 4) ** 2

    def one_shot(self, task: Task, **options: Any) -> NASIOneShot:  # type: ignore[override]
        """NASI's search network; see `NASIOneShot` for the options."""
        return NASIOneShot(task, **{"network": self.network, **options})


class NASIOneShot(CellOneShot):
    """Two choices for each node: `normal.3.op` weighs the operations, `normal.3.input` the inputs, independently.

    Weights are one vector each (a node is a single path when these are one-hot) or two rows each: the first operation
    goes with the first input, the second with the second, which is how an architecture is evaluated.

    Args:
        task: inputs and outputs.
        channels: width of the first cells (the paper does not say; 16 as in DARTS).
        layers: number of cells (8 as in DARTS).
        network: `cifar` or `imagenet`.
        partial: one in so many channels passes through the operations.
    """

    def __init__(
        self, task: Task, *, channels: int = 16, layers: int = 8, network: str = "cifar", partial: int = 1
    ) -> None:
        choices = []
        for kind in KINDS:
            for node in NODES:
                choices.append(Choice(f"{kind}.{node}.op", OPS))
                choices.append(Choice(f"{kind}.{node}.input", tuple(map(str, range(node)))))
        super().__init__(choices, task, Form(channels, layers, network, search=True, partial=partial, pooled=True))

    def check(self, weights: Weights) -> None:
        """A vector or rows for each choice, as many rows for both of a node."""
        super().check(weights)
        for kind in KINDS:
            for node in NODES:
                ops, inputs = (weights[f"{kind}.{node}.{what}"].shape for what in ("op", "input"))
                if ops[:-1] != inputs[:-1] or len(ops) > 2:
                    raise InputError(
                        f"weights of {kind}.{node}: shapes {tuple(ops)} and {tuple(inputs)}, "
                        "expected vectors or equally many rows"
                    )

    def holds(self, cell: Cell) -> bool:
        """Whether a cell is among those the network holds."""
        return _within(cell)

    def terms(self, kind: str, node: int) -> Iterator[tuple[int, Live, Weight | None]]:
        """Row by row, each input with the row's operations.

        An operation of weight zero at an input of weight zero is left out: the product of both has no gradient either.
        """
        ops, inputs = (self._both(f"{kind}.{node}.{what}") for what in ("op", "input"))
        for (op_row, op_host), (input_row, input_host) in zip(ops, inputs, strict=True):
            every, chosen = live(op_row, self.gradient, op_host), live(op_row, "chosen", op_host)
            for source, weight in enumerate(live(input_row, self.gradient, input_host)):
                weights = chosen if weight is None or weight.zero else every
                if weight is not None and any(one is not None for one in weights):
                    yield source, weights, weight

    def _both(self, choice: str) -> Iterator[tuple[Tensor, Tensor]]:
        """The rows of a choice's weights, each where the network is and on the host."""
        return zip(_rows(self.weight(choice)), _rows(self.host(choice)), strict=True)

    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """Two rows for each choice, one for each edge of the node."""
        self._check(architecture)
        weights = {}
        for kind in KINDS:
            for node, pair in architecture[kind].nodes:
                weights[f"{kind}.{node}.op"] = torch.eye(len(OPS))[[OPS.index(op) for op, _ in pair]]
                weights[f"{kind}.{node}.input"] = torch.eye(node)[[source for _, source in pair]]
        return weights

    def derive(self, weights: Weights) -> Architecture:
        """The two heaviest operations and inputs of each node, rank with rank; of two rows, the heaviest of each row."""
        cells = {}
        for kind in KINDS:
            edges: list[Edge] = []
            for node in NODES:
                ops, inputs = (_best_two(weights[f"{kind}.{node}.{what}"]) for what in ("op", "input"))
                edges += [(OPS[op], source) for op, source in zip(ops, inputs, strict=True)]
            cells[kind] = Cell(tuple(edges))
        return Architecture(**cells)


def _within(cell: Cell) -> bool:
    return within(cell) and all(first[0] != second[0] for _, (first, second) in cell.nodes)


def _rows(weights: Tensor) -> Tensor:
    return weights.reshape(-1, weights.shape[-1])


def _best_two(weights: Tensor) -> tuple[int, int]:
    """Heaviest option of the first row, then heaviest other option of the second (of the same, if there is one row)."""
    rows = _rows(weights.detach()).tolist()
    if len(rows) > 2:
        raise InputError(f"weights of {len(rows)} rows: expected one or two")
    options = range(len(rows[0]))
    first = max(options, key=rows[0].__getitem__)
    return first, max((other for other in options if other != first), key=rows[-1].__getitem__)
