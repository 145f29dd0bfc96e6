from __future__ import annotations

import pytest
import torch
from torch import Tensor

import foresee.data as fd
from foresee.data import Digits
from foresee.errors import DataError, InputError
from foresee.task import Task
from foresee.testing import DataSuite


class TestDigits(DataSuite):
    size = 50

    def data(self) -> fd.Data:
        return Digits(channels=1, size=9, split="test")

    def others(self) -> list[fd.Data]:
        return [Digits(channels=1, size=9), Digits(channels=1, size=10, split="test")]


def images(data: fd.Data, count: int) -> Tensor:
    inputs = data.read(torch.arange(count)).inputs
    assert isinstance(inputs, Tensor)
    return inputs


def test_shape_labels_and_range() -> None:
    data = fd.load("digits")
    assert (len(data), data.task) == (1797, Task((3, 32, 32), 10))
    batch = data.batch(64)
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    assert (batch.inputs.dtype, batch.labels.dtype) == (torch.float32, torch.int64)
    assert torch.equal(batch.inputs[:, 0], batch.inputs[:, 2])
    raw = images(data, 100)
    assert 0 <= raw.min() < raw.max() <= 1
    assert data.read(torch.arange(5)).labels.tolist() == [0, 1, 2, 3, 4]  # type: ignore[union-attr]


def test_enlarged_as_bilinear_interpolation_by_hand() -> None:
    small = images(Digits(channels=1, size=8), 2)[:, 0].double()
    large = images(Digits(channels=1, size=32), 2)[:, 0].double()

    # Target pixel n lies at (n + 1/2) / 4 - 1/2 among the small pixels; tent weights, which sum to 1 at the border too.
    place = (torch.arange(32, dtype=torch.float64) + 0.5) / 4 - 0.5
    weights = (1 - (place[:, None] - torch.arange(8)).abs()).clamp(min=0)
    weights = weights / weights.sum(1, keepdim=True)
    torch.testing.assert_close(large, weights @ small @ weights.T, rtol=0, atol=1e-6)


def test_unchanged_at_their_own_size() -> None:
    from sklearn.datasets import load_digits

    torch.testing.assert_close(
        images(Digits(channels=1, size=8), 20)[:, 0].double() * 16, torch.from_numpy(load_digits().images[:20])
    )


def test_splits_are_disjoint_and_share_the_training_statistics() -> None:
    everything, train, test = (Digits(split=split) for split in (None, "train", "test"))
    assert (len(train), len(test)) == (1437, 360)
    assert torch.equal(images(train, 3), images(everything, 3))
    assert test.statistics == train.statistics != everything.statistics
    assert set(test.read(torch.arange(360)).labels.tolist()) == set(range(10))  # type: ignore[union-attr]
    with pytest.raises(InputError, match="train and test"):
        fd.load("digits", split="valid")


def test_a_task_or_a_size_decides() -> None:
    assert fd.load("digits", resize=16).task == Task((3, 16, 16), 10)
    assert fd.load("digits", task=Task((1, 8, 12), 12)).batch(2).parts[0].shape == (2, 1, 8, 12)
    with pytest.raises(DataError, match="label 9 needs 10 outputs, but there are only 5"):
        fd.load("digits", task=Task((3, 32, 32), 5))
    with pytest.raises(DataError, match="1x8x8 cannot be fitted to 64"):
        fd.load("digits", task=Task((64,), 10))


def test_fingerprint_tells_what_is_looked_at() -> None:
    seen = {
        Digits().fingerprint,
        Digits(size=16).fingerprint,
        Digits(split="train").fingerprint,
        Digits(split="test").fingerprint,
        Digits(normalise=False).fingerprint,
    }
    assert len(seen) == 5
    assert Digits().fingerprint == fd.load("digits").fingerprint == "5452f77781925333"


def test_its_own_splits_are_named() -> None:
    assert fd.load("digits").splits == ("train", "test")
    assert [len(fd.load("digits", split=name)) for name in fd.load("digits").splits] == [1437, 360]
