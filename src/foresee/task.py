"""A task: what goes into a network and how many numbers come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foresee.errors import InputError, shown

if TYPE_CHECKING:
    from torch import Tensor

#: the largest size there may be: tensors are addressed by 64 bits, and products of sizes have to fit
MOST = 2**31 - 1
#: rows to learn from below which a click log is small: large networks learn it by heart
FEW_ROWS = 200_000
#: rows from which on it is as large as those of the papers: seen once, by networks of any size
MANY_ROWS = 4_000_000


@dataclass(frozen=True)
class Task:
    """Input shape of one sample (without the batch axis) and number of outputs.

    A click log has numbers and categories: `inputs` is then the number of numeric (dense) features and `vocabularies` the
    number of values of each categorical (sparse) feature; a network is called with both, `network(dense, sparse)`, of
    shapes (B, dense) and (B, sparse), the latter whole numbers.

    Text is token ids: `tokens` is how many there are, and a network is called with whole numbers below it, of shape `inputs`.

    >>> Task((3, 32, 32), 10).to_json()
    {'inputs': [3, 32, 32], 'outputs': 10}
    >>> [part.shape for part in Task((13,), 1, vocabularies=(100, 7)).example(batch=4)]
    [torch.Size([4, 13]), torch.Size([4, 2])]
    """

    inputs: tuple[int, ...] = (3, 32, 32)
    outputs: int = 10
    vocabularies: tuple[int, ...] = ()
    tokens: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(int(n) for n in self.inputs))
        if not self.inputs or any(n < 1 for n in self.inputs):
            raise InputError(f"input shape {'x'.join(map(shown, self.inputs)) or '()'}: every size must be at least 1")
        if self.outputs < 1:
            raise InputError(f"outputs {shown(self.outputs)}: at least 1 is needed")
        object.__setattr__(self, "vocabularies", tuple(int(n) for n in self.vocabularies))
        if any(n < 1 for n in self.vocabularies):
            raise InputError(f"vocabularies {shown(self.vocabularies)}: every feature needs at least 1 value")
        if self.tokens is not None and self.tokens < 1:
            raise InputError(f"tokens {shown(self.tokens)}: at least 1 is needed")
        large = next((n for n in (*self.inputs, self.outputs, *self.vocabularies, self.tokens or 1) if n > MOST), None)
        if large is not None:
            raise InputError(f"task with a size of {shown(large)}: at most {MOST:,} are possible")
        if self.vocabularies and self.tokens is not None:
            raise InputError("vocabularies and tokens: a sample is features of a click log or token ids, not both")
        if self.vocabularies and len(self.inputs) != 1:
            shape = "x".join(map(str, self.inputs))
            raise InputError(
                f"vocabularies with inputs {shape}: expected one number, how many dense features there are"
            )

    def example(self, batch: int = 1) -> Tensor | tuple[Tensor, ...]:
        """Zeros that a network of this task takes: one tensor, or dense and sparse features."""
        import torch

        if self.tokens is not None:
            return torch.zeros(batch, *self.inputs, dtype=torch.int64)
        dense = torch.zeros(batch, *self.inputs)
        if not self.vocabularies:
            return dense
        return dense, torch.zeros(batch, len(self.vocabularies), dtype=torch.int64)

    def to_json(self) -> dict[str, Any]:
        """Plain form for JSON and TOML."""
        plain: dict[str, Any] = {"inputs": list(self.inputs), "outputs": self.outputs}
        plain |= {"vocabularies": list(self.vocabularies)} if self.vocabularies else {}
        return plain if self.tokens is None else {**plain, "tokens": self.tokens}

    @classmethod
    def from_json(cls, plain: Any) -> Task:
        """Inverse of `to_json`, checked."""
        try:
            tokens = plain.get("tokens")
            own = (tuple(plain.get("vocabularies", ())), None if tokens is None else int(tokens))
            return cls(tuple(plain["inputs"]), int(plain["outputs"]), *own)
        except (TypeError, KeyError, ValueError, OverflowError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"task {shown(plain)}: expected {{'inputs': [3, 32, 32], 'outputs': 10}}") from error


def parse_shape(text: str) -> tuple[int, ...]:
    """`3x32x32` to `(3, 32, 32)`.

    >>> parse_shape("3x32x32")
    (3, 32, 32)
    """
    try:
        shape = tuple(int(part) for part in text.lower().split("x"))
        if any(n < 1 for n in shape):
            raise ValueError
    except ValueError:
        raise InputError(f"shape {shown(text)}: expected sizes joined by x, such as 3x32x32") from None
    return shape
