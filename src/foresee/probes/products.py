"""Products of weights and data, found in the graph of a run: what layers compute, however they are written.

A convolution or linear layer multiplies a weight with what the layer reads. A module is one way to write that; functions,
packed projections, layers of other libraries and recurrent cells are others. All of them leave the same nodes in the graph
that autograd keeps of a forward run, and such a node knows what it read, where its weight came from, and what comes back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

#: a node of the graph; torch has no public type for it
Node = Any
#: kinds of nodes that multiply: which of their inputs are multiplied, and what these are called in the node
_MULTIPLY = {
    "Mm": ((0, 1), ("self", "mat2")),
    "Addmm": ((1, 2), ("mat1", "mat2")),
    "Bmm": ((0, 1), ("self", "mat2")),
    "Baddbmm": ((1, 2), ("batch1", "batch2")),
    "Convolution": ((0, 1), ("input", "weight")),
}
#: kinds that only show a tensor in another form, or a part of it
_VIEWS = frozenset(
    "Alias AsStrided Chunk Clone Contiguous Copy Expand Narrow Permute ReshapeAlias Select Slice Split "  # noqa: SIM905
    "SplitWithSizes Squeeze T ToCopy Transpose Unbind UnsafeSplit UnsafeSplitWithSizes UnsafeView "
    "Unsqueeze View".split()
)
#: kinds that a weight may be computed with (weight norm, masks, scales): nothing here mixes in data
_COMPUTES = _VIEWS | frozenset(
    "Abs Add Clamp Div Dot Exp LinalgVectorNorm Log MaskedFill Mean Mul Mv Neg Norm Pow Rsqrt Sigmoid "  # noqa: SIM905
    "Softplus Sqrt Std Sub Sum Tanh Var Vdot Where WeightNormInterface".split()
)
#: kinds that look rows of a table up
_LOOK_UPS = frozenset(["Embedding", "EmbeddingBag", "EmbeddingDense", "Gather", "Index", "IndexSelect"])


@dataclass(frozen=True, eq=False)
class Use:
    """One node that multiplies a weight with data; `maps` makes (samples, channels, positions) of the gradient it gets."""

    node: Node
    weight: Tensor
    part: tuple[Any, ...]
    weights: int
    directions: float
    reads: Tensor
    maps: Callable[[Tensor], Tensor]


@dataclass(eq=False)
class Product:
    """A weight, or a part of one, and all its uses in the run: the steps of a recurrent layer are uses of one weight."""

    weight: Tensor
    weights: int
    directions: float
    uses: list[Use]

    @property
    def reads(self) -> Tensor:
        """What is multiplied with it: (samples, channels, positions of all uses)."""
        return torch.cat([use.reads for use in self.uses], dim=-1)


@dataclass(eq=False)
class Seen:
    """What the graph of a run shows: products, and the parameters that have an influence; `tables` are only looked up in."""

    products: list[Product] = field(default_factory=list)
    reached: dict[int, Tensor] = field(default_factory=dict)
    tables: set[int] = field(default_factory=set)


def products(outputs: Tensor, samples: int, among: Collection[Tensor]) -> Seen:
    """Products with the weights `among` others that the outputs depend on; `samples` is the size of the batch.

    >>> weight = torch.nn.Parameter(torch.randn(5, 3))
    >>> found = products(torch.randn(4, 7, 5) @ weight, 4, [weight]).products
    >>> [(one.directions, tuple(one.reads.shape)) for one in found]
    [(5.0, (4, 5, 7))]
    """
    wanted = {id(weight) for weight in among}
    seen = Seen()
    uses: dict[tuple[Any, ...], list[Use]] = {}
    for node, shape in _nodes(outputs):
        kind = _kind(node)
        if kind == "AccumulateGrad":
            seen.reached[id(node.variable)] = node.variable
        elif kind in _LOOK_UPS:
            seen.tables |= {id(found[0]) for edge in node.next_functions if (found := _weight(edge)) is not None}
        elif kind in _MULTIPLY:
            use = _use(node, kind, shape, samples)
            if use is not None and id(use.weight) in wanted:
                key = (id(use.weight), use.part, use.directions, use.reads.shape[:2])
                uses.setdefault(key, []).append(use)
    for several in uses.values():
        several.sort(key=lambda use: use.node._sequence_nr())
        seen.products.append(Product(several[0].weight, several[0].weights, several[0].directions, several))
    seen.products.sort(key=lambda one: one.uses[0].node._sequence_nr())  # in the order of the run
    return seen


def _nodes(outputs: Tensor) -> Iterator[tuple[Node, Sequence[int] | None]]:
    """Every node once, with the shape that a view gave to its result, if one did."""
    waiting: list[tuple[Node, Sequence[int] | None]] = [(outputs.grad_fn, None)]
    seen: set[Node] = set()
    while waiting:
        node, shape = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node, shape
        shown = node._input_metadata[0].shape if _kind(node) in ("View", "UnsafeView") else None
        waiting += [(following, shown) for following, _ in node.next_functions]


def _kind(node: Node) -> str:
    """What a node is: `Addmm` of `AddmmBackward0`.

    >>> _kind((torch.ones(1, requires_grad=True) * 2).grad_fn)
    'Mul'
    """
    return re.sub(r"Backward\w*$", "", node.name().rpartition("::")[2])


def _use(node: Node, kind: str, shape: Sequence[int] | None, samples: int) -> Use | None:
    """The product that a node is, or None where no weight takes part or what it read is not kept."""
    places, names = _MULTIPLY[kind]
    sides = [node.next_functions[place] for place in places]
    # Usually data comes first and the weight second; both may be made of parameters (learned positions are data).
    for side in (1, 0):
        found = _weight(sides[side])
        if found is not None:
            break
    else:
        return None
    data: Tensor | None = getattr(node, f"_saved_{names[1 - side]}")
    if data is None:
        return None
    weight, part, size, shared = found
    if kind == "Convolution":
        return (
            None if side == 0 else Use(node, weight, part, math.prod(size), _taps(node, size), data.flatten(2), _flat)
        )
    if side == 0:  # weight times data: the transposed of data times weight

        def rows(tensor: Tensor) -> Tensor:
            return _rows(tensor.mT, shared)
    else:

        def rows(tensor: Tensor) -> Tensor:
            return _rows(tensor, shared)

    def maps(tensor: Tensor) -> Tensor:
        return _by_sample(rows(tensor), shape, samples)

    weights = math.prod(size[-2:] if shared else size)
    return Use(node, weight, part, weights, float(size[-1] if side == 0 else size[-2]), maps(data), maps)


def _flat(maps: Tensor) -> Tensor:
    return maps.flatten(2)


def _taps(node: Node, size: Sequence[int]) -> float:
    """Directions that a filter of a convolution reads: as `exchanges.directions`.

    A transposed convolution with stride s lets only one in s positions of its kernel meet at a position of its output.
    """
    if not node._saved_transposed:
        return float(size[1] * math.sqrt(math.prod(size[2:])))
    met = [max(1.0, kernel / stride) for kernel, stride in zip(size[2:], node._saved_stride, strict=True)]
    return float(size[0] / node._saved_groups * math.sqrt(math.prod(met)))


def _rows(tensor: Tensor, shared: bool) -> Tensor:
    """(rows, channels) of a matrix, or of several; several with a weight each are groups of channels."""
    if tensor.ndim == 2:
        return tensor
    if shared or len(tensor) == 1:
        return tensor.flatten(0, 1)
    return tensor.transpose(0, 1).flatten(1)


def _by_sample(rows: Tensor, shape: Sequence[int] | None, samples: int) -> Tensor:
    """(rows, channels) as (samples, channels, positions); `shape` is what the network made of the result, if known."""
    channels = rows.shape[-1]
    leading = tuple(shape[:-1]) if shape is not None and math.prod(shape[:-1]) == len(rows) else (len(rows),)
    if leading[0] % samples and samples in leading:  # time first, as recurrent layers and attention have it
        axis = leading.index(samples)
        return rows.reshape(*leading, channels).movedim(axis, 0).reshape(samples, -1, channels).mT
    return rows.reshape(samples if len(rows) % samples == 0 else 1, -1, channels).mT


def _weight(edge: tuple[Node, int]) -> tuple[Tensor, tuple[Any, ...], Sequence[int], bool] | None:
    """The parameter that an input of a node is, is a part of, or is computed from alone.

    With which part it is, the shape it has there, and whether one weight is spread over a batch of matrices.
    """
    node, output = edge
    if node is None:
        return None
    size: Sequence[int] = node.variable.shape if _kind(node) == "AccumulateGrad" else node._input_metadata[output].shape
    part: list[Any] = []
    shared = False
    while (kind := _kind(node)) in _VIEWS:
        part.append(
            (kind, output, *(getattr(node, name, None) for name in ("_saved_dim", "_saved_index", "_saved_start")))
        )
        shared |= kind == "Expand"
        node, output = next(((n, o) for n, o in node.next_functions if n is not None), (None, 0))
        if node is None:
            return None
    weight = node.variable if kind == "AccumulateGrad" else _computed_from(node, math.prod(size))
    return None if weight is None or weight.ndim < 2 else (weight, tuple(part), size, shared)


def _computed_from(node: Node, count: int) -> Tensor | None:
    """The largest parameter below this node, if nothing but parameters is there and it has as many numbers."""
    waiting, seen, found = [node], set[Node](), list[Tensor]()
    while waiting:
        one = waiting.pop()
        if one is None or one in seen:
            continue
        seen.add(one)
        kind = _kind(one)
        if kind == "AccumulateGrad":
            found.append(one.variable)
        elif kind in _COMPUTES and len(seen) < 100:
            waiting += [following for following, _ in one.next_functions]
        else:
            return None
    largest = max(found, key=Tensor.numel, default=None)
    return largest if largest is not None and largest.numel() == count else None
