"""An AutoFormer architecture and its text: the tuple (depth, mlp ratio of each layer, heads of each layer, width).

>>> one = Architecture(192, (3.5, 4.0), (3, 4))
>>> str(one)
'(2, 3.5, 4.0, 3, 4, 192)'
>>> parse("(2, 3.5, 4, 3, 4, 192)") == one
True
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foresee.errors import InputError, shown
from foresee.task import MOST

_EXAMPLE = "(2, 3.5, 4.0, 3, 4, 192): depth, a ratio for each layer, heads for each layer, width"


@dataclass(frozen=True)
class Architecture:
    """A vision transformer: one width, and for each layer the ratio of its hidden layer and its heads."""

    embed: int
    mlp: tuple[float, ...]
    heads: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "mlp", tuple(map(float, self.mlp)))
        object.__setattr__(self, "heads", tuple(self.heads))
        if not 1 <= self.embed <= MOST:
            raise InputError(f"width {shown(self.embed)}: expected 1 to {MOST:,}")
        if not self.mlp or len(self.mlp) != len(self.heads):
            raise InputError(f"{len(self.mlp)} mlp ratios and {len(self.heads)} heads: expected one for each layer")
        for layer, (ratio, heads) in enumerate(zip(self.mlp, self.heads, strict=True)):
            if not 1 <= self.embed * ratio <= MOST:  # NaN is not between anything
                raise InputError(f"layer {layer}: mlp ratio {ratio} of width {self.embed} makes no hidden layer")
            if not 1 <= heads <= MOST:
                raise InputError(f"layer {layer}: {shown(heads)} heads, expected 1 to {MOST:,}")

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.mlp)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Width of the hidden layer of each layer."""
        return tuple(int(self.embed * ratio) for ratio in self.mlp)

    def __str__(self) -> str:
        return f"({', '.join(map(str, (self.depth, *self.mlp, *self.heads, self.embed)))})"


def parse(text: str) -> Architecture:
    """Inverse of `str`; the error names the number that is wrong by its place and its meaning."""
    inner = text.strip()
    if len(inner) < 2 or inner[0] != "(" or inner[-1] != ")":
        raise InputError(f"architecture {text!r}: expected numbers in parentheses, such as {_EXAMPLE}")
    numbers = [number.strip() for number in inner[1:-1].split(",")]
    depth = _whole(numbers[0], "depth")
    if len(numbers) != 2 * depth + 2:
        raise InputError(
            f"architecture {text!r}: {len(numbers)} numbers, but depth {depth} needs {2 * depth + 2}, such as {_EXAMPLE}"
        )
    mlp = [_ratio(number, layer) for layer, number in enumerate(numbers[1 : depth + 1])]
    heads = [_whole(number, f"heads of layer {layer}") for layer, number in enumerate(numbers[depth + 1 : -1])]
    return Architecture(_whole(numbers[-1], "width"), tuple(mlp), tuple(heads))


def _whole(text: str, what: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise InputError(f"{what}: {text!r}, expected a whole number of at least 1") from None
    if value < 1:
        raise InputError(f"{what}: {text!r}, expected a whole number of at least 1")
    return value


def _ratio(text: str, layer: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"mlp ratio of layer {layer}: {text!r}, expected a number above 0, such as 3.5")
    return value


def from_config(plain: Any) -> Architecture:
    """Read the fields that tables and the public code use for one architecture.

    `mlp_ratio` and `num_heads` are lists; the width is `hidden_dim` or `embed_dim` (a number, or a list that repeats it);
    `depth` or `layer_num` says how many entries of the lists count.

    >>> str(from_config({"hidden_dim": 192, "mlp_ratio": [3.5, 4], "depth": 2, "num_heads": [3, 4]}))
    '(2, 3.5, 4.0, 3, 4, 192)'
    """
    if not isinstance(plain, Mapping):
        raise InputError(f"AutoFormer configuration: expected an object, got {type(plain).__name__}")
    depth = _field(plain, "depth", "layer_num")
    width = _field(plain, "hidden_dim", "embed_dim")
    widths = set(width) if isinstance(width, list | tuple) else {width}
    if len(widths) != 1:
        raise InputError(f"AutoFormer configuration: widths {sorted(widths)}, expected one for all layers")
    layers = _whole(str(depth), "depth")
    lists = []
    for key in ("mlp_ratio", "num_heads"):
        values = _field(plain, key)
        if not isinstance(values, list | tuple) or len(values) < layers:
            raise InputError(f"AutoFormer configuration: {key} {values!r}, expected a list of {layers} numbers")
        lists.append([str(value) for value in values[:layers]])
    return Architecture(
        _whole(str(widths.pop()), "width"),
        tuple(_ratio(ratio, layer) for layer, ratio in enumerate(lists[0])),
        tuple(_whole(heads, f"heads of layer {layer}") for layer, heads in enumerate(lists[1])),
    )


def _field(plain: Mapping[str, Any], *keys: str) -> Any:
    for key in keys:
        if key in plain:
            return plain[key]
    raise InputError(f"AutoFormer configuration: no {' or '.join(keys)} in it")
