"""The two halves of the data that a search sees: one for the weights, one for the architecture."""

from __future__ import annotations

from torch import Tensor

from foresee.batch import Batch
from foresee.data import Data
from foresee.errors import DataError
from foresee.seeds import derive, generator
from foresee.training.augmentation.cropping import black, cropped, flipped


class Halves:
    """Half of the samples train weights, the other half says which architecture is better; the seed decides which.

    Batches are numbered through all epochs: each half is gone through in an order that the seed draws anew for every lap.
    Endless data is not divided: its halves are batches of two seeds, which never meet. Images that train weights are changed
    a little each time: padded with black and cropped again, and mirrored; those for the architecture are seen as they are.

    Args:
        data: what is divided.
        batch: samples in a batch.
        seed: decides which samples, their order, and how they are changed.
        crop: pixels of padding on every side; 0: no crop.
        flip: whether every second image is mirrored.
        of: who asks, for messages.

    >>> from foresee.data import Digits
    >>> halves = Halves(Digits(), 8, seed=0)
    >>> len(halves.training(0)), halves.steps
    (8, 112)
    """

    def __init__(
        self, data: Data, batch: int, *, seed: int, crop: int = 0, flip: bool = False, of: str = "one-shot search"
    ) -> None:
        self.batch, self.crop, self.flip, self._of = batch, crop, flip, of
        self._seeds = derive(seed, "training half"), derive(seed, "validation half")
        if data.endless:
            self._training = self._validation = data
        else:
            parts = data.split({"train": 0.5, "val": 0.5}, seed=derive(seed, "halves"))
            self._training, self._validation = parts["train"], parts["val"]

    @property
    def steps(self) -> int:
        """Batches in an epoch of a half."""
        half = 2 if self._training.endless else 1
        return max(1, self._training.steps(half * self.batch, drop_last=True))

    @property
    def validation_steps(self) -> int:
        """Batches that the validation half has."""
        return self.steps if self._validation.endless else self._validation.steps(self.batch, drop_last=True)

    def training(self, number: int) -> Batch:
        """Batch `number` for the weights."""
        batch = self._labelled(self._training.batch(self.batch, seed=self._seeds[0], index=number))
        return batch.rebuilt([self._changed(images, number) for images in batch.parts])

    def validation(self, number: int) -> Batch:
        """Batch `number` for the architecture."""
        return self._labelled(self._validation.batch(self.batch, seed=self._seeds[1], index=number))

    def _changed(self, images: Tensor, number: int) -> Tensor:
        numbers = generator(self._seeds[0], "changes", number)
        if self.crop:
            known = None if self._training.normalise is False else self._training.statistics
            colours = None if known is None else (known.mean, known.std)
            images = cropped(images, self.crop, numbers, black(colours, images))
        return flipped(images, numbers) if self.flip else images

    def _labelled(self, batch: Batch) -> Batch:
        if batch.labels is None:
            raise DataError(f"{self._of}: data {self._training.name} has no labels to train with")
        return batch
