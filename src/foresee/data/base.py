"""What a network looks at: a data set hands out batches, and the seed alone decides which.

    data = load("digits")                      # or "synthetic", or the path of an .npz, an image folder, CIFAR files
    batch = data.batch(64, seed=1, index=0)    # the first 64 samples of the permutation that seed 1 draws

A new kind of data is one file: a subclass of `Data` with `__len__`, `fingerprint` and `read`, and either a named maker in
`sets` or a `Format` in `formats`.
"""

from __future__ import annotations

import hashlib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.errors import DataError, ForeseeError, InputError, UnknownNameError
from foresee.registry import Registry
from foresee.seeds import generator
from foresee.task import Task

#: the words people use for a split -> the one used inside
SPLITS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


@dataclass(frozen=True)
class Statistics:
    """Mean and standard deviation of each channel.

    >>> Statistics((0.5,), (0.25,)).apply(torch.ones(1, 1, 2, 2)).unique()
    tensor([2.])
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        sound = all(math.isfinite(m) for m in self.mean) and all(0 < s < math.inf for s in self.std)
        if not sound or len(self.mean) != len(self.std):
            raise InputError(
                f"statistics mean {self.mean}, std {self.std}: expected one finite mean and one std above 0 per channel"
            )

    def apply(self, inputs: Tensor) -> Tensor:
        """`(inputs - mean) / std`, the channels on axis 1."""
        if inputs.shape[1] != len(self.mean):
            raise InputError(f"statistics of {len(self.mean)} channels for inputs of {inputs.shape[1]}")
        axes = (1, -1) + (1,) * (inputs.ndim - 2)
        return (inputs - inputs.new_tensor(self.mean).view(axes)) / inputs.new_tensor(self.std).view(axes)


class Data(ABC):
    """A data set for a task: samples by number, and batches by seed.

    Inputs are float32 with the channels first. Labels are int64 classes, or float32 of shape (n, outputs) for multi-label
    and regression tasks, or None where the data has none.

    `normalise` is True (the default), False, or `Statistics` of your own. True shifts and scales each channel by the mean
    and standard deviation of the data set itself, measured in float64 on what it hands out, over all samples or, where
    there are more, over `statistics_samples` evenly spaced ones. A test split takes those of its training split (`like`)
    where there is one, because that is what a network trained on it would see. A constant channel is only shifted.
    """

    statistics_samples = 10_000
    #: no sample comes twice and there is no last one (synthetic data)
    endless = False

    def __init__(self, name: str, task: Task, *, normalise: bool | Statistics = True, like: Data | None = None) -> None:
        self.name, self.task, self.normalise, self.like = name, task, normalise, like

    @abstractmethod
    def __len__(self) -> int:
        """Number of samples."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """What is looked at, as 16 hexadecimal digits: the same on every machine, another for other data."""

    @abstractmethod
    def read(self, indices: Tensor) -> Batch:
        """The samples with these numbers, in this order, fitted to the task's shape but not normalised."""

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        """Batch number `index` of the order that `seed` draws.

        The samples are drawn without replacement: batches 0, 1, 2, ... are disjoint until fewer than `size` samples are
        left; those are passed over, and a new permutation begins.
        """
        _check_draw(size, index)
        if size > len(self):
            raise InputError(f"batch of {size} samples: {self.name} has only {len(self)}; ask for at most that many")
        lap, position = divmod(index, len(self) // size)
        order = torch.randperm(len(self), generator=generator(seed, "data", lap))
        return self._normalised(self.read(order[position * size : (position + 1) * size]))

    def batches(self, count: int, size: int, seed: int = 0) -> list[Batch]:
        """The first `count` batches."""
        return [self.batch(size, seed=seed, index=index) for index in range(count)]

    @cached_property
    def statistics(self) -> Statistics:
        """The mean and standard deviation of each channel that normalising uses."""
        if isinstance(self.normalise, Statistics):
            return self.normalise
        return self._measure() if self.like is None else self.like.statistics

    def _normalised(self, batch: Batch) -> Batch:
        # Several inputs (dense and sparse features) have no common channels: their data set sees to them itself.
        if self.normalise is False or not isinstance(batch.inputs, Tensor):
            return batch
        return replace(batch, inputs=self.statistics.apply(batch.inputs))

    def _measure(self) -> Statistics:
        count = min(len(self), self.statistics_samples)
        indices = torch.arange(count) * len(self) // count
        seen, mean, squares = 0, torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
        for start in range(0, count, 256):
            # One pass: each chunk's own moments are joined to those so far, which loses no digits to a large mean.
            values = _channels(self.read(indices[start : start + 256]))
            more = values.shape[1]
            shift = values.mean(1) - mean
            squares = squares + values.var(1, correction=0) * more + shift.square() * (seen * more / (seen + more))
            mean, seen = mean + shift * (more / (seen + more)), seen + more
        std = (squares / seen).sqrt()
        constant = std <= 1e-6 * mean.abs() + 1e-12  # what is left is rounding: dividing by it would make it the signal
        # The last digits of a sum depend on the number of threads; rounded, every worker normalises alike.
        return Statistics(_rounded(mean), _rounded(torch.where(constant, 1.0, std)))

    def __repr__(self) -> str:
        count = "endless" if self.endless else f"{len(self)} samples"
        shape = "x".join(map(str, self.task.inputs))
        return f"<{self.name}: {count} of {shape}, {self.task.outputs} outputs, {self.fingerprint}>"


@dataclass(frozen=True)
class Wanted:
    """What the caller of `load` asked for: a task or a size to fit, a split, a normalisation. Checked when made."""

    task: Task | None = None
    resize: tuple[int, int] | None = None
    split: str | None = None
    normalise: bool | Statistics = True

    @classmethod
    def of(
        cls, task: Task | None, resize: int | tuple[int, int] | None, split: str | None, normalise: bool | Statistics
    ) -> Wanted:
        """From the forms a user may write: `resize=32` is `(32, 32)`, `split="valid"` is "val"."""
        if isinstance(resize, int):
            resize = (resize, resize)
        if resize is not None and (len(resize) != 2 or any(int(n) != n or n < 1 for n in resize)):
            raise InputError(f"resize {resize}: expected a size such as 32, or a height and a width such as (32, 48)")
        if split is not None and split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if task is not None and resize is not None and task.inputs[-2:] != resize:
            shape = "x".join(map(str, task.inputs))
            raise InputError(f"resize {resize[0]}x{resize[1]} contradicts the task's inputs {shape}: give one of them")
        return cls(task, resize, None if split is None else SPLITS[split], normalise)

    def shape(self, own: tuple[int, ...]) -> tuple[int, ...]:
        """The shape to hand out, for data that comes as `own`."""
        if self.task is not None:
            return self.task.inputs
        if self.resize is None:
            return own
        if len(own) != 3:
            raise InputError(f"resize: only images (channels, height, width) have a size, not samples of shape {own}")
        return (own[0], *self.resize)

    def no_split(self, name: str) -> None:
        """Refuse a split where the data has none."""
        if self.split is not None:
            raise InputError(f"split {self.split!r}: {name} data has no splits; leave it out")


@dataclass(frozen=True)
class Format:
    """A kind of file or folder that can be read; `expects` completes the sentence "expected ..."."""

    name: str
    expects: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, Wanted], Data]


#: data sets by name
sets: Registry[Callable[[Wanted], Data]] = Registry("data set", group="foresee.data")
#: kinds of files and folders; the first that recognises a path reads it
formats: list[Format] = []


def load(
    reference: str | os.PathLike[str],
    *,
    task: Task | None = None,
    resize: int | tuple[int, int] | None = None,
    split: str | None = None,
    normalise: bool | Statistics = True,
) -> Data:
    """The data set of this name ("synthetic", "digits"), or at this path.

    A name wins over a path: write `./digits` for a folder called digits. With a `task`, images are fitted to its input
    shape (bilinear; one channel is repeated) and its outputs must hold every label; `resize` states only a size. Without
    a `split`, the training split is taken where there are several.

    >>> load("synthetic").batch(4).inputs.shape
    torch.Size([4, 3, 32, 32])
    """
    wanted = Wanted.of(task, resize, split, normalise)
    if isinstance(reference, str) and reference in sets:
        return sets[reference](wanted)
    if not os.fspath(reference):
        raise InputError(f"data '': expected a path, or one of {', '.join(sets)}")
    with reading(Path(reference), "data"):
        path = Path(reference).expanduser()
        exists = path.exists()
    if not exists:
        if isinstance(reference, str) and path.name == reference and not path.suffix:
            raise UnknownNameError("data set (and no such path)", reference, sets.names())
        raise DataError(f"{path}: no such file or folder; expected data at a path, or one of {', '.join(sets)}")
    for format in formats:
        if format.recognises(path):
            return format.read(path, wanted)
    raise DataError(f"{path}: not a kind of data that can be read; expected {'; '.join(f.expects for f in formats)}")


@contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Whatever goes wrong while a stranger's bytes are taken apart becomes one error that names the file."""
    try:
        yield
    except ForeseeError:
        raise
    except Exception as error:  # parsers of damaged files raise nearly anything
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise DataError(f"{path}: cannot be read as {expected} ({reason})") from error


def digest(*parts: object) -> str:
    """16 hexadecimal digits of a sha256 over texts and buffers, each with its length, so that no two lists collide.

    >>> digest("synthetic", (3, 32, 32)) == digest("synthetic", (3, 32, 32)), digest("ab", "c") == digest("a", "bc")
    (True, False)
    """
    total = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes | memoryview) else repr(part).encode()
        total.update(len(content).to_bytes(8, "big"))
        total.update(content)
    return total.hexdigest()[:16]


def _channels(batch: Batch) -> Tensor:
    """The inputs as float64 of shape (channels, everything else)."""
    assert isinstance(batch.inputs, Tensor)
    return batch.inputs.double().transpose(0, 1).flatten(1)


def _rounded(values: Tensor) -> tuple[float, ...]:
    return tuple(float(f"{value:.9g}") for value in values.tolist())


def _check_draw(size: int, index: int) -> None:
    if size < 1 or index < 0:
        raise InputError(f"batch of {size} samples, number {index}: expected a size of at least 1 and a number from 0")
