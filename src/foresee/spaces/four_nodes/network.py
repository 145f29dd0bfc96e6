"""The frame around cells and reductions that NAS-Bench-201 and NATS-Bench's size space share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from torch import Tensor, nn

from foresee.spaces.blocks import global_average
from foresee.spaces.staged import Staged, through


class CellNetwork(Staged):
    """Stem, then `cells` (cells and reductions in order), batch norm and ReLU, global average, classifier.

    Args:
        inputs: channels of the images.
        widths: channels after the stem, and after the last cell.
        cells: makes the cells; it is called when the stem is there, so that first weights are drawn from front to back.
        outputs: of the classifier.
    """

    def __init__(
        self, inputs: int, widths: tuple[int, int], cells: Callable[[], Iterable[nn.Module]], outputs: int
    ) -> None:
        super().__init__()
        first, last = widths
        self.stem = nn.Sequential(nn.Conv2d(inputs, first, 3, padding=1, bias=False), nn.BatchNorm2d(first))
        self.cells = nn.ModuleList(cells())
        self.last = nn.Sequential(nn.BatchNorm2d(last), nn.ReLU())
        self.pool = global_average()
        self.classifier = nn.Linear(last, outputs)

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """Outputs of the stem, then of each cell and reduction."""
        return through((self.stem, *self.cells), x)

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling, (B, channels of the last cell, H/4, W/4)."""
        out: Tensor = self.last(super().pre_gap(x))
        return out
