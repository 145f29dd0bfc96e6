"""The suite passes on a small data set, and fails on data sets that break one promise each."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data import Data, Synthetic
from foresee.data.base import Part, digest
from foresee.seeds import generator
from foresee.task import Task
from foresee.testing import DataSuite


class Small(Data):
    """Thirteen samples of two numbers, in two classes."""

    outputs = 2

    def __init__(self, count: int = 13) -> None:
        super().__init__("small", Task((2,), self.outputs))
        self._inputs = torch.randn(count, 2, generator=generator(0, "small"))
        self._labels = torch.arange(count) % 2

    def __len__(self) -> int:
        return len(self._inputs)

    @property
    def fingerprint(self) -> str:
        return digest("small", self._inputs.tolist())

    def read(self, indices: Tensor) -> Batch:
        return Batch(self._inputs[indices], self._labels[indices])


class Clicks(Small):
    """The same with two categories each."""

    normalised_part = 0

    def __init__(self) -> None:
        super().__init__()
        self.task = Task((2,), self.outputs, vocabularies=(13, 2))

    def read(self, indices: Tensor) -> Batch:
        plain = super().read(indices)
        return Batch((plain.parts[0], torch.stack((indices, indices % 2), 1)), plain.labels)


class TestSmall(DataSuite):
    def data(self) -> Data:
        return Small()

    def others(self) -> Iterator[Data]:
        yield Small(14)


class TestClicks(DataSuite):
    def data(self) -> Data:
        return Clicks()


class TestEndless(DataSuite):
    def data(self) -> Data:
        return Synthetic(Task((2,), 3), epoch_samples=30)


# -- the suite can fail -------------------------------------------------------------------------------------------------
class DrawsGlobally(Small):
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return self.normalised(self.read(torch.randperm(len(self))[:size]))


class Remembers(Small):
    """What was asked before decides."""

    asked = 0

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        self.asked += 1
        return super().batch(size, seed=seed, index=self.asked)


class OtherBatches(Small):
    def batches(self, count: int, size: int, seed: int = 0) -> list[Batch]:
        return super().batches(count, size, seed + 1)


class IgnoresTheSeed(Small):
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return super().batch(size, index=index)


class WithReplacement(Small):
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        rows = torch.randint(len(self), (size,), generator=generator(seed, index))
        return self.normalised(self.read(rows))


class NotNormalised(Small):
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return self.read(torch.arange(size))


class EndlessAgain(Synthetic):
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return super().batch(size, seed=seed)


class ShortEpochs(Small):
    def epoch(self, size: int, **more: object) -> Iterator[Batch]:
        return super().epoch(size, **{**more, "drop_last": True})


class WrongSteps(Small):
    def steps(self, size: int, *, drop_last: bool = False) -> int:
        return super().steps(size, drop_last=drop_last) - 1

    def epoch(self, size: int, **more: object) -> Iterator[Batch]:
        return Small().epoch(size, **more)


class UnevenBatches(Small):
    def epoch(self, size: int, **more: object) -> Iterator[Batch]:
        batches = list(super().epoch(size, **more))
        return iter([batches[-1], *batches[:-1]])


class EpochsWithReplacement(Small):
    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        good = super()._step(size, seed, number, step, shuffle)
        return good if step else good[torch.zeros(len(good)).long()]


class EpochsOfSome(Small):
    @property
    def epoch_samples(self) -> int:
        return 8


class OneOrder(Small):
    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        return super()._step(size, seed, 0, step, shuffle)


class OneSeed(Small):
    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        return super()._step(size, 0, number, step, shuffle)


class AlwaysShuffles(Small):
    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        return super()._step(size, seed, number, step, True)


class UnsteadyOrder(Small):
    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        return super()._step(size, seed, number + random.randrange(1000), step, shuffle)


class DropsTheFirst(Small):
    def epoch(self, size: int, *, drop_last: bool = False, **more: object) -> Iterator[Batch]:
        batches = list(super().epoch(size, **more))
        return iter(batches[1:] if drop_last else batches)


class BeginsAnew(Small):
    """Resumed, it draws the order from the batch it begins at."""

    def epoch(self, size: int, *, start: int = 0, seed: int = 0, **more: object) -> Iterator[Batch]:
        rest = list(super().epoch(size, seed=seed + start, **more))
        return iter(rest[start:])


class Overlapping(Small):
    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        good = super().split(parts, seed=seed, ordered=ordered)
        good["test"]._rows = good["train"]._rows[: len(good["test"])]
        return good


class SplitsAnew(Small):
    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        return super().split(parts, seed=random.randrange(10**9), ordered=ordered)


class NeverInOrder(Small):
    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        return super().split(parts, seed=seed)


class NormalisesEachPart(Small):
    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        good = super().split(parts, seed=seed, ordered=ordered)
        return {name: Part(self, name, part._rows, None) for name, part in good.items()}


class WrongShares(Small):
    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        return super().split({"train": 0.2, "val": 0.3, "test": 0.5}, seed=seed, ordered=ordered)


class OnePrint(Small):
    @property
    def fingerprint(self) -> str:
        return "0" * 16

    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        good = super().split(parts, seed=seed, ordered=ordered)
        for part in good.values():
            part.__dict__["fingerprint"] = "0" * 16
        return good


class SplitsWithoutEnd(Synthetic):
    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        return {}


class LongPrint(Small):
    @property
    def fingerprint(self) -> str:
        return "small"


class PrintOfTheObject(Small):
    @property
    def fingerprint(self) -> str:
        return digest(id(self))


class PrintOfTheProcess(Small):
    @property
    def fingerprint(self) -> str:
        return digest(os.getpid())


class PrintOfItsUse(Small):
    used = 0

    def read(self, indices: Tensor) -> Batch:
        self.used += 1
        return super().read(indices)

    @property
    def fingerprint(self) -> str:
        return digest(self.used)


class PrintOfWhatIsKept(Small):
    def __getstate__(self) -> dict:
        return {**self.__dict__, "_inputs": self._inputs + 1}


class LosesItsTurn(Small):
    """In another process it begins elsewhere."""

    turn = 0

    def __getstate__(self) -> dict:
        return {**self.__dict__, "turn": 1}

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return super().batch(size, seed=seed + self.turn, index=index)


class OtherShape(Small):
    def read(self, indices: Tensor) -> Batch:
        return Batch(self._inputs[indices].reshape(-1, 2, 1), self._labels[indices])


class OtherType(Small):
    def read(self, indices: Tensor) -> Batch:
        return Batch(self._inputs[indices].double(), self._labels[indices])


class ManyClasses(Small):
    outputs = 1


class LabelsInRows(Small):
    def read(self, indices: Tensor) -> Batch:
        return Batch(self._inputs[indices], self._labels[indices][:, None])


class LabelsOfBytes(Small):
    def read(self, indices: Tensor) -> Batch:
        return Batch(self._inputs[indices], self._labels[indices].to(torch.uint8))


class AnswersWithoutAxis(Small):
    def read(self, indices: Tensor) -> Batch:
        return Batch(self._inputs[indices], self._labels[indices].float())


class SmallerBatches(Small):
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return super().batch(size - 1, seed=seed, index=index)


class OutsideTheVocabulary(Clicks):
    def read(self, indices: Tensor) -> Batch:
        good = super().read(indices)
        return good.rebuilt((good.parts[0], good.parts[1] + 1))


class FloatingCategories(Clicks):
    def read(self, indices: Tensor) -> Batch:
        good = super().read(indices)
        return good.rebuilt((good.parts[0], good.parts[1].float()))


class TooFewCategories(Clicks):
    def read(self, indices: Tensor) -> Batch:
        good = super().read(indices)
        return good.rebuilt((good.parts[0], good.parts[1][:, :1]))


class MovesPython(Small):
    @property
    def fingerprint(self) -> str:
        random.random()
        return super().fingerprint


class MovesNumpy(Small):
    def read(self, indices: Tensor) -> Batch:
        np.random.rand()  # noqa: NPY002
        return super().read(indices)


class MovesTorch(Small):
    def split(self, parts, *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        torch.rand(1)
        return super().split(parts, seed=seed, ordered=ordered)


class HandsOutViews(Small):
    """Not normalised, and always the first samples: what it hands out is its own memory."""

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return Batch(self._inputs[:size], self._labels[:size])


class HandsOutItsLabels(Small):
    """As a data set that keeps one batch ready."""

    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        good = super()._step(size, seed, number, step, shuffle)
        return good.rebuilt(good.parts, self._labels[step * size : (step + 1) * size])


class TakesAnything(Small):
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        return super().batch(max(size, 1), seed=seed, index=max(index, 0))


class BeyondTheEnd(Small):
    def epoch(self, size: int, *, start: int = 0, **more: object) -> Iterator[Batch]:
        return super().epoch(size, start=min(start, self.steps(size)), **more)


def suite(kind: type[Data]) -> DataSuite:
    made = (
        (lambda self: kind(Task((2,), 3), epoch_samples=30)) if issubclass(kind, Synthetic) else (lambda self: kind())
    )
    return type("Checks", (DataSuite,), {"data": made, "others": lambda self: [Small(14)]})()


@pytest.mark.parametrize(
    ("test", "kind", "message"),
    [
        ("same_numbers_same_batch", DrawsGlobally, "in another order"),
        ("same_numbers_same_batch", Remembers, "in another order"),
        ("same_numbers_same_batch", OtherBatches, "of `batches` is not that of `batch`"),
        ("the_seed_decides", IgnoresTheSeed, "ten seeds gave the same batch"),
        ("a_lap_is_disjoint", WithReplacement, "came again within one lap"),
        ("a_lap_is_disjoint", NotNormalised, "not those that `read` and `normalised` give"),
        ("a_lap_is_disjoint", EndlessAgain, "endless data came twice"),
        ("an_epoch_is_everything_once", ShortEpochs, "3 batches, `steps` says 4"),
        ("an_epoch_is_everything_once", WrongSteps, "4 batches, `steps` says 3"),
        ("an_epoch_is_everything_once", UnevenBatches, r"batches of \[1, 4, 4, 4\]"),
        ("an_epoch_is_everything_once", EpochsWithReplacement, "samples are missing from an epoch"),
        ("an_epoch_is_everything_once", EpochsOfSome, "an epoch of 8 of 13 samples"),
        ("an_epoch_is_everything_once", EndlessAgain, "endless data came twice"),
        ("epochs", OneOrder, "two epochs came in the same order"),
        ("epochs", OneSeed, "two seeds gave the same order"),
        ("epochs", AlwaysShuffles, "do not come by their numbers"),
        ("epochs", UnsteadyOrder, "when asked for again"),
        ("epochs", DropsTheFirst, "changed the others"),
        ("an_epoch_is_resumed", BeginsAnew, "goes on with other batches"),
        ("splits", Overlapping, "not disjoint or not everything together"),
        ("splits", SplitsAnew, "when split again"),
        ("splits", NeverInOrder, "not one after the other"),
        ("splits", NormalisesEachPart, "not as the training part"),
        ("splits", WrongShares, "were asked for"),
        ("splits", OnePrint, "share a fingerprint"),
        ("splits", SplitsWithoutEnd, "expected an error"),
        ("fingerprint", LongPrint, "not 16 hexadecimal digits"),
        ("fingerprint", PrintOfTheObject, "made again"),
        ("fingerprint", PrintOfTheProcess, "in another process"),
        ("fingerprint", PrintOfItsUse, "a batch changed the fingerprint"),
        ("fingerprint", PrintOfWhatIsKept, "pickled, it has another fingerprint"),
        ("fingerprint", OnePrint, None),
        ("pickling", LosesItsTurn, "pickled, the data gives another batch"),
        ("shapes_and_types", OtherShape, "inputs of shape"),
        ("shapes_and_types", OtherType, "inputs of type torch.float64"),
        ("shapes_and_types", ManyClasses, "classes from 0 to 1, for 1 outputs"),
        ("shapes_and_types", LabelsInRows, "classes of shape"),
        ("shapes_and_types", LabelsOfBytes, "labels of type torch.uint8"),
        ("shapes_and_types", AnswersWithoutAxis, "labels of shape"),
        ("shapes_and_types", SmallerBatches, "a wrong size"),
        ("shapes_and_types", OutsideTheVocabulary, "outside their vocabularies"),
        ("shapes_and_types", FloatingCategories, "expected one: the sparse features"),
        ("shapes_and_types", TooFewCategories, "sparse features of shape"),
        ("nothing_global_is_touched", MovesPython, "the fingerprint moved a global random state"),
        ("nothing_global_is_touched", MovesNumpy, "a batch moved a global random state"),
        ("nothing_global_is_touched", MovesTorch, "a split moved a global random state"),
        ("a_batch_is_the_callers_own", HandsOutViews, "what `batch` gave"),
        ("a_batch_is_the_callers_own", HandsOutItsLabels, "what `epoch` gave"),
        ("senseless_draws_are_refused", TakesAnything, "a batch of no samples"),
        ("senseless_draws_are_refused", BeyondTheEnd, "beyond its end"),
    ],
)
def test_broken_promises_are_found(test, kind, message):
    check = getattr(suite(kind), f"test_{test}")
    if message is None:  # the same print as another data set of this kind has
        type(check.__self__).others = lambda self: [kind(14)]
        message = "has the same fingerprint as"
    with pytest.raises(AssertionError, match=message):
        check()


def test_the_suite_asks_for_data():
    with pytest.raises(NotImplementedError, match="give the suite its data"):
        DataSuite().test_fingerprint()


def test_a_refusal_of_another_kind_is_not_taken_for_ours():
    class Wrong(Small):
        def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
            raise KeyError(size)

    with pytest.raises(KeyError):
        suite(Wrong).test_senseless_draws_are_refused()
