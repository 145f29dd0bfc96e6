"""Click logs in memory: dense and sparse features, vocabularies, answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import foresee as fs
from foresee.data import Data, Features, Statistics, Wanted
from foresee.errors import DataError, InputError
from foresee.task import Task
from foresee.testing import DataSuite


def clicks(count: int = 30, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    sparse = np.stack([rng.integers(0, top, count) for top in (5, 9)], 1)
    return rng.normal(3.0, 2.0, size=(count, 4)), sparse, rng.integers(0, 2, count)


class TestFeatures(DataSuite):
    def data(self) -> Data:
        return Features(*clicks())

    def others(self) -> list[Data]:
        dense, sparse, labels = clicks()
        return [
            Features(dense + 1, sparse, labels),
            Features(dense, 4 - sparse % 5, labels, vocabularies=(5, 9)),
            Features(dense, sparse, 1 - labels),
            Features(dense, sparse, outputs=1),
            Features(dense, sparse, labels, vocabularies=(6, 9)),
            Features(dense, sparse, labels, wanted=Wanted(normalise=False)),
        ]


def test_only_the_dense_part_is_normalised() -> None:
    dense, sparse, labels = clicks()
    data = Features(dense, sparse, labels)
    [batch] = data.epoch(30, shuffle=False)
    numbers, categories = batch.parts
    torch.testing.assert_close(numbers.mean(0), torch.zeros(4), rtol=0, atol=1e-6)
    torch.testing.assert_close(numbers.std(0, correction=0), torch.ones(4))
    assert torch.equal(categories, torch.from_numpy(sparse))
    np.testing.assert_allclose(data.statistics.mean, dense.astype(np.float32).mean(0, dtype=float), rtol=1e-6)
    own = Statistics((1.0,) * 4, (2.0,) * 4)
    [scaled] = Features(dense, sparse, labels, wanted=Wanted(normalise=own)).epoch(30, shuffle=False)
    torch.testing.assert_close(scaled.parts[0], (torch.from_numpy(dense).float() - 1) / 2)


def test_the_given_arrays_are_copied() -> None:
    dense, sparse, labels = (np.ascontiguousarray(a) for a in clicks())
    dense, labels = dense.astype(np.float32), labels.astype(np.float32)
    data = Features(dense, sparse, labels)
    known = data.fingerprint, Features(dense, sparse, labels).fingerprint
    before = data.read(torch.arange(30)).each(torch.Tensor.clone)
    dense += 1
    sparse += 1
    labels[:] = 1 - labels
    after = data.read(torch.arange(30))
    assert known[0] == known[1]
    assert all(torch.equal(*pair) for pair in zip(before.parts, after.parts, strict=True))
    assert torch.equal(before.labels, after.labels)  # type: ignore[arg-type]


def test_vocabularies_are_counted_stated_or_the_tasks() -> None:
    dense, sparse, labels = clicks()
    assert Features(dense, sparse, labels).task == Task((4,), 1, vocabularies=(5, 9))
    assert Features(dense, sparse, labels, vocabularies=[7, 9]).task.vocabularies == (7, 9)
    task = Task((4,), 1, vocabularies=(50, 60))
    assert Features(dense, sparse, labels, wanted=Wanted(task)).task == task


@pytest.mark.parametrize(
    ("labels", "outputs", "kind"),
    [
        ([0, 1, 1, 0], None, (torch.float32, (4, 1), 1)),
        ([[0.0], [1.0], [1.0], [0.0]], None, (torch.float32, (4, 1), 1)),
        ([True, False, False, True], 1, (torch.float32, (4, 1), 1)),
        ([0, 1, 1, 0], 2, (torch.int64, (4,), 2)),
        ([0, 1, 2, 0], None, (torch.int64, (4,), 3)),
        ([0.5, 1.0, 2.0, 0.0], None, (torch.float32, (4, 1), 1)),
        ([[1, 1], [0, 1], [0, 0], [1, 0]], None, (torch.float32, (4, 2), 2)),
    ],
)
def test_answers_and_other_labels(labels: Any, outputs: int | None, kind: tuple[Any, ...]) -> None:
    data = Features(np.zeros((4, 1)), np.zeros((4, 1), int), np.array(labels), outputs=outputs)
    found = data.read(torch.arange(4)).labels
    assert found is not None
    assert (found.dtype, tuple(found.shape), data.task.outputs) == kind


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dense": np.zeros(30)}, r"dense features of shape \(30,\)"),
        ({"dense": np.full((30, 4), np.nan)}, "NaN, infinite"),
        ({"dense": np.array([["a"]] * 30)}, "whole or real numbers"),
        ({"sparse": np.zeros((30, 2))}, "expected whole numbers"),
        ({"sparse": np.zeros(30, int)}, "expected whole numbers"),
        ({"sparse": np.full((30, 2), 2**63, np.uint64)}, "counted from 0"),
        ({"sparse": np.full((30, 2), -1)}, "sparse feature 0 has the value -1 in row 0; expected 0 to 0"),
        ({"sparse": np.zeros((29, 2), int)}, "30 rows of dense but 29 of sparse"),
        ({"labels": np.zeros(29)}, "30 inputs but 29 labels"),
        ({"labels": None}, "no labels to count the outputs by"),
        ({"vocabularies": (5,)}, "2 sparse features, but 1 vocabularies"),
        ({"vocabularies": (5, 3)}, r"sparse feature 1 has the value [3-8] in row \d+; expected 0 to 2"),
        ({"wanted": Wanted(inputs=(5,))}, "4 dense features cannot be fitted to inputs 5"),
        ({"wanted": Wanted(Task((4,), 1))}, "2 sparse features, but 0 vocabularies"),
    ],
)
def test_bad_click_logs_are_named(change: dict[str, Any], message: str) -> None:
    dense, sparse, labels = clicks()
    with pytest.raises(DataError, match=f"mine: .*{message}"):
        Features(**{"dense": dense, "sparse": sparse, "labels": labels, "name": "mine", **change})


def test_click_logs_have_no_size() -> None:
    with pytest.raises(InputError, match="only images"):
        Features(*clicks(), wanted=Wanted(resize=(8, 8)))


def test_a_search_over_a_click_log() -> None:
    """From arrays to a scored click network, through the search, in one call."""
    data = Features(*clicks(40))
    run = fs.search(
        "nasrec_small", data=data, proxies=["naswot"], space_settings={"blocks": 2}, evaluations=3, batch_size=16
    )
    assert run.best.task.vocabularies == (5, 9)
    dense, sparse = data.batch(2).parts
    assert run.best.build()(dense, sparse).shape == (2, 1)
