"""A small data set whose batches say which samples they hold."""

from __future__ import annotations

from torch import Tensor

from foresee.batch import Batch
from foresee.data import Data
from foresee.data.base import digest
from foresee.task import Task


class Numbers(Data):
    """Sample i is the number i: what a batch holds says which samples were drawn."""

    def __init__(self, count: int, **options: object) -> None:
        super().__init__("numbers", Task((1,), 1), **{"normalise": False, **options})  # type: ignore[arg-type]
        self.count = count

    def __len__(self) -> int:
        return self.count

    @property
    def fingerprint(self) -> str:
        return digest("numbers", self.count)

    def read(self, indices: Tensor) -> Batch:
        return Batch(indices.float()[:, None], indices)
