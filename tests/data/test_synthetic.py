from __future__ import annotations

import pytest
import torch
from torch import Tensor

import foresee.data as fd
from foresee.data import Synthetic
from foresee.errors import InputError
from foresee.task import Task


def test_default_and_any_shape() -> None:
    assert fd.load("synthetic").task == Task((3, 32, 32), 10)
    assert fd.load("synthetic", resize=(4, 6)).task == Task((3, 4, 6), 10)
    for shape in [(5,), (2, 7), (3, 4, 4), (1, 2, 3, 4)]:
        batch = Synthetic(Task(shape, 4)).batch(3)
        assert isinstance(batch.inputs, Tensor)
        assert batch.inputs.shape == (3, *shape)
        assert batch.inputs.dtype == torch.float32


def test_standard_normal_inputs_and_uniform_labels() -> None:
    batch = Synthetic(Task((10,), 4)).batch(20_000, seed=3)
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    assert batch.labels.dtype == torch.int64
    assert abs(batch.inputs.mean()) < 0.01
    assert abs(batch.inputs.std() - 1) < 0.01
    assert (torch.bincount(batch.labels, minlength=4) / 20_000 - 0.25).abs().max() < 0.02


def test_seed_and_number_decide_and_there_is_no_end() -> None:
    data = Synthetic(Task((4,), 2))
    a, b = data.batch(8, seed=1, index=10**12), data.batch(8, seed=1, index=10**12)
    assert isinstance(a.inputs, Tensor)
    assert isinstance(b.inputs, Tensor)
    assert torch.equal(a.inputs, b.inputs)
    assert not torch.equal(a.inputs, data.batch(8, seed=2, index=10**12).parts[0])
    assert not torch.equal(a.inputs, data.batch(8, seed=1, index=0).parts[0])
    assert data.endless
    assert len(data) > 10**15


def test_fingerprint_is_of_the_definition_and_fixed() -> None:
    assert Synthetic().fingerprint == Synthetic(Task()).fingerprint == "d7c45b520362e75d"
    assert Synthetic().fingerprint != Synthetic(Task((3, 32, 32), 11)).fingerprint


def test_samples_have_no_numbers() -> None:
    with pytest.raises(InputError, match="ask for a batch"):
        Synthetic().read(torch.tensor([0]))
