from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

import foresee as fs
import foresee.data as fd
from foresee.data import Synthetic
from foresee.errors import InputError
from foresee.seeds import stream
from foresee.task import Task
from foresee.testing import DataSuite

CLICKS = Task((13,), 1, vocabularies=(100, 7))


class TestSynthetic(DataSuite):
    def data(self) -> fd.Data:
        return Synthetic(Task((3, 4, 4), 5), epoch_samples=30)

    def others(self) -> Iterator[fd.Data]:
        yield from (Synthetic(Task((3, 4, 4), 6)), Synthetic(Task((3, 4, 5), 5)), Synthetic())


class TestClicks(DataSuite):
    def data(self) -> fd.Data:
        return Synthetic(CLICKS, epoch_samples=30)

    def others(self) -> Iterator[fd.Data]:
        yield from (Synthetic(Task((13,), 1)), Synthetic(Task((13,), 1, vocabularies=(100, 8))))


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


def test_clicks_are_uniform_over_their_vocabularies() -> None:
    batch = fd.load("synthetic", task=CLICKS).batch(20_000, seed=3)
    dense, sparse = batch.parts
    assert (dense.shape, sparse.shape, sparse.dtype) == ((20_000, 13), (20_000, 2), torch.int64)
    assert abs(dense.std() - 1) < 0.01
    for column, values in zip(sparse.T, CLICKS.vocabularies, strict=True):
        counts = torch.bincount(column, minlength=values) / 20_000
        assert len(counts) == values
        assert (counts * values - 1).abs().max() < 0.4
    assert batch.labels is not None
    assert (batch.labels.shape, batch.labels.dtype) == ((20_000, 1), torch.float32)
    assert abs(batch.labels.mean() - 0.5) < 0.02
    assert set(batch.labels.flatten().tolist()) == {0.0, 1.0}


def test_clicks_with_several_outputs_have_classes() -> None:
    labels = Synthetic(Task((2,), 4, vocabularies=(3,))).batch(200).labels
    assert labels is not None
    assert labels.dtype == torch.int64
    assert set(labels.tolist()) == {0, 1, 2, 3}


def test_a_click_network_is_scored_on_it() -> None:
    data = fd.load("synthetic", task=CLICKS)
    space = fs.spaces.get("nasrec_small", blocks=2)
    network = fs.Candidate(space, space.sample(stream(0)), data.task).build()
    for name in ("naswot", "meco", "grad_norm", "snip", "zico"):
        found = fs.score(network, data.batches(2, 16, seed=1), name)
        assert found.ok, f"{name}: {found.status}: {found.reason}"


def test_epochs_are_of_the_stated_length_and_fresh() -> None:
    data = Synthetic(Task((2,), 3), epoch_samples=10)
    sizes = [len(batch) for batch in data.epoch(4)]
    assert (sizes, data.steps(4), data.steps(4, drop_last=True)) == ([4, 4, 2], 3, 2)
    drawn = [batch.parts[0] for number in range(3) for batch in data.epoch(4, number=number)]
    assert torch.cat(drawn).unique(dim=0).shape == (30, 2)
    with pytest.raises(InputError, match="batch of 0 samples"):
        Synthetic(epoch_samples=0)


def test_token_ids_are_whole_numbers_below_their_bound():
    data = Synthetic(Task((7,), 3, tokens=5))
    batch = data.batch(200, seed=1)
    assert batch.inputs.shape == (200, 7)
    assert batch.inputs.dtype == torch.int64
    assert set(batch.inputs.flatten().tolist()) == set(range(5))
    assert data.fingerprint != Synthetic(Task((7,), 3)).fingerprint != Synthetic(Task((7,), 3, tokens=6)).fingerprint
