"""What people hand over to be looked at: tensors, arrays, encodings, loaders and data sets, as batches.

    as_batches(x)                          as_batches({"input_ids": ids, "attention_mask": mask, "labels": y})
    as_batches((x, y))                     as_batches(DataLoader(...), count=2)
    as_batches([x, y])                     as_batches(CIFAR10(...), count=2, size=128, seed=0)

A loader or a data set has more than anybody asks for. `read` takes from it, once, what several readers want.
"""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from foresee.batch import Batch, Inputs
from foresee.errors import DataError, ForeseeError, InputError, said
from foresee.seeds import derive, random_states_kept, stream

#: entries of a mapping that are the labels; the others are inputs by name
LABELS = ("labels", "label", "label_ids", "targets", "target", "y")
#: numbers as they are handed over, and what most people hand over
_ARRAYS = (Tensor, np.ndarray)
_USUAL = (Batch, Tensor, tuple, list)
#: batches and samples of each that are read where nobody says how many
COUNT, SIZE = 1, 64

_EXPECTED = "a tensor or array, (inputs, labels), a mapping of tensors, a DataLoader, a Dataset, a Batch, or a list"


def as_batches(given: Any, count: int = COUNT, size: int = SIZE, seed: int = 0) -> list[Batch]:
    """What a user may hand over, as batches.

    Args:
        given: one of
            a tensor or a numpy array: inputs without labels;
            three `(dense, sparse, labels)` of a click log: numbers (n, features), whole numbers (n, features), n labels;
            a pair `(inputs, labels)`, inputs one tensor, a tuple of them (several arguments) or a mapping (named ones);
            a mapping of names to tensors, as tokenizers give it: an entry called as in `LABELS` is the labels, the rest
            are named arguments;
            a `DataLoader`: its first `count` batches, as they come;
            a `Dataset`: `count` batches of `size` samples that `seed` draws;
            a data set of foresee: `count` batches of `size` samples;
            a `Batch`; a list of any of these, which is several batches.
            A list `[inputs, labels]`, as loaders give it, is told from two batches by its samples: of two tensors whose
            samples differ in shape or kind the second is the labels, two alike of different lengths are two batches, and
            two alike of one length are refused, since nothing says which of both they are.
        count: batches to take from a loader or a data set; fewer where there are no more.
        size: samples of a batch that is taken from a data set.
        seed: draws the samples of a data set, and the order of a loader that shuffles.

    Reading leaves all random states, those of the loader as well, as they were.

    >>> x, y = torch.zeros(4, 3), torch.tensor([0, 1, 1, 0])
    >>> [len(b) for b in as_batches([x[:2], (x, y)])], as_batches([x, y])[0].labels is y
    ([2, 4], True)
    >>> as_batches({"input_ids": y.view(4, 1), "labels": y})[0].names
    ('input_ids',)
    """
    return read(given, [(count, size)], seed).wanted(count, size)


class Handed:
    """What was handed over, read once: for each `(count, size)` wanted the batches of that many samples."""

    def __init__(self, found: Mapping[tuple[int, int], list[Batch]] | list[Batch]) -> None:
        self._found = found

    def wanted(self, count: int, size: int) -> list[Batch]:
        """Batches for one reader; the same list wherever the same ones are meant."""
        return self._found if isinstance(self._found, list) else self._found[count, size]


def read(given: Any, wants: Iterable[tuple[int, int]] = ((COUNT, SIZE),), seed: int = 0) -> Handed:
    """Take what several readers want, each `(count, size)`; only a loader or a data set makes a difference between them."""
    if isinstance(given, Handed):
        return given
    if isinstance(given, _USUAL):  # what most people hand over need not be asked what else it is
        return Handed(_plain(given))
    asked = list(wants)
    if isinstance(given, DataLoader):
        first = _of_loader(given, max(count for count, _ in asked), seed)
        prefixes = {count: first[:count] for count, _ in asked}
        return Handed({(count, size): prefixes[count] for count, size in asked})
    if is_data(given):
        return Handed({(count, size): given.batches(count, min(size, len(given)), seed=seed) for count, size in asked})
    if is_data_set(given):
        whole = _of_data_set(given, max(count * size for count, size in asked), seed)
        return Handed({(count, size): _cut(whole, count, size) for count, size in asked})
    return Handed(_plain(given))


# -- tensors, pairs, mappings, lists ----------------------------------------------------------------------------------------
def _plain(given: Any) -> list[Batch]:
    if isinstance(given, Batch):
        return [given]
    if isinstance(given, _ARRAYS):
        return [Batch(_tensor(given))]
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], _ARRAYS):
        inputs = _inputs(given[0])
        if inputs is not None:
            return [Batch(inputs, _tensor(given[1]))]
    if isinstance(given, tuple) and (log := _click_log(given)) is not None:
        return [log]
    if isinstance(given, list) and given:
        return list(given) if all(isinstance(part, Batch) for part in given) else _of_list(given)
    if isinstance(given, Mapping):
        return [_of_mapping(given)]
    raise InputError(f"batch of type {type(given).__name__}: expected {_EXPECTED} of these{_hint(given)}")


def _click_log(given: Sequence[Any]) -> Batch | None:
    """Dense features, sparse features and labels as a batch; None where they are something else.

    >>> _click_log((torch.zeros(2, 13), torch.tensor([[3, 0], [1, 6]]), torch.tensor([0.0, 1.0]))).labels.shape
    torch.Size([2])
    """
    if len(given) != 3 or not all(isinstance(part, _ARRAYS) and part.ndim for part in given):
        return None
    dense, sparse, labels = map(_tensor, given)
    whole = not sparse.is_floating_point() and not sparse.is_complex() and sparse.dtype != torch.bool
    flat = labels.ndim == 1 or (labels.ndim == 2 and labels.shape[1] == 1)
    alike = len(dense) == len(sparse) == len(labels)
    if dense.ndim == sparse.ndim == 2 and dense.is_floating_point() and whole and flat and alike:
        return Batch((dense, sparse), labels)
    return None


def is_data(given: Any) -> bool:
    """Whether it is a data set of foresee's data room, which hands out batches by itself."""
    return all(hasattr(type(given), name) for name in ("batches", "epoch", "fingerprint"))


def _hint(given: Any) -> str:
    if hasattr(given, "to_numpy"):
        return "; of a table of pandas write (frame[columns].to_numpy(), frame[label].to_numpy())"
    if isinstance(given, tuple) and len(given) > 2 and all(isinstance(part, _ARRAYS) for part in given):
        return "; for several inputs write ((first, second), labels)"
    return ""


def _tensor(given: Any) -> Tensor:
    if isinstance(given, Tensor):
        return given
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an array that cannot be written to is only read
            return torch.as_tensor(given)
    except (TypeError, ValueError) as error:
        raise DataError(f"batch: an array of {given.dtype}; expected numbers that torch has a type for") from error


def _inputs(given: Any) -> Inputs | None:
    """One tensor, several, or several by name; None where it is none of these."""
    if isinstance(given, _ARRAYS):
        return _tensor(given)
    if isinstance(given, Mapping):
        return {name: _tensor(part) if isinstance(part, np.ndarray) else part for name, part in given.items()}
    if isinstance(given, tuple) and given and all(isinstance(part, _ARRAYS) for part in given):
        return tuple(_tensor(part) for part in given)
    return None


def _of_mapping(given: Mapping[str, Any]) -> Batch:
    """Named inputs, and labels where an entry is called so."""
    called = [name for name in given if name in LABELS]
    if len(called) > 1:
        raise InputError(f"batch: {' and '.join(called)} are both names of labels; write (mapping, labels)")
    named = {name: part for name, part in given.items() if name not in called}
    if called and not named:
        raise InputError(f"batch: a mapping with {called[0]} alone; write Batch(mapping) where these are the inputs")
    for name, part in given.items():
        if isinstance(part, list):
            raise InputError(f'batch: {name} is a list; make tensors of it (a tokenizer does with return_tensors="pt")')
    inputs = _inputs(named)
    assert inputs is not None
    labels = given[called[0]] if called else None
    return Batch(inputs, _tensor(labels) if isinstance(labels, np.ndarray) else labels)


def _of_list(given: list[Any]) -> list[Batch]:
    """Several batches, or inputs and labels in a list."""
    parts = [_tensor(part) if isinstance(part, np.ndarray) else part for part in given]
    if len(parts) == 2 and isinstance(parts[1], Tensor) and isinstance(parts[0], list | Mapping):
        inputs = _inputs(tuple(parts[0]) if isinstance(parts[0], list) else parts[0])
        if inputs is not None:
            return [Batch(inputs, parts[1])]
    if all(isinstance(part, Tensor) for part in parts) and len(parts) > 1:
        kinds, lengths = {_kind(part) for part in parts}, {len(part) if part.ndim else 0 for part in parts}
        if len(parts) == 2 and len(kinds) == 2:
            return [Batch(*parts)]
        if len(kinds) > 1:
            raise InputError(
                f"batch: a list of {len(parts)} tensors of different kinds; write ((first, second), labels) for inputs and "
                "labels, [Batch(first), Batch(second), ...] for batches"
            )
        if len(parts) == 2 and len(lengths) == 1:
            raise InputError(
                "batch: a list of two tensors alike; write (inputs, labels), or [Batch(first), Batch(second)] for two batches"
            )
    return [batch for part in parts for batch in _plain(part)]


def _kind(tensor: Tensor) -> tuple[tuple[int, ...], bool]:
    """What tells the samples of one network apart from labels: their shape, and whether they are floating numbers."""
    return tuple(tensor.shape[1:]), tensor.is_floating_point()


# -- loaders and data sets --------------------------------------------------------------------------------------------------
def _of_loader(loader: DataLoader[Any], count: int, seed: int) -> list[Batch]:
    own = copy.copy(loader)
    own._iterator = None  # workers that are kept between epochs stay with the loader itself
    with _reading(f"the {type(loader).__name__}", own, seed):
        found = [one_batch(part) for part in itertools.islice(iter(own), count)]
    if not found:
        raise DataError("batch: the DataLoader is empty")
    return found


def is_data_set(given: Any) -> bool:
    """Whether it is a data set of torch, or something alike: samples by number, and how many there are."""
    if isinstance(given, Dataset):
        return True
    known = isinstance(given, Handed | Batch | Tensor | np.ndarray | Mapping | Sequence) or hasattr(given, "to_numpy")
    return not known and hasattr(type(given), "__getitem__") and hasattr(type(given), "__len__")


def _of_data_set(data: Any, samples: int, seed: int) -> Batch:
    """So many samples as one batch: those that the seed draws, or the first where they have no numbers."""
    with _reading(f"the data set {type(data).__name__}", None, seed):
        if isinstance(data, IterableDataset):
            chosen = list(itertools.islice(iter(data), samples))
        else:
            numbers = stream(seed, "samples").sample(range(len(data)), min(samples, len(data)))
            chosen = [data[number] for number in numbers]
        if not chosen:
            raise DataError(f"batch: the data set {type(data).__name__} is empty")
        return together(chosen)


def together(samples: list[Any], collate: Callable[[list[Any]], Any] = default_collate) -> Batch:
    """Samples of a data set as one batch; `collate` is that of a loader.

    >>> together([(torch.zeros(3), 1), (torch.ones(3), 0)]).labels
    tensor([1, 0])
    """
    try:
        return one_batch(collate(samples))
    except (TypeError, RuntimeError) as error:
        raise DataError(
            f"batch: samples of the data set cannot be put together ({said(error).splitlines()[0]}); let its transform "
            "make tensors of one shape, or hand over a DataLoader with a collate_fn"
        ) from error


def one_batch(part: Any) -> Batch:
    """What a loader gives is one batch, a pair in a list too."""
    if isinstance(part, list | tuple) and len(part) == 1:
        part = part[0]
    if isinstance(part, list | tuple) and len(part) == 2 and isinstance(part[1], _ARRAYS):
        first = tuple(part[0]) if isinstance(part[0], list) else part[0]
        return _plain((first, part[1]))[0]
    if isinstance(part, list | tuple) and (log := _click_log(part)) is not None:
        return log
    if isinstance(part, list | tuple):
        raise InputError(
            f"batch: samples of {len(part)} parts; expected inputs and labels: hand over ((first, second), labels), or a "
            "mapping of names"
        )
    return _plain(part)[0]


def _cut(whole: Batch, count: int, size: int) -> list[Batch]:
    """Up to `count` batches of `size` samples; one of all there are where they are fewer than one batch."""
    full = min(count, len(whole) // size)
    return [whole[slice(number * size, (number + 1) * size)] for number in range(full)] or [whole]


@contextmanager
def _reading(what: str, loader: DataLoader[Any] | None, seed: int) -> Iterator[None]:
    """Random states as before afterwards, also a loader's own; what a stranger's code raises is one line."""
    with ExitStack() as stack:
        stack.enter_context(random_states_kept(derive(seed, "reading")))
        samplers = (loader, getattr(loader, "sampler", None), getattr(loader, "batch_sampler", None))
        for one in (*samplers, getattr(samplers[2], "sampler", None)):
            own = getattr(one, "generator", None)
            if isinstance(own, torch.Generator):
                stack.callback(own.set_state, own.get_state())
        try:
            yield
        except (ForeseeError, KeyboardInterrupt):
            raise
        except Exception as error:
            # A worker of a loader tells the whole story; its last line is what happened.
            raise DataError(f"batch: {what} cannot be read: {said(error).strip().splitlines()[-1]}") from error
