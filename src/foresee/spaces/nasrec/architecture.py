"""What a NASRec architecture is: its blocks, its text, what of it reaches the logit, and its token.

Every block makes a dense output (B x width) and a sparse output (B x tokens x 16). Inputs are numbered: 0 is the raw input,
k is the output of block k; block number i (from 1) reads any of 0 .. i-1. Only the last block goes to the logit.

The text has one part per block, joined by ` / `. A part names the dense operation with its width and inputs, the sparse
one the same, the two inputs of the binary operations where they are not both 0, and what is switched on:

>>> text = "linear2d:256@0 linear3d:48@0 interact / gate:64@0,1 transformer:16@1 pair@1,0 fm"
>>> str(Architecture.parse(text)) == text
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foresee.errors import InputError, UnknownNameError, shown

DENSE_OPS = ("linear2d", "dot", "gate", "sum")
SPARSE_OPS = ("transformer", "linear3d")
#: operations that read the pair (left, right) and not the dense inputs
BINARY_OPS = frozenset({"gate", "sum"})
GENES = ("dense_inputs", "sparse_inputs", "left", "right", "dense", "sparse", "dense_width", "sparse_width")
FLAGS = ("interact", "fm")

_EXAMPLE = "linear2d:256@0 linear3d:48@0 pair@0,0 interact fm"


@dataclass(frozen=True)
class Block:
    """One choice block.

    Attributes:
        dense: operation that makes the dense output, `dense_width` wide, from `dense_inputs`.
        sparse: operation that makes the sparse output of `sparse_width` tokens from `sparse_inputs`.
        left: first input of `gate` and `sum`; the others do not read it.
        right: second input of `gate` and `sum`.
        interact: the dense output becomes eight more tokens of the sparse one.
        fm: a factorisation machine of the sparse output is added to the dense one.
    """

    dense: str
    dense_width: int
    dense_inputs: tuple[int, ...]
    sparse: str
    sparse_width: int
    sparse_inputs: tuple[int, ...]
    left: int = 0
    right: int = 0
    interact: bool = False
    fm: bool = False

    def __str__(self) -> str:
        words = [
            f"{self.dense}:{self.dense_width}@{_join(self.dense_inputs)}",
            f"{self.sparse}:{self.sparse_width}@{_join(self.sparse_inputs)}",
        ]
        if (self.left, self.right) != (0, 0):
            words.append(f"pair@{self.left},{self.right}")
        return " ".join(words + [flag for flag in FLAGS if getattr(self, flag)])

    @property
    def dense_reads(self) -> tuple[int, ...]:
        """The dense inputs that the dense operation reads."""
        return (self.left, self.right) if self.dense in BINARY_OPS else self.dense_inputs


@dataclass(frozen=True)
class Architecture:
    """Blocks in order; block i (from 1) reads inputs 0 .. i-1."""

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        if not self.blocks:
            raise InputError("architecture without blocks: at least one is needed")
        for number, block in enumerate(self.blocks, 1):
            _check(number, block)

    def __str__(self) -> str:
        return " / ".join(map(str, self.blocks))

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Inverse of `str`; the error names the block and the word that are wrong."""
        return cls(tuple(_parse_block(number, part) for number, part in enumerate(text.split("/"), 1)))


def _check(number: int, block: Block) -> None:
    for kind, op, known in (("dense", block.dense, DENSE_OPS), ("sparse", block.sparse, SPARSE_OPS)):
        if op not in known:
            raise UnknownNameError(f"{kind} operation of block {number}", op, known)
    for kind, inputs in (("dense", block.dense_inputs), ("sparse", block.sparse_inputs)):
        if not inputs or list(inputs) != sorted(set(inputs)):
            raise InputError(
                f"block {number}: {kind} inputs {_join(inputs)!r}, expected each once, ascending, at least one"
            )
    for read in {*block.dense_inputs, *block.sparse_inputs, block.left, block.right}:
        if not 0 <= read < number:
            raise InputError(f"block {number} reads input {read}: expected 0 to {number - 1} (0 is the raw input)")
    if block.dense_width < 1 or block.sparse_width < 1:
        raise InputError(f"block {number}: widths {block.dense_width} and {block.sparse_width}, expected at least 1")


def _parse_block(number: int, text: str) -> Block:
    words = text.split()
    if len(words) < 2:
        raise InputError(f"block {number}: {text.strip()!r} is too short, expected such as {_EXAMPLE!r}")
    dense, dense_width, dense_inputs = _parse_op(number, "dense", words[0])
    sparse, sparse_width, sparse_inputs = _parse_op(number, "sparse", words[1])
    rest, left, right = words[2:], 0, 0
    if rest and rest[0].startswith("pair"):
        pair = re.fullmatch(r"pair@(\d{1,9}),(\d{1,9})", rest[0])
        if not pair:
            raise InputError(
                f"block {number}: {shown(rest[0])}, expected the two inputs of gate and sum, such as pair@0,1"
            )
        left, right, rest = int(pair[1]), int(pair[2]), rest[1:]
    for flag in rest:
        if flag not in FLAGS:
            raise UnknownNameError(f"word in block {number}", flag, ("pair@0,1", *FLAGS))
    if rest != [flag for flag in FLAGS if flag in rest]:
        raise InputError(f"block {number}: {' '.join(rest)!r}, expected each word once, in the order {' '.join(FLAGS)}")
    return Block(
        *(dense, dense_width, dense_inputs, sparse, sparse_width, sparse_inputs, left, right),
        *(flag in rest for flag in FLAGS),
    )


def _parse_op(number: int, kind: str, word: str) -> tuple[str, int, tuple[int, ...]]:
    match = re.fullmatch(r"([a-z]\w*):(\d{1,9})@(\d{1,9}(?:,\d{1,9})*)", word)
    if not match:
        raise InputError(
            f"block {number}: {kind} part {shown(word)}, expected operation:width@inputs, such as linear2d:256@0,2"
        )
    return match[1], int(match[2]), tuple(int(read) for read in match[3].split(","))


def _join(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


# -- what reaches the logit -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Live:
    """Which parts of a block reach the logit, and so are computed.

    `output` says whether the dense output is read; `dense` also holds where it only becomes tokens of the sparse one.
    """

    output: bool
    dense: bool
    sparse: bool
    interact: bool
    fm: bool


def liveness(architecture: Architecture) -> tuple[tuple[Live, ...], bool]:
    """For each block what of it reaches the logit; and whether the embeddings do."""
    last = len(architecture.blocks)
    dense_read, sparse_read = {last}, {last}
    live: list[Live] = []
    for number, block in reversed(list(enumerate(architecture.blocks, 1))):
        output = number in dense_read
        fm = block.fm and output
        sparse = number in sparse_read or fm
        interact = block.interact and sparse
        dense = output or interact
        if dense:
            dense_read.update(block.dense_reads)
        if sparse or (dense and block.dense == "dot"):
            sparse_read.update(block.sparse_inputs)
        live.append(Live(output, dense, sparse, interact, fm))
    return tuple(reversed(live)), 0 in sparse_read


def genes_read(block: Block, live: Live) -> frozenset[str]:
    """The genes of a block that change the function, as far as it is alive."""
    read: set[str] = set()
    if live.dense:
        read |= {"dense", "dense_width"} | ({"left", "right"} if block.dense in BINARY_OPS else {"dense_inputs"})
    if live.sparse:
        read |= {"sparse", "sparse_width", "sparse_inputs", "interact"}
    if live.dense and block.dense == "dot":
        read.add("sparse_inputs")
    if live.output:
        read.add("fm")
    return frozenset(read)


# -- token ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Alphabet:
    """What the digits of a token stand for: operations and widths in the order of the space."""

    dense_ops: tuple[str, ...]
    sparse_ops: tuple[str, ...]
    dense_widths: tuple[int, ...]
    sparse_widths: tuple[int, ...]


def token(architecture: Architecture, alphabet: Alphabet, *, function: bool = False) -> str:
    """The published key: for each block the bits of dense inputs, sparse inputs, left and right; then for each block a
    bit per operation, the indices of the two widths, and interact and fm one-hot.

    With `function`, genes that cannot change the function are dashes, and the pair of the commutative `sum` is sorted:
    equal keys mean equal functions.
    """
    wires: list[str] = []
    choices: list[str] = []
    for block, live in zip(architecture.blocks, liveness(architecture)[0], strict=True):
        read = genes_read(block, live) if function else frozenset(GENES + FLAGS)
        left, right = block.left, block.right
        if function and block.dense == "sum":
            left, right = sorted((left, right))
        wires += _wires(block, left, right, read, len(architecture.blocks))
        choices += _choices(block, read, alphabet)
    return "".join(wires + choices)


def _wires(block: Block, left: int, right: int, read: frozenset[str], size: int) -> Iterator[str]:
    for gene, inputs in (
        ("dense_inputs", block.dense_inputs),
        ("sparse_inputs", block.sparse_inputs),
        ("left", (left,)),
        ("right", (right,)),
    ):
        yield "".join("01"[number in inputs] for number in range(size)) if gene in read else "-" * size


def _choices(block: Block, read: frozenset[str], alphabet: Alphabet) -> Iterator[str]:
    for gene, ops in (("dense", alphabet.dense_ops), ("sparse", alphabet.sparse_ops)):
        chosen = getattr(block, gene)
        yield "".join("01"[op == chosen] for op in ops) if gene in read else "-" * len(ops)
    for gene, widths in (("dense_width", alphabet.dense_widths), ("sparse_width", alphabet.sparse_widths)):
        yield str(widths.index(getattr(block, gene))) if gene in read else "-"
    for flag in FLAGS:
        yield ("01" if getattr(block, flag) else "10") if flag in read else "--"
