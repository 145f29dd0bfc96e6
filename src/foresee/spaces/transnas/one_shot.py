"""The one-shot network of the TransNAS-Bench-101 cells: all operations on every edge of every cell."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from foresee.spaces.four_nodes import EDGES, CellOneShot, MixedCell
from foresee.spaces.one_shot import Mixed
from foresee.spaces.transnas.network import Network, Place, edge_place, make_op
from foresee.spaces.transnas.text import MICRO_MODULES, OPS, MicroArchitecture
from foresee.task import Task


class TransNASOneShot(CellOneShot[MicroArchitecture]):
    """The search network of the micro space, with any head; an inherited network is what the space builds.

    Args:
        task: inputs and outputs.
        head: one of `heads.HEADS`.
        channels: width after the stem.
        build: makes the stand-alone network of an architecture for a task.
    """

    def __init__(
        self, task: Task, head: str, channels: int, build: Callable[[MicroArchitecture, Task], nn.Module]
    ) -> None:
        super().__init__(task, OPS)
        self.build = build
        self.network = Network(task, head, channels, MICRO_MODULES, self._mixed_cell, "transnas_micro")

    def _mixed_cell(self, place: Place) -> MixedCell:
        edges = [Mixed({op: make_op(op, edge_place(place, source)) for op in OPS[1:]}) for source, _ in EDGES]
        return MixedCell(edges, make_op("none", place), self.edge_weights)

    def architecture(self, ops: tuple[str, ...]) -> MicroArchitecture:
        """The cell with these operations."""
        return MicroArchitecture(ops)

    def stand_alone(self, architecture: MicroArchitecture) -> nn.Module:
        """The space's own network."""
        return self.build(architecture, self.task)
