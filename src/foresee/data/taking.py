"""Whatever holds data, as a data set of ours: a name, a path, a `DataLoader`, a `Dataset`, arrays, batches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, SequentialSampler

from foresee.data.base import Data
from foresee.data.datasets import GivenDataset
from foresee.data.given import GivenBatches
from foresee.data.loading import load
from foresee.data.streams import GivenStream
from foresee.handed import as_batches, is_data_set


def as_data(given: Any, *, outputs: int | None = None, vocabularies: Sequence[int] | None = None) -> Data:
    """Data as a person may hand it over to be learnt from.

    - a `Data` is itself; a name or a path is loaded;
    - a `Dataset`, or a `DataLoader` of one whose order is plain (shuffled, or one after the other): a `GivenDataset`. A
      shuffled order is drawn from the seed, and an epoch can be gone on with exactly; the loader's `collate_fn` and
      `num_workers` are used, and its `batch_size` is noted;
    - any other `DataLoader` (of an `IterableDataset`, or with a sampler of its own): a `GivenStream`, which cannot promise
      that;
    - all else is batches (`foresee.handed.as_batches`): a `GivenBatches`.

    Dense and sparse features are a click log. Its `vocabularies` are what the sparse ones of all samples need; state them
    where later rows may have values that these have not.

    >>> import torch
    >>> as_data((torch.zeros(4, 3), torch.tensor([0, 1, 1, 0]))).task.outputs
    2
    """
    if isinstance(given, Data):
        return given
    if isinstance(given, str | os.PathLike):
        return load(given, outputs=outputs)
    if isinstance(given, DataLoader):
        if not is_plain(given):
            return GivenStream(given, outputs, vocabularies=vocabularies)
        return GivenDataset(
            given.dataset,
            outputs,
            collate=given.collate_fn,
            workers=given.num_workers,
            shuffle=type(given.sampler) is RandomSampler,
            batch_size=given.batch_size,
            vocabularies=vocabularies,
        )
    if isinstance(given, IterableDataset):
        return GivenStream(DataLoader(given, batch_size=64), outputs, vocabularies=vocabularies)
    if is_data_set(given):
        return GivenDataset(given, outputs, vocabularies=vocabularies)
    return GivenBatches(as_batches(given), outputs, vocabularies)


def is_plain(loader: DataLoader[Any]) -> bool:
    """Whether the loader goes through all samples of a data set, each once, by their numbers."""
    if isinstance(loader.dataset, IterableDataset) or loader.batch_size is None:
        return False
    if type(loader.batch_sampler) is not BatchSampler:
        return False
    sampler = loader.sampler
    if type(sampler) is SequentialSampler:
        return True
    return type(sampler) is RandomSampler and not sampler.replacement and len(sampler) == len(sampler.data_source)
