"""A NAS-Bench-101 cell: its text, its matrix, what of it matters, and the published hash that is its identity.

    conv1x1@0+conv3x3@0+conv3x3@0+conv3x3@3+maxpool3x3@0+output@1,2,4,5

Vertex 0 is the input. Each further vertex is written as its operation and the vertices it reads; the last is the output.
A vertex that reads nothing is written `conv1x1@-`. The benchmark itself writes a matrix and a list of labels:
`Architecture.from_matrix` reads that, `spec` gives it back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foresee.errors import InputError, UnknownNameError, shown

#: in the benchmark's order: the labels 0, 1, 2
OPS = ("conv3x3", "conv1x1", "maxpool3x3")
#: our name to the benchmark's
PUBLISHED = {"conv3x3": "conv3x3-bn-relu", "conv1x1": "conv1x1-bn-relu", "maxpool3x3": "maxpool3x3"}
MAX_VERTICES = 7
MAX_EDGES = 9

#: every way in which an operation is written: our name, the benchmark's, its label, a letter of a table
_ALIASES: dict[object, str] = {
    **{name: name for name in OPS},
    **{published: name for name, published in PUBLISHED.items()},
    **dict(enumerate(OPS)),
    **{"3": "conv3x3", "1": "conv1x1", "m": "maxpool3x3"},
}
_EXAMPLE = "conv3x3@0+conv3x3@1+output@0,2"
_INPUT_LABEL, _OUTPUT_LABEL = -1, -2

Parents = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Architecture:
    """A cell, as it was given: vertices that do not lie between input and output are allowed, and left out by `pruned`.

    Args:
        ops: operation of each interior vertex, in order.
        parents: for each interior vertex, then for the output, the vertices it reads, ascending.
    """

    ops: tuple[str, ...]
    parents: Parents

    def __post_init__(self) -> None:
        vertices = len(self.ops) + 2
        if vertices > MAX_VERTICES:
            raise InputError(f"cell of {vertices} vertices with input and output: at most {MAX_VERTICES}")
        if len(self.parents) != vertices - 1:
            raise InputError(
                f"cell of {len(self.ops)} operations: parents of {len(self.parents)} vertices, expected "
                f"{vertices - 1} (each operation and the output)"
            )
        for vertex, op in enumerate(self.ops, 1):
            if op not in PUBLISHED:
                raise UnknownNameError(f"operation of vertex {vertex}", str(op), OPS)
        for vertex, parents in enumerate(self.parents, 1):
            if list(parents) != sorted({p for p in parents if 0 <= p < vertex}):
                raise InputError(
                    f"cell, vertex {vertex}: reads {parents}, expected different vertices below {vertex}, ascending"
                )
        used = in_use(self.parents)
        if not used:
            raise InputError(f"cell {self}: no path leads from the input to the output")
        edges = sum(p in used for vertex in used[1:] for p in self.parents[vertex - 1])
        if edges > MAX_EDGES:
            raise InputError(f"cell {self}: {edges} edges between input and output, at most {MAX_EDGES}")

    def __str__(self) -> str:
        return "+".join(
            f"{name}@{','.join(map(str, parents)) or '-'}"
            for name, parents in zip((*self.ops, "output"), self.parents, strict=True)
        )

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Inverse of `str`; the benchmark's own names of operations are understood too."""
        parts = text.strip().split("+")
        ops, parents = [], []
        for vertex, part in enumerate(parts, 1):
            name, mark, sources = (piece.strip() for piece in part.partition("@"))
            if not mark:
                raise InputError(
                    f"cell, vertex {vertex}: {part!r} has no @; expected operation@vertices, such as {_EXAMPLE}"
                )
            if (name == "output") != (vertex == len(parts)):
                raise InputError(
                    f"cell, vertex {vertex}: {name!r}, but the last vertex, and only it, is the output: {_EXAMPLE}"
                )
            if vertex < len(parts):
                ops.append(_operation(name, vertex))
            parents.append(_sources(sources, vertex))
        return cls(tuple(ops), tuple(parents))

    # -- the benchmark's own form -------------------------------------------------------------------------------------
    @classmethod
    def from_matrix(cls, matrix: str | Sequence[Any], ops: str | Sequence[Any]) -> Architecture:
        """From an adjacency matrix and operations, in any form in which they are in circulation.

        Args:
            matrix: rows of 0 and 1 (row i, column j: an edge from i to j); or the digits of all rows, or of the part
                above the diagonal, as one text.
            ops: names, or labels 0, 1, 2 (with or without those of input and output), or one letter each (`31m`).

        >>> str(Architecture.from_matrix([[0, 1, 1], [0, 0, 1], [0, 0, 0]], ["input", "conv3x3-bn-relu", "output"]))
        'conv3x3@0+output@0,1'
        >>> str(Architecture.from_matrix("111", "3"))
        'conv3x3@0+output@0,1'
        """
        given = list(ops)
        if given and given[0] in ("input", _INPUT_LABEL) and given[-1] in ("output", _OUTPUT_LABEL):
            given = given[1:-1]
        rows = _rows(matrix, len(given) + 2)
        for i, row in enumerate(rows):
            for j, edge in enumerate(row[: i + 1]):
                if edge:
                    raise InputError(f"matrix, row {i}, column {j}: an edge must lead to a later vertex")
        return cls(
            tuple(_operation(op, vertex) for vertex, op in enumerate(given, 1)),
            tuple(tuple(i for i in range(j) if rows[i][j]) for j in range(1, len(rows))),
        )

    @property
    def matrix(self) -> tuple[tuple[int, ...], ...]:
        """Upper-triangular adjacency matrix: row i, column j is 1 where j reads i."""
        size = len(self.parents) + 1
        return tuple(tuple(int(j > 0 and i in self.parents[j - 1]) for j in range(size)) for i in range(size))

    @property
    def labels(self) -> list[int]:
        """The benchmark's labels: -1 for the input, 0 to 2 for operations, -2 for the output."""
        return [_INPUT_LABEL, *map(OPS.index, self.ops), _OUTPUT_LABEL]

    def spec(self) -> tuple[list[list[int]], list[str]]:
        """Matrix and operations as the benchmark's interface takes them."""
        return [list(row) for row in self.matrix], ["input", *(PUBLISHED[op] for op in self.ops), "output"]

    # -- what matters -------------------------------------------------------------------------------------------------
    @property
    def pruned(self) -> Architecture:
        """The cell without the vertices that do not lie on a path from input to output."""
        return _pruned(self)

    @property
    def normal(self) -> Architecture:
        """The pruned cell with its vertices numbered as the benchmark numbers them; equal for isomorphic cells.

        Widths inside a network depend on the numbering by a channel here and there, so networks are built from this form:
        cells of one identity then have one network, and its counts are the published ones.
        """
        return _normal(self.pruned)

    @property
    def hash(self) -> str:
        """The benchmark's key of this cell: equal for isomorphic cells, and blind to what is pruned."""
        return _hash_of(self.pruned)


@lru_cache(maxsize=8192)
def _pruned(cell: Architecture) -> Architecture:
    used = in_use(cell.parents)
    if len(used) == len(cell.parents) + 1:
        return cell
    place = {vertex: new for new, vertex in enumerate(used)}
    return Architecture(
        tuple(cell.ops[vertex - 1] for vertex in used[1:-1]),
        tuple(tuple(place[p] for p in cell.parents[vertex - 1] if p in place) for vertex in used[1:]),
    )


@lru_cache(maxsize=8192)
def _hash_of(cell: Architecture) -> str:
    return published_hash(cell.matrix, cell.labels)


@lru_cache(maxsize=8192)
def _normal(cell: Architecture) -> Architecture:
    """Of all numberings the one of smallest code, then of smallest labels: the first that the benchmark's listing meets."""
    edges = [(p, v) for v, read in enumerate(cell.parents, 1) for p in read]
    labels = cell.labels
    best = min(
        (
            sum(1 << edge_bit(new[p], new[v]) for p, v in edges),
            [label for _, label in sorted(zip(new, labels, strict=True))],
        )
        for new in _numberings(cell.parents)
    )
    return Architecture(tuple(OPS[label] for label in best[1][1:-1]), decode(best[0], len(labels)))


def _numberings(parents: Parents) -> Iterator[list[int]]:
    """Every way to number the vertices so that each comes after those it reads: new number by old."""
    last = len(parents)
    new = [0] * last + [last]

    def place(number: int) -> Iterator[list[int]]:
        if number == last:
            yield new
            return
        for vertex in range(1, last):
            if not new[vertex] and all(p == 0 or new[p] for p in parents[vertex - 1]):
                new[vertex] = number
                yield from place(number + 1)
                new[vertex] = 0

    return place(1)


def edge_bit(source: int, target: int) -> int:
    """Place of an edge in a code: a matrix as one number. The benchmark lists matrices in the order of their codes."""
    return target * (target - 1) // 2 + source


def decode(code: int, vertices: int) -> Parents:
    """Parents of each vertex from a code.

    >>> decode(0b101, 3)
    ((0,), (1,))
    """
    return tuple(tuple(i for i in range(j) if code >> edge_bit(i, j) & 1) for j in range(1, vertices))


def in_use(parents: Parents) -> list[int]:
    """The vertices on a path from the input to the output, ascending; none where there is no path.

    >>> in_use(((0,), (), (1,)))
    [0, 1, 3]
    """
    last = len(parents)
    reached = [True]
    for sources in parents:
        reached.append(any(reached[p] for p in sources))
    wanted = {last} if reached[last] else set()
    for vertex in range(last, 0, -1):
        if vertex in wanted:
            wanted.update(p for p in parents[vertex - 1] if reached[p])
    return sorted(wanted)


def published_hash(matrix: Sequence[Sequence[int]], labels: Sequence[int]) -> str:
    """NAS-Bench-101's hash of a pruned graph with labelled vertices; isomorphic graphs have the same.

    Each vertex starts from the md5 of its degrees and label, then takes in its neighbours' hashes as often as there are
    vertices; the sorted hashes of all vertices are hashed again. Degrees and labels enter as plain Python integers.

    >>> published_hash([[0, 1], [0, 0]], [-1, -2])
    '043721b9c7fe8c5fad811d47d83132ec'
    """
    size = range(len(labels))
    into = [[w for w in size if matrix[w][v]] for v in size]
    out_of = [[w for w in size if matrix[v][w]] for v in size]
    hashes = [_md5(str((len(out_of[v]), len(into[v]), int(labels[v])))) for v in size]
    for _ in size:
        hashes = [_md5(f"{_joined(hashes, into[v])}|{_joined(hashes, out_of[v])}|{hashes[v]}") for v in size]
    return _md5(str(sorted(hashes)))


def _joined(hashes: Sequence[str], vertices: Iterable[int]) -> str:
    return "".join(sorted(hashes[v] for v in vertices))


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


# -- reading ----------------------------------------------------------------------------------------------------------
def _operation(name: Any, vertex: int) -> str:
    key = name if isinstance(name, str) else int(name)
    if key not in _ALIASES:
        raise UnknownNameError(f"operation of vertex {vertex}", str(name), OPS)
    return _ALIASES[key]


def _sources(text: str, vertex: int) -> tuple[int, ...]:
    if text == "-":
        return ()
    sources = text.split(",")
    for source in sources:
        if not (source.isascii() and source.isdigit() and len(source) < 10 and int(source) < vertex):
            raise InputError(
                f"cell, vertex {vertex}: reads {shown(source)}, expected vertices below {vertex} joined by commas, or -"
            )
    if len(set(map(int, sources))) < len(sources):
        raise InputError(f"cell, vertex {vertex}: reads {text}, where a vertex occurs twice")
    return tuple(sorted(map(int, sources)))


def _rows(matrix: str | Sequence[Any], size: int) -> list[list[int]]:
    """Any form of the matrix as rows of 0 and 1."""
    if not isinstance(matrix, str):
        rows = [[int(edge) for edge in row] for row in matrix]
        if [len(row) for row in rows] != [size] * size:
            raise InputError(
                f"matrix of {len(rows)} rows of {sorted({len(row) for row in rows})}: expected {size} x {size} for "
                f"{size - 2} operations"
            )
        if not {edge for row in rows for edge in row} <= {0, 1}:
            raise InputError("matrix: expected entries 0 and 1 only")
        return rows
    above = size * (size - 1) // 2
    if not set(matrix) <= {"0", "1"} or len(matrix) not in (above, size * size):
        raise InputError(
            f"matrix {matrix!r}: expected {size * size} digits 0 or 1, or the {above} above the diagonal, for "
            f"{size - 2} operations"
        )
    digits = [int(digit) for digit in matrix]
    if len(digits) == size * size:
        return [digits[i * size : (i + 1) * size] for i in range(size)]
    numbers = iter(digits)
    return [[next(numbers) if j > i else 0 for j in range(size)] for i in range(size)]
