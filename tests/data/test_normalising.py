"""Normalising: what is measured, what is applied, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.data.numbers import Numbers
from torch import Tensor

import foresee.data as fd
from foresee.data import Statistics, Wanted
from foresee.errors import InputError


def test_statistics_agree_with_numpy_on_every_sample() -> None:
    rng = np.random.default_rng(0)
    # A large mean and more samples than one chunk: the naive sum of squares would lose its digits here.
    x = (rng.normal(size=(700, 2, 3, 3)) * np.array([1.0, 5.0])[:, None, None] + 1000).astype(np.float32)
    data = fd.Arrays(x, np.arange(700) % 2)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(data.statistics.mean, exact.mean(axis=(0, 2, 3)), rtol=1e-8)
    np.testing.assert_allclose(data.statistics.std, exact.std(axis=(0, 2, 3)), rtol=1e-8)
    inputs = data.batch(700).inputs
    assert isinstance(inputs, Tensor)
    assert inputs.mean(dim=(0, 2, 3)).abs().max() < 1e-3
    torch.testing.assert_close(inputs.std(dim=(0, 2, 3)), torch.ones(2), rtol=1e-3, atol=0)


def test_statistics_do_not_depend_on_the_number_of_threads() -> None:
    x = np.random.default_rng(0).integers(0, 256, (600, 32, 32, 3), dtype=np.uint8)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(fd.Arrays(x, np.arange(600) % 2).statistics)
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]


def test_large_data_is_measured_on_evenly_spaced_samples() -> None:
    data = Numbers(1000, normalise=True)
    data.statistics_samples = 10
    assert data.statistics.mean == pytest.approx((np.arange(0, 1000, 100).mean(),))


def test_constant_channels_are_shifted_but_not_divided() -> None:
    x = np.full((4, 2, 2, 2), 0.1, np.float32)
    x[:, 1] = np.arange(4)[:, None, None]
    data = fd.Arrays(x, np.array([0, 1, 0, 1]))
    assert data.statistics.std[0] == 1.0
    inputs = data.batch(4).inputs
    assert isinstance(inputs, Tensor)
    assert inputs[:, 0].abs().max() < 1e-6
    assert inputs[:, 1].std() > 1


def test_normalise_off_and_own_statistics() -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    raw = fd.Arrays(x, np.array([0, 1, 0, 1]), wanted=Wanted(normalise=False)).batch(4).inputs
    own = Statistics((1.0, 1.0), (2.0, 4.0))
    scaled = fd.Arrays(x, np.array([0, 1, 0, 1]), wanted=Wanted(normalise=own)).batch(4).inputs
    assert isinstance(raw, Tensor)
    assert sorted(raw.flatten().tolist()) == list(range(8))
    torch.testing.assert_close(scaled, (raw - 1) / torch.tensor([2.0, 4.0]))


@pytest.mark.parametrize(
    ("mean", "std"), [((0.0,), (0.0,)), ((0.0,), (1.0, 1.0)), ((float("nan"),), (1.0,)), ((0.0,), (-1.0,))]
)
def test_senseless_statistics_are_refused(mean: tuple[float, ...], std: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="one finite mean and one std above 0"):
        Statistics(mean, std)


def test_statistics_of_other_channels_are_refused() -> None:
    with pytest.raises(InputError, match="3 channels for inputs of 1"):
        Statistics((0.0,) * 3, (1.0,) * 3).apply(torch.zeros(2, 1, 4, 4))
