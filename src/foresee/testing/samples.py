"""Samples as values that can be counted and compared, and a second process: help for `DataSuite`."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data import Data

#: one sample: the bytes of its inputs and of its label
Sample = tuple[bytes, ...]


def samples(batches: Iterable[Batch]) -> list[Sample]:
    """Every sample of these batches.

    >>> len(samples([Batch(torch.zeros(3, 2))])), len(set(samples([Batch(torch.zeros(3, 2))])))
    (3, 1)
    """
    found: list[Sample] = []
    for batch in batches:
        rows = [[row.numpy().tobytes() for row in part.detach().cpu()] for part in (*batch.parts, *labels_of(batch))]
        found += list(zip(*rows, strict=True))
    return found


def whole(data: Data) -> list[Sample]:
    """All samples by their numbers, as they are handed out."""
    return samples([data.normalised(data.read(torch.arange(len(data))))])


def raw(data: Data) -> list[Sample]:
    """All samples by their numbers, as they are before normalising."""
    return samples([data.read(torch.arange(len(data)))])


def same(first: Batch, second: Batch) -> bool:
    """Whether two batches hold the same numbers under the same names."""
    return first.names == second.names and samples([first]) == samples([second])


def labels_of(batch: Batch) -> list[Tensor]:
    """The labels, where there are any."""
    return [] if batch.labels is None else [batch.labels]


def random_states() -> tuple[Any, ...]:
    """The global random states of Python, numpy and torch, to be compared."""
    numpys = pickle.dumps(np.random.get_state())  # noqa: NPY002
    return random.getstate(), numpys, torch.get_rng_state().numpy().tobytes()


def pickled(data: Data) -> Data:
    """The data set as a worker gets it."""
    there_and_back: Data = pickle.loads(pickle.dumps(data))  # noqa: S301 (bytes of our own)
    return there_and_back


def fingerprint_elsewhere(data: Data) -> str:
    """What a fresh interpreter, which shares no memory with this one, finds as the fingerprint."""
    return _child().submit(_fingerprint, data).result()


@cache
def _child() -> ProcessPoolExecutor:
    """One other process for all suites."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _fingerprint(data: Data) -> str:
    return data.fingerprint
