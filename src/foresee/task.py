"""A task: what goes into a network and how many numbers come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foresee.errors import InputError


@dataclass(frozen=True)
class Task:
    """Input shape of one sample (without the batch axis) and number of outputs.

    >>> Task((3, 32, 32), 10).to_json()
    {'inputs': [3, 32, 32], 'outputs': 10}
    """

    inputs: tuple[int, ...] = (3, 32, 32)
    outputs: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(int(n) for n in self.inputs))
        if not self.inputs or any(n < 1 for n in self.inputs):
            raise InputError(f"input shape {'x'.join(map(str, self.inputs)) or '()'}: every size must be at least 1")
        if self.outputs < 1:
            raise InputError(f"outputs {self.outputs}: at least 1 is needed")

    def to_json(self) -> dict[str, Any]:
        """Plain form for JSON and TOML."""
        return {"inputs": list(self.inputs), "outputs": self.outputs}

    @classmethod
    def from_json(cls, plain: Any) -> Task:
        """Inverse of `to_json`, checked."""
        try:
            return cls(tuple(plain["inputs"]), int(plain["outputs"]))
        except (TypeError, KeyError, ValueError) as error:
            raise InputError(f"task {plain!r}: expected {{'inputs': [3, 32, 32], 'outputs': 10}}") from error


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
        raise InputError(f"shape {text!r}: expected sizes joined by x, such as 3x32x32") from None
    return shape
