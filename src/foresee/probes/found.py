"""Single things as they were found: a tensor, an array, a state that can be read and set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from torch.nn.parameter import is_lazy

#: numbers in a tensor up to which copying it costs less than asking for the copy
_SMALL = 1 << 15


class Found(Protocol):
    """Something that can be put back."""

    def restore(self) -> None:
        """As it was."""


#: what is compared beside the numbers: requires_grad, whether it is a leaf, where it is in memory, which gradient it has
Facts = tuple[bool, bool, int, int]


@dataclass(eq=False)
class FoundTensor:
    """A tensor with what was found: where its numbers were and what they were (None: not copied), its gradient and hooks."""

    tensor: Tensor
    facts: Facts
    place: Tensor | None
    grad: Tensor | None
    hooks: dict[int, Any] | None
    numbers: Tensor | None = None

    def restore(self) -> None:
        """Numbers first: a tensor that got a history while it was written into is without one again before the rest."""
        tensor, (requires_grad, leaf, pointer, _) = self.tensor, self.facts
        if leaf and not tensor.is_leaf:
            tensor.detach_()
        if self.place is not None and self.numbers is not None:
            if tensor.shape != self.place.shape or tensor.dtype != self.place.dtype or _pointer(tensor) != pointer:
                tensor.data = self.place
            _write(tensor, self.numbers)
        if tensor.requires_grad != requires_grad:
            tensor.requires_grad_(requires_grad)
        if leaf and tensor.grad is not self.grad:
            tensor.grad = self.grad
        if tensor._backward_hooks != self.hooks:
            tensor._backward_hooks = self.hooks

    def __str__(self) -> str:
        return f"a tensor of shape {tuple(self.tensor.shape)}"


class FoundNumbers:
    """Numbers of several tensors that are where they were, and are written back together."""

    def __init__(self, tensors: Sequence[Tensor], numbers: Sequence[Tensor]) -> None:
        self._tensors, self._numbers = tensors, numbers

    def restore(self) -> None:
        """All at once, or one by one where torch does not like that; each is tried."""
        try:
            torch._foreach_copy_([tensor.data for tensor in self._tensors], list(self._numbers))
        except RuntimeError:
            errors = [error for both in zip(self._tensors, self._numbers, strict=True) if (error := _tried(*both))]
            if errors:
                raise errors[0] from None

    def __str__(self) -> str:
        return "the numbers of a tensor"


class FoundTensors:
    """Many tensors, their numbers `copied` or not. Small ones, often hundreds, are copied and compared at once."""

    def __init__(self, tensors: Sequence[Tensor], *, copied: bool) -> None:
        self._tensors = tensors = [tensor for tensor in tensors if not is_lazy(tensor)]
        self._grads = [tensor.grad if tensor.is_leaf else None for tensor in tensors]
        self._facts, self._hooks = _facts(tensors), _hooks(tensors)
        self._places: Sequence[Tensor | None] = [None] * len(tensors)
        self._single: dict[int, Tensor] = {}
        self._copies: list[_Copies] = []
        if copied:
            self._places = places = [tensor.detach() for tensor in tensors]
            self._copy(places)

    def _copy(self, places: Sequence[Tensor]) -> None:
        kinds: dict[tuple[torch.dtype, torch.device], list[int]] = {}
        for index, tensor in enumerate(self._tensors):
            if (
                tensor.numel() <= _SMALL
                and tensor.layout is torch.strided
                and not (tensor.is_meta or tensor.is_quantized)
            ):
                kinds.setdefault((tensor.dtype, tensor.device), []).append(index)
            else:
                self._single[index] = places[index].clone()
        with torch.no_grad():
            self._copies = [_Copies(self._tensors, places, which) for which in kinds.values()]

    def changed(self) -> Iterator[Found]:
        """What is to be put back; NaN is never equal, and taken for a change."""
        with torch.no_grad():
            around = {*_others(self._facts, _facts(self._tensors)), *_others(self._hooks, _hooks(self._tensors))}
            around.update(*(copies.reshaped() for copies in self._copies))
            numbers = {i: one for i, one in self._single.items() if i in around or not _equal(self._tensors[i], one)}
            for copies in self._copies:
                copied = copies.of([*copies.different(), *around])
                numbers |= {i: copied.pop(i) for i in around if i in copied}
                if copied:
                    yield FoundNumbers([self._tensors[i] for i in copied], list(copied.values()))
            for i in sorted({*numbers, *around}):
                found = self._facts[i], self._places[i], self._grads[i], self._hooks[i], numbers.get(i)
                yield FoundTensor(self._tensors[i], *found)


class _Copies:
    """The numbers of small tensors of one type, one after the other; `which` are their places in the list of all."""

    def __init__(self, tensors: Sequence[Tensor], places: Sequence[Tensor], which: Sequence[int]) -> None:
        self._tensors, self._places, self._which = [tensors[i] for i in which], [places[i] for i in which], which
        self._shapes = [place.shape for place in self._places]
        self._numbers = self._now() if len(which) > 1 else self._now().clone()  # of a single one it is no copy

    def _now(self) -> Tensor:
        flat: Tensor = _flatten_dense_tensors(self._tensors)  # type: ignore[no-untyped-call]
        return flat

    def reshaped(self) -> list[int]:
        """Those whose shape or type is another now."""
        dtype = self._numbers.dtype
        if [t.shape for t in self._tensors] == self._shapes and all(t.dtype == dtype for t in self._tensors):
            return []
        three = zip(self._which, self._tensors, self._shapes, strict=True)
        return [i for i, tensor, shape in three if tensor.shape != shape or tensor.dtype != dtype]

    def different(self) -> list[int]:
        """Those whose numbers are others now; all, where shapes or types are."""
        if self.reshaped():
            return list(self._which)
        places = (self._now() != self._numbers).nonzero().flatten()
        if not len(places):
            return []
        ends = torch.tensor([shape.numel() for shape in self._shapes], device=places.device).cumsum(0)
        return [self._which[i] for i in sorted(set(torch.searchsorted(ends, places, right=True).tolist()))]

    def of(self, wanted: Collection[int]) -> dict[int, Tensor]:
        """The copies of those that are wanted."""
        if not wanted:
            return {}
        among = set(wanted)
        return {i: part for i, part in zip(self._which, self._parts(), strict=True) if i in among}

    def _parts(self) -> Sequence[Tensor]:
        parts: Sequence[Tensor] = _unflatten_dense_tensors(self._numbers, self._places)  # type: ignore[no-untyped-call]
        return parts


class FoundArray:
    """The numbers of a numpy array."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array, self.values = array, array.copy()

    def restore(self) -> None:
        """Written back where they were."""
        if self.array.shape != self.values.shape:
            self.array.resize(self.values.shape, refcheck=False)
        if self.array.flags.writeable:
            np.copyto(self.array, self.values)

    def __str__(self) -> str:
        return f"an array of shape {self.values.shape}"


class FoundValue:
    """Any value that can be read and set; set again where it is not the `same`."""

    def __init__(
        self, value: Any, read: Callable[[], Any], put: Callable[[Any], Any], same: Callable[[Any, Any], bool] = eq
    ) -> None:
        self.value, self._read, self._put, self._same = value, read, put, same

    def restore(self) -> None:
        """Set."""
        if not self._same(self._read(), self.value):
            self._put(self.value)

    def __str__(self) -> str:
        return f"a {type(self.value).__name__}"


def _facts(tensors: Iterable[Tensor]) -> list[Facts]:
    return [
        (
            t.requires_grad,
            leaf := t.is_leaf,
            t.data_ptr() if t.layout is torch.strided else 0,
            id(t.grad) if leaf else 0,
        )
        for t in tensors
    ]


def _hooks(tensors: Iterable[Tensor]) -> list[dict[int, Any] | None]:
    return [hooks.copy() if (hooks := t._backward_hooks) else None for t in tensors]


def _others(before: Sequence[Any], now: Sequence[Any]) -> list[int]:
    """Where two lists differ."""
    return [] if before == now else [i for i, (one, other) in enumerate(zip(before, now, strict=True)) if one != other]


def _pointer(tensor: Tensor) -> int:
    return tensor.data_ptr() if tensor.layout is torch.strided else 0


def _tried(tensor: Tensor, numbers: Tensor) -> Exception | None:
    try:
        _write(tensor, numbers)
    except Exception as error:
        return error
    return None


def _write(tensor: Tensor, numbers: Tensor) -> None:
    try:
        with torch.inference_mode() if tensor.is_inference() else torch.no_grad():
            # `data` leaves the version as it is; of a sparse tensor it is a copy.
            (tensor.data if tensor.layout is torch.strided else tensor).copy_(numbers)
    except RuntimeError:  # nothing can be written into a number that is many times there
        if not _same_bits(tensor, numbers):
            raise


def _equal(tensor: Tensor, numbers: Tensor) -> bool:
    if tensor.shape != numbers.shape or tensor.dtype != numbers.dtype:
        return False
    if tensor.is_meta:
        return True
    return all(map(torch.equal, _dense(tensor.detach()), _dense(numbers)))


def _dense(tensor: Tensor) -> tuple[Tensor, ...]:
    """The tensors that a sparse one is made of; any other as it is."""
    if tensor.layout is torch.sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return (tensor,)


def _same_bits(tensor: Tensor, numbers: Tensor) -> bool:
    """As equal, but NaN is equal to itself."""
    if _equal(tensor, numbers):
        return True
    if tensor.layout is not torch.strided or not (tensor.is_floating_point() or tensor.is_complex()):
        return False
    there = numbers == numbers
    return torch.equal(there, tensor == tensor) and torch.equal(tensor[there], numbers[there])
