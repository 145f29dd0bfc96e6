"""What a training learns from and is judged by: the data room's sets, arrays, or a loader of the user's own.

A `Source` hands out the batches of an epoch by its number, from any batch on, always the same: so a training can go on in the
middle of one.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from foresee.batch import Batch
from foresee.data import Arrays, Data, GivenBatches, as_data, load
from foresee.data.normalising import Statistics
from foresee.data.taking import is_plain
from foresee.errors import DataError, InputError, said
from foresee.handed import as_batches, is_data_set
from foresee.seeds import derive, random_states_kept
from foresee.task import Task
from foresee.training import losses
from foresee.training.encoding import encoding_of, how_to_read

if TYPE_CHECKING:
    from foresee.data.clicks.preprocessing import Preprocessing

#: labels that are looked at to tell a regression from yes or no
LOOKED_AT = 10_000


class Source(ABC):
    """Batches for training and for judging."""

    #: what goes in and out, where that is known
    task: Task | None = None
    #: what inputs were normalised by, where they were
    statistics: Statistics | None = None
    #: the names of the classes, where they have some
    classes: tuple[str, ...] = ()
    #: what encoded the rows of a click log, where it was one
    preprocessing: Preprocessing | None = None

    @property
    @abstractmethod
    def words(self) -> dict[str, Any]:
        """What it is, as plain values: a name, how many samples, a fingerprint."""

    @abstractmethod
    def steps(self, size: int) -> int:
        """Batches of an epoch."""

    @abstractmethod
    def epoch(self, size: int, *, seed: int, number: int, start: int = 0) -> Iterator[Batch]:
        """The batches of an epoch in the order that (seed, number) draw, from batch `start` on."""

    @abstractmethod
    def all(self, size: int) -> Iterator[Batch]:
        """Every sample once, in order."""

    def kind(self) -> losses.Kind | None:
        """What the labels are, where that can be told before a network has answered."""
        return None


class OfData(Source):
    """A data set of the data room. A last batch of a single sample is left out: its batch statistics would be nothing."""

    def __init__(self, data: Data) -> None:
        self.data, self.task = data, data.task
        normal = len(data.task.inputs) == 3 or (bool(data.task.vocabularies) and data.normalised_part == 0)
        self.statistics = data.statistics if data.normalise is not False and normal else None
        self.preprocessing = encoding_of(data)
        self.classes = tuple(map(str, getattr(_origin(data), "classes", None) or ()))

    @property
    def words(self) -> dict[str, Any]:
        """Name, samples, fingerprint."""
        return {"name": self.data.name, "samples": self.data.epoch_samples, "fingerprint": self.data.fingerprint}

    def steps(self, size: int) -> int:
        """Batches of an epoch."""
        size = self.data.batch_size or size
        return self.data.steps(size, drop_last=self._drops(size))

    def epoch(self, size: int, *, seed: int, number: int, start: int = 0) -> Iterator[Batch]:
        """As the data set draws it."""
        size = self.data.batch_size or size
        return self.data.epoch(size, seed=seed, number=number, drop_last=self._drops(size), start=start)

    def all(self, size: int) -> Iterator[Batch]:
        """Every sample once."""
        return self.data.epoch(size, shuffle=False)

    def kind(self) -> losses.Kind | None:
        """By the first labels; of numbers, by many of them."""
        size = min(64, self.data.epoch_samples)
        labels = [batch.labels for batch in islice(self.all(size), 1) if batch.labels is not None]
        if not labels:
            raise DataError(f"{self.data.name}: there are no labels to learn from")
        if labels[0].is_floating_point():
            labels = [one.labels for one in islice(self.all(size), LOOKED_AT // size + 1) if one.labels is not None]
        return losses.kind_of(labels, self.data.task.outputs)

    def _drops(self, size: int) -> bool:
        return self.data.epoch_samples > size and self.data.epoch_samples % size == 1


class OfLoader(Source):
    """A `DataLoader` of the user's own: its batches, its order.

    Whatever it draws in this process comes from (seed, epoch, batch), so that epochs can be told again; a generator of its
    own is put back afterwards. To go on in the middle of an epoch, the batches before are read and passed over.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        try:
            self._count = len(loader)
        except TypeError as error:
            raise InputError("training: the DataLoader does not know its length; give its data set one") from error
        if not self._count:
            raise DataError("training: the DataLoader is empty")
        self.loader = loader

    @property
    def words(self) -> dict[str, Any]:
        """Name and batches; there is no fingerprint of what is not held."""
        return {"name": type(self.loader.dataset).__name__, "batches": self._count}

    def steps(self, size: int) -> int:
        """Batches of an epoch: its own, whatever size is asked for."""
        return self._count

    def epoch(self, size: int, *, seed: int, number: int, start: int = 0) -> Iterator[Batch]:
        """Its batches, drawn from the seed."""
        with ExitStack() as stack:
            for own in self._generators():
                stack.callback(own.set_state, own.get_state())
                own.manual_seed(derive(seed, "loader", number))
            with random_states_kept(derive(seed, "loader", number)):
                batches = iter(self.loader)
            for place in range(self._count):
                with random_states_kept(derive(seed, "loader", number, place)):
                    try:
                        part = next(batches)
                    except StopIteration:
                        return
                    except Exception as error:
                        raise DataError(f"training: the DataLoader cannot be read: {said(error)}") from error
                if place >= start:
                    yield as_batches(tuple(part) if isinstance(part, list) else part)[0]

    def all(self, size: int) -> Iterator[Batch]:
        """Its batches, always the same."""
        return self.epoch(size, seed=0, number=0)

    def _generators(self) -> list[torch.Generator]:
        sampler, of_batches = (getattr(self.loader, name, None) for name in ("sampler", "batch_sampler"))
        owners = (self.loader, sampler, of_batches, getattr(of_batches, "sampler", None))
        found = [getattr(one, "generator", None) for one in owners]
        return list({id(one): one for one in found if isinstance(one, torch.Generator)}.values())


@dataclass(frozen=True)
class Sources:
    """What is learnt from, what an epoch is judged by, and what the end is judged by."""

    train: Source
    validation: Source | None = None
    test: Source | None = None

    @property
    def words(self) -> dict[str, Any]:
        """All of them as plain values."""
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        return {name: one.words for name, one in parts.items() if one is not None}


def sources(
    data: Any,
    *,
    validation: Any = None,
    test: Any = None,
    share: float = 0.0,
    seed: int = 0,
    inputs: tuple[int, ...] | None = None,
    schema: Any = None,
    preprocessing: Preprocessing | None = None,
) -> Sources:
    """What was handed over, as sources.

    Args:
        data: a name or a path (`data.load`), with its own splits for validation and test where it has them; a `Data`;
            `(inputs, labels)`, tensors or arrays, learnt from as they are, but for images of whole bytes, which are scaled
            and normalised; batches; a `Dataset` or a `DataLoader`, in batches of the loader's own size. One whose samples
            have numbers is read by them; of any other the batches come as they come.
        validation: likewise, what each epoch is judged by; None: the split of the data, or a share of what is learnt from.
        test: likewise; None: the split of the data, if it has one.
        share: kept for validation where there is none.
        seed: draws that share.
        inputs: the shape that images are fitted to, of data that is loaded.
        schema: what the columns of a click log are.
        preprocessing: what encodes its rows; by default one that is fitted to the rows that are learnt from. Rows for
            validation and test are encoded by the same.

    >>> made = sources((torch.randn(20, 4), torch.arange(20) % 2), share=0.25)
    >>> made.words["train"]["samples"], made.words["validation"]["samples"], made.test
    (15, 5, None)
    """
    given = validation, test
    first = _loaded(data, inputs, how_to_read(schema, preprocessing))
    encoded = how_to_read(schema, encoding_of(first))
    if isinstance(first, Data) and isinstance(data, str | os.PathLike):
        validation = _split(data, first, "val", encoded) if validation is None else validation
        test = _split(data, first, "test", encoded) if test is None else test
    if validation is None and share > 0 and isinstance(first, Data) and first.numbered and not first.endless:
        kept = round(len(first) * share)
        if 0 < kept < len(first):
            parts = first.split({"train": 1 - share, "val": share}, seed=derive(seed, "validation"))
            first, validation = parts["train"], parts["val"]
    shape = first.task.inputs if isinstance(first, Data) else inputs
    rest = [None if one is None else _loaded(one, shape, encoded) for one in (validation, test)]
    for place, one in enumerate(rest):  # what was handed over as data stays as it is
        if isinstance(one, Data) and isinstance(first, Data) and not isinstance(given[place], Data):
            rest[place] = one.normalised_by(first)
    return Sources(_source(first), *(None if one is None else _source(one) for one in rest))


def _loaded(given: Any, inputs: tuple[int, ...] | None, how: Mapping[str, Any]) -> Data | DataLoader[Any]:
    if isinstance(given, Data):
        return given
    if isinstance(given, DataLoader):  # one whose samples have no numbers stays what it is, if it knows its length
        return as_data(given) if is_plain(given) or not _has_length(given) else given
    if is_data_set(given):
        return as_data(given)
    if isinstance(given, str | os.PathLike):
        found = load(given, inputs=inputs, **how)
        return load(given, inputs=inputs, split="train", **how) if "train" in found.splits else found
    if (
        isinstance(given, tuple)
        and len(given) == 2
        and all(isinstance(one, np.ndarray | torch.Tensor) for one in given)
    ):
        first, labels = (np.asarray(one) for one in given)
        if first.dtype == np.uint8:
            return Arrays(first, labels)
    batches = [batch.to("cpu", torch.float32) for batch in as_batches(given)]
    if any(batch.labels is None for batch in batches):
        raise DataError("training: there are no labels to learn from; hand over (inputs, labels)")
    return GivenBatches(batches)


def _has_length(loader: DataLoader[Any]) -> bool:
    try:
        return len(loader) >= 0
    except TypeError:
        return False


def _split(reference: str | os.PathLike[str], first: Data, split: str, how: Mapping[str, Any]) -> Data | None:
    """Another split of data that comes in several."""
    if split not in first.splits:
        return None
    return load(reference, task=first.task, split=split, **how)


def _source(data: Data | DataLoader[Any]) -> Source:
    return OfData(data) if isinstance(data, Data) else OfLoader(data)


def _origin(data: Any) -> Any:
    while hasattr(data, "source"):
        data = data.source
    return data
