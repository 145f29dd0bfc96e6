"""Single things as they were found: a tensor, an array, a state that can be read and set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from operator import eq
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch._utils import _flatten_dense_tensors
from torch.nn.parameter import is_lazy

#: numbers in a tensor up to which copying it costs less than asking for the copy
_SMALL = 1 << 15


class Found(Protocol):
    """Something that can be put back."""

    def restore(self) -> None:
        """As it was."""


@dataclass(eq=False)
class Facts:
    """What many tensors are, beside their numbers, a column for each fact: all of a column are compared at once."""

    trained: list[bool]
    leaf: list[bool]
    shape: list[torch.Size]
    dtype: list[torch.dtype]
    pointer: list[int]
    grad: list[int]
    hooks: list[dict[int, Any] | None]

    @classmethod
    def of(cls, tensors: Sequence[Tensor]) -> Facts:
        """As they are now."""
        leaf = [t.is_leaf for t in tensors]
        return cls(
            [t.requires_grad for t in tensors],
            leaf,
            [t.shape for t in tensors],
            [t.dtype for t in tensors],
            [t.data_ptr() if t.layout is torch.strided else 0 for t in tensors],
            [id(t.grad) if own else 0 for t, own in zip(tensors, leaf, strict=True)],  # asking any other warns
            [hooks.copy() if (hooks := t._backward_hooks) else None for t in tensors],
        )

    def others(self, now: Facts) -> set[int]:
        """Where they differ."""
        both = [
            (one, other) for one, other in zip(vars(self).values(), vars(now).values(), strict=True) if one != other
        ]
        return {
            place for columns in both for place, (one, other) in enumerate(zip(*columns, strict=True)) if one != other
        }


@dataclass(eq=False)
class FoundTensor:
    """A tensor with what was found: where its numbers were and what they were (None: not copied), its gradient and hooks."""

    tensor: Tensor
    trained: bool
    leaf: bool
    place: Tensor | None
    numbers: Tensor | None
    grad: Tensor | None
    hooks: dict[int, Any] | None

    def restore(self) -> None:
        """Numbers first: a tensor that got a history while it was written into is without one again before the rest."""
        tensor, place = self.tensor, self.place
        if self.leaf and not tensor.is_leaf:
            tensor.detach_()
        if place is not None and self.numbers is not None:
            if tensor.shape != place.shape or tensor.dtype != place.dtype or _pointer(tensor) != _pointer(place):
                tensor.data = place
            _write(tensor, self.numbers)
        if tensor.requires_grad != self.trained:
            tensor.requires_grad_(self.trained)
        if self.leaf and tensor.grad is not self.grad:
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

    def __init__(self, tensors: Iterable[Tensor], *, copied: bool) -> None:
        self._tensors = [tensor for tensor in tensors if not is_lazy(tensor)]
        self._facts = Facts.of(self._tensors)
        self._grads = [t.grad if leaf else None for t, leaf in zip(self._tensors, self._facts.leaf, strict=True)]
        self._places: dict[int, Tensor] = {}
        self._single: dict[int, Tensor] = {}
        self._together: list[_Together] = []
        if copied:
            self._copy()

    def _copy(self) -> None:
        kinds: dict[tuple[torch.dtype, torch.device, torch.layout], list[int]] = {}
        single: list[int] = []
        for index, tensor in enumerate(self._tensors):
            few = tensor.numel() <= _SMALL
            (kinds.setdefault((tensor.dtype, tensor.device, tensor.layout), []) if few else single).append(index)
        for which in kinds.values():
            tensors = [self._tensors[index] for index in which]
            if (
                len(which) > 1
                and tensors[0].layout is torch.strided
                and not (tensors[0].is_meta or tensors[0].is_quantized)
            ):
                self._together.append(_Together(tensors, which))
            else:
                single += which
        self._places = {index: tensor.detach() for index, tensor in enumerate(self._tensors)}
        self._single = {index: self._places[index].clone() for index in single}

    def changed(self) -> Iterator[Found]:
        """What is to be put back; NaN is never equal, and taken for a change."""
        with torch.no_grad():
            around = self._facts.others(Facts.of(self._tensors))
            numbers = {i: one for i, one in self._single.items() if i in around or not _equal(self._tensors[i], one)}
            for together in self._together:
                copies = together.changed(around)
                numbers |= {i: copies.pop(i) for i in around if i in copies}
                if copies:
                    yield FoundNumbers([self._tensors[i] for i in copies], list(copies.values()))
            for i in sorted({*numbers, *around}):
                before = self._facts.trained[i], self._facts.leaf[i], self._places.get(i), numbers.get(i)
                yield FoundTensor(self._tensors[i], *before, self._grads[i], self._facts.hooks[i])


class _Together:
    """The numbers of small tensors of one type, one after the other; `which` are their places in the list of all."""

    def __init__(self, tensors: Sequence[Tensor], which: Sequence[int]) -> None:
        self._tensors, self._which, self._shapes = tensors, which, [tensor.shape for tensor in tensors]
        self._numbers = self._now()

    def _now(self) -> Tensor:
        with torch.no_grad():
            flat: Tensor = _flatten_dense_tensors(self._tensors)  # type: ignore[no-untyped-call]
        return flat

    def changed(self, around: Set[int]) -> dict[int, Tensor]:
        """What the numbers of those were that are others now; of all, where something is not what it was `around` them."""
        if not around.isdisjoint(self._which):
            return dict(self._copies())
        where = (self._now() != self._numbers).nonzero().flatten()
        if not len(where):
            return {}
        ends = torch.tensor([shape.numel() for shape in self._shapes], device=where.device).cumsum(0)
        wrong = {self._which[i] for i in torch.searchsorted(ends, where, right=True).tolist()}
        return {i: numbers for i, numbers in self._copies() if i in wrong}

    def _copies(self) -> Iterator[tuple[int, Tensor]]:
        parts = torch.split_with_sizes(self._numbers, [shape.numel() for shape in self._shapes])
        return ((i, part.view(shape)) for i, part, shape in zip(self._which, parts, self._shapes, strict=True))


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
