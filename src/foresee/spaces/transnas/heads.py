"""What stands on the backbone: one head for each kind of task, as a module and as a formula.

class: global average, linear; outputs are classes (object 75, scene 47 in the benchmark).
regression: the same with values for outputs (room layout).
jigsaw: the image is cut into 3 x 3 tiles, each tile goes through the backbone (siamese), the nine averages are joined and a
    linear layer names the permutation (1,000 in the benchmark).
dense: a decoder back to the size of the image; outputs are the channels of its map (segmentation, surface normals,
    autoencoder). The decoder is this project's own: it doubles the map and halves the width (down to the stem's) step by
    step, with 3x3 convolutions; the benchmark's counts are those of the backbone.
"""

from __future__ import annotations

from torch import Tensor, nn

from foresee.errors import InputError
from foresee.spaces import counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.counting import Counts, Size
from foresee.task import Task

HEADS = ("class", "regression", "jigsaw", "dense")
GRID = 3
TILES = GRID * GRID


def backbone_shape(task: Task, head: str, space: str) -> tuple[int, int, int]:
    """Channels, height and width of what the backbone reads: the image, or one tile of it."""
    if head != "jigsaw":
        return image_shape(task, space)
    if len(task.inputs) == 4:
        tiles, channels, height, width = task.inputs
        if tiles != TILES:
            raise InputError(f"space {space} with the jigsaw head: {tiles} tiles, expected {TILES}")
        return channels, height, width
    channels, height, width = image_shape(task, space)
    if min(height, width) < GRID:
        raise InputError(
            f"space {space} with the jigsaw head: image of {height}x{width}, expected at least {GRID}x{GRID}"
        )
    return channels, height // GRID, width // GRID


class Tiles(nn.Module):
    """Images (B, C, H, W) cut into nine tiles, row by row; or tiles as they are (B, 9, C, h, w). To (9B, C, h, w)."""

    def forward(self, x: Tensor) -> Tensor:
        """The tiles of the first image, then of the second. Pixels that do not fill a tile are left out."""
        if x.ndim == 4:
            batch, channels, height, width = x.shape
            h, w = height // GRID, width // GRID
            grid = x[:, :, : GRID * h, : GRID * w].reshape(batch, channels, GRID, h, GRID, w)
            x = grid.permute(0, 2, 4, 1, 3, 5)
            return x.reshape(batch * TILES, channels, h, w)
        return x.flatten(0, 1)


class Join(nn.Module):
    """Features of tiles (9B, F) to those of images (B, 9F)."""

    def forward(self, x: Tensor) -> Tensor:
        """Nine neighbours become one row."""
        return x.reshape(-1, TILES * x.shape[1])


class Decoder(nn.Sequential):
    """(B, width, h, w) to (B, outputs, h x stride, w x stride)."""

    def __init__(self, width: int, narrowest: int, stride: int, outputs: int) -> None:
        layers: list[nn.Module] = []
        for inputs, narrowed in _narrowing(width, narrowest, stride):
            layers += [
                nn.Upsample(scale_factor=2, mode="nearest"),
                nn.Conv2d(inputs, narrowed, 3, padding=1, bias=False),
                nn.BatchNorm2d(narrowed),
                nn.ReLU(),
            ]
            width = narrowed
        super().__init__(*layers, nn.Conv2d(width, outputs, 1))


def _narrowing(width: int, narrowest: int, stride: int) -> list[tuple[int, int]]:
    """Widths before and after each doubling of the map.

    >>> _narrowing(512, 32, 32)
    [(512, 256), (256, 128), (128, 64), (64, 32), (32, 32)]
    """
    steps = []
    while stride > 1:
        steps.append((width, max(width // 2, narrowest)))
        width, stride = steps[-1][1], stride // 2
    return steps


def make(head: str, width: int, narrowest: int, stride: int, outputs: int) -> nn.Module:
    """The head over a backbone of `width` channels that divides the image's size by `stride`."""
    if head == "dense":
        return Decoder(width, narrowest, stride, outputs)
    pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten(1)]
    if head == "jigsaw":
        return nn.Sequential(*pool, Join(), nn.Linear(TILES * width, outputs))
    return nn.Sequential(*pool, nn.Linear(width, outputs))


def count(head: str, width: int, narrowest: int, stride: int, outputs: int, size: Size) -> Counts:
    """What `make` costs on a backbone's map of `size`."""
    if head != "dense":
        return counting.linear(width * (TILES if head == "jigsaw" else 1), outputs)
    total = counting.NOTHING
    for inputs, narrowed in _narrowing(width, narrowest, stride):
        size = (2 * size[0], 2 * size[1])
        total += counting.conv2d(inputs, narrowed, 3, size) + counting.norm(narrowed)
        width = narrowed
    return total + counting.conv2d(width, outputs, 1, size, bias=True)
