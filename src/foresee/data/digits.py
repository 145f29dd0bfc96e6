"""The embedded real images: 1,797 handwritten digits of 8x8 pixels that ship with scikit-learn."""

from __future__ import annotations

import numpy as np

from foresee.data.arrays import Arrays
from foresee.data.base import Data
from foresee.data.loading import Wanted, sets
from foresee.data.normalising import Statistics
from foresee.errors import InputError
from foresee.task import Task

#: the training split is the first 1,437 of the 1,797 samples, the test split is the rest
TRAINING = 1437


class Digits(Arrays):
    """Scikit-learn's digits, enlarged (bilinear), the one channel repeated: 3x32x32 unless told otherwise.

    A `task` decides over `channels` and `size`. Without a `split` these are all 1,797 samples.

    >>> Digits().batch(2).inputs.shape, Digits(channels=1, size=8).batch(2).inputs.shape
    (torch.Size([2, 3, 32, 32]), torch.Size([2, 1, 8, 8]))
    """

    splits = ("train", "test")

    def __init__(
        self,
        task: Task | None = None,
        *,
        channels: int = 3,
        size: int = 32,
        split: str | None = None,
        normalise: bool | Statistics = True,
    ) -> None:
        from sklearn.datasets import load_digits  # takes a second to import

        task = task or Task((channels, size, size), 10)
        wanted = Wanted.of(task, None, split, normalise)
        if wanted.split not in (None, *self.splits):
            raise InputError(f"split {wanted.split!r}: digits has train and test")
        part = {None: slice(None), "train": slice(TRAINING), "test": slice(TRAINING, None)}[wanted.split]
        like = Digits(task, split="train") if wanted.split == "test" else None
        name = "digits" if wanted.split is None else f"digits/{wanted.split}"
        found = load_digits()
        images = (found.images[part] / 16).astype(np.float32)  # whole numbers 0 to 16: sixteenths are exact
        super().__init__(images, found.target[part], name=name, wanted=wanted, like=like)


@sets.register("digits")
def _load(wanted: Wanted) -> Data:
    return Digits(wanted.fitted(Task((3, 32, 32), 10)), split=wanted.split, normalise=wanted.normalise)
