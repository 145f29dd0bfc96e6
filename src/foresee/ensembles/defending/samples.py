"""Which samples are attacked: pixels and labels that the networks were not trained on, drawn by a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresee import checks
from foresee.data import Data, sets
from foresee.ensembles.defending.targets import Target
from foresee.errors import DataError, InputError, RunError
from foresee.runs.folder import is_there
from foresee.seeds import generator
from foresee.training.keeping import TRAINING, read_plain
from foresee.training.sources import OfData, sources


@dataclass(frozen=True, eq=False)
class Samples:
    """Images (n, channels, height, width) with pixels from 0 to 1, their labels (n,), and where they come from.

    `seen` says in words whether the networks learnt from such samples; "" where they did not.
    """

    images: Tensor
    labels: Tensor
    words: Mapping[str, Any]
    seen: str = ""

    def __len__(self) -> int:
        return len(self.images)


def samples_of(target: Target, data: Any = None, *, count: int | None = 256, seed: int = 0) -> Samples:
    """Samples to attack: of the data's test split, else of those that trainings kept for validation, else of all.

    Args:
        target: the networks; what they were trained on is read from their folders.
        data: as for a training: a name, a path, a `Data`; None: what they were trained on, where that has a name.
        count: how many, at most; None: all.
        seed: draws them; equal counts and seeds give the same samples to all networks.

    >>> from torch import nn
    >>> from foresee.ensembles.defending.targets import target_of
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 10))
    >>> found = samples_of(target_of(network), "digits", count=5)
    >>> found.images.shape, found.words["name"], float(found.images.max()) <= 1
    (torch.Size([5, 3, 32, 32]), 'digits/test', True)
    """
    if count is not None:
        checks.whole("samples", count, of="defend")
    said = [read_plain(Path(one) / TRAINING) for one in target.folders if one and is_there(Path(one) / TRAINING)]
    chosen, how = _judged_by(_named(said) if data is None else data, target, said[0] if said else {})
    if not chosen.numbered or chosen.endless or not len(chosen):
        raise DataError(f"{chosen.name}: samples are drawn by their numbers, and these have none; hand over others")
    if len(chosen.task.inputs) != 3:
        raise DataError(f"{chosen.name}: samples of shape {chosen.task.inputs}; attacks need images")
    rows = torch.randperm(len(chosen), generator=generator(seed, "samples"))[:count]  # any first few are a draw too
    batch = chosen.read(rows)
    if batch.labels is None or batch.labels.is_floating_point():
        raise DataError(f"{chosen.name}: attacks need a class for each image, and these have none")
    images = batch.parts[0].float()
    low, high = float(images.min()), float(images.max())
    if not (low >= 0 and high <= 1):
        raise DataError(f"{chosen.name}: pixels from {low:g} to {high:g}; attacks need them from 0 to 1")
    words = {"name": chosen.name, "fingerprint": chosen.fingerprint, "of": len(chosen), "samples": len(rows)}
    return Samples(images, batch.labels, words, _seen(chosen, how, said))


def _judged_by(data: Any, target: Target, said: Mapping[str, Any]) -> tuple[Data, str]:
    """The part to attack, and which one it is; of data that an ensemble was found on, its own test part."""
    if target.found is not None:
        try:
            return target.found.parts(data).test, "test"
        except RunError:  # other data
            pass
    inputs = None if target.task is None else target.task.inputs
    share = float((said.get("recipe") or {}).get("validation") or 0.0)
    found = sources(data, share=share, seed=int(said.get("seed") or 0), inputs=inputs)
    for how, part in (("test", found.test), ("validation", found.validation), ("all", found.train)):
        if isinstance(part, OfData):
            _fits(part.data, target)
            return part.data, how
    raise DataError("defend: samples are drawn by their numbers; hand over a data set instead of a loader")


def _fits(data: Data, target: Target) -> None:
    if target.task is not None and data.task.outputs > target.task.outputs:
        raise InputError(
            f"{data.name}: has {data.task.outputs} classes, and the networks know {target.task.outputs}; hand over the data "
            "that they were trained on"
        )


def _named(said: list[dict[str, Any]]) -> str:
    """The data set that trainings name, where it can be had by its name."""
    for one in said:
        name = str(((one.get("data") or {}).get("train") or {}).get("name") or "").partition("/")[0]
        if name in sets and name != "synthetic":
            return name
    raise InputError("say on which images with --data (data=): those that the networks were trained on, or others")


def _seen(data: Data, how: str, said: list[dict[str, Any]]) -> str:
    prints = {
        part: {((one.get("data") or {}).get(part) or {}).get("fingerprint") for one in said}
        for part in ("train", "validation", "test")
    }
    if data.fingerprint in prints["train"] - {None}:
        return "they were trained on these samples"
    if data.fingerprint in prints["validation"] - {None}:
        return "their best epochs were chosen by these samples"
    if how == "all":
        return "the data has no test part, so some of these samples may have been trained on"
    return ""
