"""Architectures of TransNAS-Bench-101 and their text `64-<modules>-<cell>`.

A digit for each module says what its first cell does: 1 nothing, 2 doubles the channels, 3 halves the map, 4 both. The
`micro` space fixes the modules to 41414 and chooses the cell, six operations as `a_bc_def`; the `macro` space fixes the cell
to `basic` and chooses the modules. The 64 is the benchmark's width and part of the text whatever a space's width is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.four_nodes import EDGES

#: an operation's digit is its place
OPS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3")
MICRO_MODULES = "41414"
MACRO_CELL = "basic"
DOUBLES, HALVES = frozenset("24"), frozenset("34")
LENGTHS = (4, 5, 6)
_EXAMPLES = {"micro": "64-41414-3_33_333", "macro": "64-1234-basic"}


def _parts(text: str, kind: str) -> tuple[str, str]:
    """Modules and cell of a text."""
    parts = text.strip().split("-")
    if len(parts) != 3:
        raise InputError(
            f"architecture {text!r}: {len(parts)} parts, expected width, modules and cell joined by -, "
            f"such as {_EXAMPLES[kind]}"
        )
    if parts[0] != "64":
        raise InputError(f"architecture {text!r}: width {parts[0]!r}, expected 64, the benchmark's")
    return parts[1], parts[2]


@dataclass(frozen=True)
class MicroArchitecture:
    """A cell: the operation of each edge, in the order of NAS-Bench-201's edges.

    >>> str(MicroArchitecture.from_digits("102333"))
    '64-41414-1_02_333'
    """

    ops: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.ops) != len(EDGES):
            raise InputError(f"cell of {len(self.ops)} operations: expected {len(EDGES)}, one for each edge")
        for (source, target), op in zip(EDGES, self.ops, strict=True):
            if op not in OPS:
                raise UnknownNameError(f"operation on edge {source}->{target}", op, OPS)

    @property
    def modules(self) -> str:
        """The fixed modules of the micro space."""
        return MICRO_MODULES

    @property
    def digits(self) -> str:
        """The six digits of the cell."""
        return "".join(str(OPS.index(op)) for op in self.ops)

    def __str__(self) -> str:
        code = self.digits
        return f"64-{self.modules}-{code[0]}_{code[1:3]}_{code[3:]}"

    @classmethod
    def from_digits(cls, digits: str) -> MicroArchitecture:
        """A cell by its six digits alone, as tables give it."""
        if len(digits) != len(EDGES):
            raise InputError(f"cell {digits!r}: {len(digits)} digits, expected {len(EDGES)} (read them as text)")
        for digit, (source, target) in zip(digits, EDGES, strict=True):
            if digit not in "0123":
                raise InputError(f"cell {digits!r}, edge {source}->{target}: {digit!r}, expected a digit from 0 to 3")
        return cls(tuple(OPS[int(digit)] for digit in digits))

    @classmethod
    def parse(cls, text: str) -> MicroArchitecture:
        """Inverse of `str`; the error names the part that is wrong."""
        modules, cell = _parts(text, "micro")
        if modules != MICRO_MODULES:
            raise InputError(f"architecture {text!r}: modules {modules!r}, expected {MICRO_MODULES} in the micro space")
        nodes = cell.split("_")
        if len(nodes) != 3:
            raise InputError(f"cell {cell!r}: {len(nodes)} nodes, expected 3 joined by _, such as 3_33_333")
        for number, node in enumerate(nodes, 1):
            if len(node) != number:
                raise InputError(f"cell {cell!r}, node {number}: {len(node)} digits in {node!r}, expected {number}")
        return cls.from_digits("".join(nodes))


@dataclass(frozen=True)
class MacroArchitecture:
    """A skeleton: four to six modules, one to three of which double the channels and one to four halve the map.

    >>> MacroArchitecture("2311")
    MacroArchitecture(modules='2311')
    """

    modules: str

    def __post_init__(self) -> None:
        reason = trouble(self.modules)
        if reason:
            raise InputError(f"modules {self.modules!r}: {reason}")

    def __str__(self) -> str:
        return f"64-{self.modules}-{MACRO_CELL}"

    @classmethod
    def parse(cls, text: str) -> MacroArchitecture:
        """Inverse of `str`; the error names the part that is wrong."""
        modules, cell = _parts(text, "macro")
        if cell != MACRO_CELL:
            raise InputError(f"architecture {text!r}: cell {cell!r}, expected {MACRO_CELL} in the macro space")
        return cls(modules)


def trouble(modules: str) -> str | None:
    """Why these modules are not in the macro space, or None where they are."""
    for place, digit in enumerate(modules, 1):
        if digit not in "1234":
            return f"module {place} is {digit!r}, expected a digit from 1 to 4"
    if len(modules) not in LENGTHS:
        return f"{len(modules)} modules, expected 4 to 6"
    doubled, halved = (sum(digit in kind for digit in modules) for kind in (DOUBLES, HALVES))
    if not 1 <= doubled <= 3:
        return f"{doubled} of them double the channels (2 or 4), expected 1 to 3"
    if not 1 <= halved <= 4:
        return f"{halved} of them halve the map (3 or 4), expected 1 to 4"
    return None


@lru_cache(maxsize=1)
def all_modules() -> tuple[str, ...]:
    """The macro space: short skeletons first, then by digits."""
    return tuple(modules for length in LENGTHS for modules in _strings(length) if trouble(modules) is None)


def _strings(length: int) -> Iterator[str]:
    return map("".join, itertools.product("1234", repeat=length))


# -- identity -----------------------------------------------------------------------------------------------------------
def function_identity(cell: MicroArchitecture) -> str:
    """What the cell computes, as a sum of terms: `none` is zero and left out, sums of sums are flattened.

    In the cells that change the shape a skip from the cell's input is an operation of its own (a strided convolution), in
    the others the identity. Cells equal in the former are equal in the latter, so the former decide.
    """
    nodes: list[list[str]] = [["0"], [], [], []]
    for (source, target), op in zip(EDGES, cell.ops, strict=True):
        inner = nodes[source]
        if op == "none" or not inner:
            continue
        nodes[target] += inner if op == "skip_connect" and source else [f"({'+'.join(sorted(inner))})@{op}"]
    return "+".join(sorted(nodes[-1])) or "#"
