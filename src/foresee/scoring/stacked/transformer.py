"""Parts of networks that work on tokens, as values: patches, what is learnt of places, layer norm, attention.

Tokens are maps of one column, a row for each of them, whose channels are their numbers: (numbers, tokens, 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from foresee.scoring.stacked.weights import Drawn, truncated


@dataclass(frozen=True, eq=False)
class Patches(Drawn):
    """A convolution with bias whose filters read patches that lie side by side."""

    name: str
    inputs: int
    outputs: int
    kernel: int

    @property
    def stride(self) -> int:
        """From one patch to the next."""
        return self.kernel

    @property
    def drawn(self) -> int:
        """How many numbers it draws when it is made."""
        return self.numbers + self.outputs


@dataclass(frozen=True, eq=False)
class Table(Drawn):
    """`outputs` vectors of `inputs` numbers, looked up in by a module, drawn with this standard deviation when it is made."""

    name: str
    outputs: int
    inputs: int
    deviation: float
    kernel: int = 1
    stride: int = 1

    @property
    def drawn(self) -> int:
        """How many numbers it draws when it is made."""
        return truncated(self.numbers)


@dataclass(frozen=True, eq=False)
class Learnt(Table):
    """Vectors that the network itself holds, drawn when all its modules are there."""

    @property
    def drawn(self) -> int:
        """How many numbers it draws when it is made."""
        return 0


@dataclass(frozen=True, eq=False)
class Tokens:
    """A map's positions as tokens, row by row, behind one that is learnt; to each its learnt place is added. No module."""

    first: Learnt
    places: Learnt


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """Each token by its own mean and deviation, with scale and shift."""

    name: str


@dataclass(frozen=True, eq=False)
class Attention:
    """What each token gathers from all: queries, keys and values, interleaved, of heads of this width.

    To each pair of tokens belongs an entry of either table, `index` (2, tokens, tokens) says which; the sum of both stands
    beside the key, and that of the other two beside the value. Softmax and both pairs of tables are modules.
    """

    heads: int
    width: int
    keys: tuple[Table, Table]
    values: tuple[Table, Table]
    index: Tensor

    @property
    def tables(self) -> tuple[Table, ...]:
        """In the order in which they are made."""
        return *self.keys, *self.values
