"""The one-shot network of NAS-Bench-201: all operations on every edge of every cell, with one set of weights."""

from __future__ import annotations

from torch import nn

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.blocks import Zero
from foresee.spaces.four_nodes import CellOneShot, MixedCell
from foresee.spaces.nasbench201.architecture import OPS, Architecture
from foresee.spaces.nasbench201.network import MAKERS, VARIANTS, Network, build
from foresee.spaces.one_shot import Mixed
from foresee.task import Task


class NASBench201OneShot(CellOneShot[Architecture]):
    """The search network of NAS-Bench-201.

    With the variant `benchmark`, an inherited network is what `space.build` makes. The variant `reference` has the batch
    norms without scale, shift and running statistics that searches at initialisation use.

    Args:
        task: images.
        channels: width of the first stage.
        cells: cells in each of the three stages.
        variant: as in `NASBench201`.
        partial: only one in so many channels passes through the operations, the others go by, on `none` edges too
            (PC-DARTS). Inherited networks then have this form as well.
    """

    def __init__(self, task: Task, *, channels: int, cells: int, variant: str, partial: int = 1) -> None:
        for key, value in (("channels", channels), ("cells", cells)):
            whole(key, value, of="one-shot network")
        if variant not in VARIANTS:
            raise UnknownNameError("variant of the one-shot network", str(variant), VARIANTS)
        if not isinstance(partial, int) or isinstance(partial, bool) or partial < 1 or channels % partial:
            raise InputError(f"partial {partial!r}: expected a divisor of the {channels} channels")
        super().__init__(task, OPS)
        self.channels, self.cells, self.variant, self.partial = channels, cells, variant, partial
        self.network = Network(task, channels, cells, self._mixed_cell)

    def _mixed_cell(self, channels: int) -> MixedCell:
        affine, width = self.variant == "benchmark", channels // self.partial
        edges = [Mixed({op: MAKERS[op](width, affine) for op in OPS[1:]}, partial=self.partial) for _ in self.choices]
        return MixedCell(edges, Zero(), self.edge_weights, every=self.partial > 1)

    def architecture(self, ops: tuple[str, ...]) -> Architecture:
        """The cell with these operations."""
        return Architecture(ops)

    def stand_alone(self, architecture: Architecture) -> nn.Module:
        """The space's network; with partial channels around every edge where there are any."""
        form = self.channels, self.cells, self.variant
        return build(architecture, self.task, *form, partial=self.partial)
