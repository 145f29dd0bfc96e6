"""What an ensemble is found on: samples that all networks learn from, those that are selected by, and the test.

Every rival sees the same three parts. The supernet and the members learn from the first; the posterior, the selection and the
best epoch of a member go by the second; the third is looked at once, at the end.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from foresee.data import Data, as_data, load
from foresee.data.normalising import Statistics
from foresee.errors import InputError
from foresee.seeds import derive
from foresee.task import Task


@dataclass(frozen=True)
class Parts:
    """The three parts, normalised by the first."""

    train: Data
    val: Data
    test: Data

    @property
    def task(self) -> Task:
        """What goes in and out."""
        return self.train.task

    @property
    def statistics(self) -> Statistics | None:
        """What the inputs were normalised by, where they were."""
        return None if self.train.normalise is False else self.train.statistics

    @property
    def words(self) -> dict[str, Any]:
        """What they are, as plain values."""
        named = {"train": self.train, "val": self.val, "test": self.test}
        return {
            key: {"name": one.name, "samples": one.epoch_samples, "fingerprint": one.fingerprint}
            for key, one in named.items()
        }


def parts_of(
    data: Any,
    *,
    val: Any = None,
    test: Any = None,
    share: float = 0.3,
    test_share: float = 0.2,
    seed: int = 0,
    inputs: tuple[int, ...] | None = None,
) -> Parts:
    """The parts of data: its own splits where it has them, shares of it that the seed draws where not.

    Args:
        data: a name or a path (`data.load`), a `Data`, or whatever `data.as_data` takes.
        val: likewise, what is selected by; None: the data's split, or a share of what is learnt from.
        test: likewise; None: the data's split, or a share of everything.
        share: of the rest, kept for validation.
        test_share: kept for the test.
        seed: of these draws.
        inputs: the shape that images are fitted to, of data that is loaded.

    >>> parts = parts_of("digits", share=0.25, test_share=0.2)
    >>> len(parts.train), len(parts.val), len(parts.test)
    (1078, 359, 360)
    """
    first, given = _loaded(data, inputs), {"val": val, "test": test}
    if isinstance(data, str | os.PathLike):
        val = load(data, task=first.task, split="val") if val is None and "val" in first.splits else val
        test = load(data, task=first.task, split="test") if test is None and "test" in first.splits else test
    if first.task.outputs < 2 or first.task.vocabularies:
        raise InputError(
            f"ensemble: {first.name} has no classes; ensembles are found for images of two classes or more"
        )
    kept = {"test": test_share if test is None else 0.0}
    kept["val"] = share * (1 - kept["test"]) if val is None else 0.0
    shares = {"train": 1 - sum(kept.values()), **{name: one for name, one in kept.items() if one}}
    if len(shares) > 1:
        cut = first.split(shares, seed=derive(seed, "parts"))
        first, val, test = cut["train"], cut.get("val", val), cut.get("test", test)
    shape = first.task.inputs
    loaded = {name for name, one in given.items() if not isinstance(one, Data)}  # what was handed over as data stays so
    rest = {"val": val, "test": test}
    found = {name: one if isinstance(one, Data) else _loaded(one, shape) for name, one in rest.items()}
    return Parts(first, *(one.normalised_by(first) if name in loaded else one for name, one in found.items()))


def _loaded(given: Any, inputs: tuple[int, ...] | None) -> Data:
    if isinstance(given, Data):
        return given
    if not isinstance(given, str | os.PathLike):
        return as_data(given)
    found = load(given, inputs=inputs)
    return load(given, inputs=inputs, split="train") if "train" in found.splits else found
