"""Eight layers, their text, and which texts mean one network."""

from __future__ import annotations

from dataclasses import dataclass

from foresee.errors import InputError, UnknownNameError

#: a layer's digit is its place; expansion and kernel of the bottlenecks
OPS = ("identity", "e3k3", "e6k5")
BOTTLENECKS = {"e3k3": (3, 3), "e6k5": (6, 5)}
#: layers of the three stages
STAGES = (2, 3, 3)
LAYERS = sum(STAGES)
#: layers that begin a stage: they halve the map and double the channels
FIRST = frozenset(sum(STAGES[:stage]) for stage in range(len(STAGES)))


@dataclass(frozen=True)
class Architecture:
    """What each of the eight layers is. Its `str` is the benchmark's text.

    >>> str(Architecture(("identity",) * 7 + ("e6k5",)))
    '00000002'
    """

    ops: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.ops) != LAYERS:
            raise InputError(f"{len(self.ops)} layers: expected {LAYERS}")
        for number, op in enumerate(self.ops, 1):
            if op not in OPS:
                raise UnknownNameError(f"operation of layer {number}", str(op), OPS)

    def __str__(self) -> str:
        return "".join(str(OPS.index(op)) for op in self.ops)

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Inverse of `str`; the error names the layer that is wrong."""
        digits = text.strip()
        for number, digit in enumerate(digits, 1):
            if digit not in "012":
                raise InputError(f"layers {text[:60]!r}, layer {number}: {digit!r}, expected 0, 1 or 2")
        if len(digits) != LAYERS:
            raise InputError(
                f"layers {text[:60]!r}: {len(digits)} digits, expected {LAYERS}, such as 01201201 (read them as text: "
                "leading zeros count)"
            )
        return cls(tuple(OPS[int(digit)] for digit in digits))


def canonical(architecture: Architecture) -> str:
    """The text of the network that is computed: behind a stage's first layer identities do nothing, so they come last.

    The benchmark trained one network for all texts of a class, 3,969 in all.
    """
    text, parts, start = str(architecture), [], 0
    for length in STAGES:
        first, others = text[start], text[start + 1 : start + length]
        parts.append(first + others.replace("0", "").ljust(length - 1, "0"))
        start += length
    return "".join(parts)
