"""The three written forms of a DARTS architecture, read without running anything.

- the genotype of the DARTS code, which is what `str` writes:
  `Genotype(normal=[('sep_conv_3x3', 0), ...], normal_concat=range(2, 6), reduce=[...], reduce_concat=range(2, 6))`
- NAS-Bench-301's configuration, one entry for each active edge and for the inputs of nodes 3, 4 and 5:
  `{'NetworkSelectorDatasetInfo:darts:edge_normal_0': 'sep_conv_3x3', ..., '...:inputs_node_normal_3': '0_2', ...}`
- pairs `[[(input, operation index), ...], [...]]` of the normal and the reduction cell, eight each, indices as in `OPS`
"""

from __future__ import annotations

import ast
import re
from typing import Any

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.darts.cells import EDGES, KINDS, NODES, OPS, Architecture, Cell, Edge, within

_FIELDS = tuple(f"{kind}{part}" for kind in KINDS for part in ("", "_concat"))
_PREFIX = "NetworkSelectorDatasetInfo:darts:"
_LONGEST = 20_000
_EXAMPLE = (
    "Genotype(normal=[('sep_conv_3x3', 0), ...], normal_concat=range(2, 6), reduce=[...], reduce_concat=range(2, 6))"
)


def parse(text: str) -> Architecture:
    """Read any of the three forms; the error names the cell and the edge that are wrong."""
    plain = literal(text)
    if isinstance(plain, _Genotype):
        return _from_genotype(plain.fields)
    if isinstance(plain, dict):
        return _from_config(plain)
    if isinstance(plain, list):
        return _from_pairs(plain)
    raise InputError(f"architecture {text.strip()[:60]!r}: expected {_EXAMPLE}")


# -- literals -----------------------------------------------------------------------------------------------------------
class _Genotype:
    """The fields of a written `Genotype(...)`."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields


def literal(text: str, example: str = _EXAMPLE) -> Any:
    """The value of a Python literal of texts, whole numbers, lists, dicts, ranges and `Genotype(...)`. Nothing is run."""
    shown = text.strip()[:60]
    if not text.strip() or len(text) > _LONGEST:
        raise InputError(f"architecture of {len(text)} characters: expected 1 to {_LONGEST}, such as {example}")
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        where = f" at character {error.offset}" if error.offset else ""
        raise InputError(f"architecture {shown!r}: {error.msg}{where}; expected {example}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"architecture {shown!r}: unreadable; expected {example}") from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=int() | str() as value) if not isinstance(value, bool):
            return value
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part) for part in parts]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {str(_value(key)): _value(part) for key, part in zip(keys, values, strict=True) if key}
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(a)), ast.Constant(value=int(b))]):
            return list(range(a, min(b, a + 100)))
        case ast.Call(func=ast.Name(id="Genotype"), args=[], keywords=fields) if all(f.arg for f in fields):
            return _Genotype({str(field.arg): _value(field.value) for field in fields})
    raise InputError(f"architecture: {ast.unparse(node)[:60]!r} is no text, count, list, dict, range or Genotype(...)")


# -- the three forms ------------------------------------------------------------------------------------------------------
def _from_genotype(fields: dict[str, Any]) -> Architecture:
    for key in fields:
        if key not in _FIELDS:
            raise UnknownNameError("part of a genotype", key, _FIELDS)
    missing = [key for key in _FIELDS if key not in fields]
    if missing:
        raise InputError(f"genotype: {', '.join(missing)} missing; expected {_EXAMPLE}")
    return Architecture(*(_cell(kind, fields[kind], fields[f"{kind}_concat"]) for kind in KINDS))


def _cell(kind: str, edges: Any, concat: Any) -> Cell:
    if not isinstance(edges, list):
        raise InputError(f"{kind} cell: {edges!r}, expected a list such as [('sep_conv_3x3', 0), ('skip_connect', 1)]")
    for place, edge in enumerate(edges):
        match edge:
            case [str(), int()]:
                continue
        raise InputError(
            f"{kind} cell, edge {place}: {edge!r}, expected an operation and a node such as ('skip_connect', 0)"
        )
    if not isinstance(concat, list) or not all(isinstance(node, int) for node in concat):
        raise InputError(f"{kind} cell: joined nodes {concat!r}, expected range(2, 6) or a list of nodes")
    return _checked(kind, tuple((op, source) for op, source in edges), tuple(concat))


def _checked(kind: str, edges: tuple[Edge, ...], concat: tuple[int, ...] = NODES) -> Cell:
    try:
        return Cell(edges, concat)
    except UnknownNameError as error:
        raise UnknownNameError(f"{kind} cell, {error.kind}", error.name, error.known) from None
    except InputError as error:
        raise InputError(f"{kind} cell, {error}") from None


def _from_pairs(cells: list[Any]) -> Architecture:
    if len(cells) != len(KINDS):
        raise InputError(f"architecture of {len(cells)} cells: expected two lists of (input, operation index) pairs")
    read = []
    for kind, pairs in zip(KINDS, cells, strict=True):
        if not isinstance(pairs, list) or len(pairs) != 2 * len(NODES):
            raise InputError(f"{kind} cell: {pairs!r}, expected {2 * len(NODES)} pairs (input, operation index)")
        for place, pair in enumerate(pairs):
            match pair:
                case [int(), int(op)] if 0 <= op < len(OPS):
                    continue
            raise InputError(
                f"{kind} cell, edge {place}: {pair!r}, expected (input, operation index), the index 0 to {len(OPS) - 1}"
            )
        read.append(_checked(kind, tuple((OPS[op], source) for source, op in pairs)))
    return Architecture(*read)


def _from_config(config: dict[str, Any]) -> Architecture:
    entries = {key.removeprefix(_PREFIX): value for key, value in config.items()}
    known = [f"edge_{kind}_{place}" for kind in KINDS for place in range(len(EDGES))]
    known += [f"inputs_node_{kind}_{node}" for kind in KINDS for node in NODES[1:]]
    for key in entries:
        if key not in known:
            raise UnknownNameError("NAS-Bench-301 entry", key, known)
    read = []
    for kind in KINDS:
        edges: list[Edge] = []
        for node in NODES:
            key = f"inputs_node_{kind}_{node}"
            inputs = "0_1" if node == NODES[0] else entries.pop(key, None)
            match = re.fullmatch(r"(\d)_(\d)", str(inputs))
            sources = [int(source) for source in match.groups()] if match else []
            if not match or not sources[0] < sources[1] < node:
                raise InputError(f"NAS-Bench-301 entry {key}: {inputs!r}, expected two inputs below {node} such as 0_1")
            for source in sources:
                key = f"edge_{kind}_{EDGES.index((source, node))}"
                if key not in entries:
                    raise InputError(f"NAS-Bench-301 entry {key} missing: the operation from node {source} to {node}")
                edges.append((str(entries.pop(key)), source))
        read.append(_checked(kind, tuple(edges)))
    if entries:
        raise InputError(f"NAS-Bench-301 entry {min(entries)}: that edge is not among the inputs of its node")
    return Architecture(*read)


def to_config(architecture: Architecture) -> dict[str, str]:
    """NAS-Bench-301's configuration of an architecture of the space."""
    config = {}
    for kind in KINDS:
        for node, pair in _within(architecture[kind]).nodes:
            for op, source in pair:
                config[f"{_PREFIX}edge_{kind}_{EDGES.index((source, node))}"] = op
            if node != NODES[0]:
                inputs = sorted(source for _, source in pair)
                config[f"{_PREFIX}inputs_node_{kind}_{node}"] = "_".join(map(str, inputs))
    return config


def to_pairs(architecture: Architecture) -> list[list[tuple[int, int]]]:
    """(input, operation index) pairs of an architecture of the space."""
    return [[(source, OPS.index(op)) for op, source in _within(architecture[kind]).edges] for kind in KINDS]


def _within(cell: Cell) -> Cell:
    if not within(cell):
        raise InputError(f"the cell lies outside the DARTS space and has no such form: {list(cell.edges)}")
    return cell
