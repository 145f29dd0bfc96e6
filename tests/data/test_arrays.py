from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import Tensor

import foresee.data as fd
from foresee.data import Arrays, Wanted
from foresee.data.arrays import fit
from foresee.errors import DataError, InputError
from foresee.task import Task
from foresee.testing import DataSuite

CLASSES = np.array([0, 1, 2, 0, 1, 2])


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=shape)


class TestImages(DataSuite):
    """Bytes, channels last, at another size."""

    def data(self) -> fd.Data:
        images = np.random.default_rng(0).integers(0, 256, (13, 9, 8, 3), dtype=np.uint8)
        return Arrays(images, np.arange(13) % 3, wanted=Wanted(resize=(5, 7)))


class TestRegression(DataSuite):
    def data(self) -> fd.Data:
        return Arrays(numbers(13, 4), numbers(13, 2))

    def others(self) -> list[fd.Data]:
        return [Arrays(numbers(13, 4), numbers(13, 2) + 1), Arrays(numbers(13, 4) + 1, numbers(13, 2))]


class TestUnlabelled(DataSuite):
    def data(self) -> fd.Data:
        return Arrays(numbers(13, 4), None, outputs=3, wanted=Wanted(normalise=False))


def whole(data: fd.Data) -> tuple[Tensor, Tensor]:
    batch = data.read(torch.arange(len(data)))
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    return batch.inputs, batch.labels


def save(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, **arrays)
    return path


# -- layout of the inputs


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [
        ((6, 9, 8, 3), np.uint8, (3, 9, 8)),
        ((6, 9, 8, 3), np.float32, (3, 9, 8)),
        ((6, 3, 9, 8), np.float32, (3, 9, 8)),
        ((6, 3, 9, 8), np.uint8, (3, 9, 8)),
        ((6, 4, 5, 3), np.uint8, (3, 4, 5)),  # both short: uint8 has its channels last
        ((6, 4, 5, 3), np.float64, (4, 5, 3)),  # both short: others have them first
        ((6, 16, 7, 7), np.float16, (16, 7, 7)),  # neither short
        ((6, 7, 7, 16), np.uint8, (16, 7, 7)),
        ((6, 9, 8), np.uint8, (1, 9, 8)),
        ((6, 20), np.int64, (20,)),
        ((6, 2, 3, 4, 5), np.float32, (2, 3, 4, 5)),
    ],
)
def test_layout_follows_the_stated_rules(shape: tuple[int, ...], dtype: Any, expected: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    data = Arrays(x, CLASSES)
    assert data.task == Task(expected, 3)
    inputs, _ = whole(data)
    scale = 255 if dtype == np.uint8 else 1
    moved = x if x.shape[1:] == expected else (x[:, None] if x.ndim == 3 else np.moveaxis(x, -1, 1))
    torch.testing.assert_close(inputs, torch.from_numpy(moved.astype(np.float32) / scale))


def test_two_axes_stay_two_for_a_task_that_says_so() -> None:
    assert Arrays(np.zeros((6, 5, 7)), CLASSES, wanted=Wanted(Task((5, 7), 3))).task.inputs == (5, 7)


def test_the_given_arrays_are_copied() -> None:
    x, y = np.zeros((6, 4), np.float32), CLASSES.copy()
    data = Arrays(x, y)
    x += 1
    y += 1
    assert whole(data)[0].sum() == 0
    assert whole(data)[1].tolist() == CLASSES.tolist()


def test_read_only_and_foreign_byte_order_are_fine() -> None:
    x = np.arange(24, dtype=">f4").reshape(6, 4)
    x.setflags(write=False)
    native = Arrays(np.arange(24, dtype=np.float32).reshape(6, 4), CLASSES)
    assert torch.equal(whole(Arrays(x, CLASSES.astype(">i2")))[0], whole(native)[0])
    assert Arrays(x, CLASSES.astype(">i2")).fingerprint == native.fingerprint


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros(6), "shape"),
        (np.zeros((0, 3)), "at least one sample"),
        (np.zeros((6, 3), complex), "complex128"),
        (np.zeros((6, 3), "U5"), "whole or real numbers"),
        (np.array([[None]] * 6), "pickle"),
        (np.array([[np.nan, 1.0]] * 6), "6 of 12 values are NaN"),
        (np.array([[1e300, 1.0]] * 6), "beyond float32"),
        (np.zeros((5, 3)), "5 inputs but 6 labels"),
    ],
)
def test_bad_inputs_are_named(x: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Arrays(x, CLASSES, name="mine")


# -- labels


def test_labels_of_every_kind() -> None:
    x = np.zeros((4, 3))

    def made(labels: Any) -> tuple[list[Any], int, torch.dtype]:
        data = Arrays(x, np.array(labels))
        return whole(data)[1].tolist(), data.task.outputs, whole(data)[1].dtype

    assert made([0, 2, 1, 0]) == ([0, 2, 1, 0], 3, torch.int64)
    assert made([[0], [2], [1], [0]]) == ([0, 2, 1, 0], 3, torch.int64)
    assert made([True, False, True, True]) == ([1, 0, 1, 1], 2, torch.int64)
    one_hot = np.eye(3)[[0, 2, 1, 0]]
    assert made(one_hot) == made(one_hot.astype(int)) == ([0, 2, 1, 0], 3, torch.int64)
    assert made([0.5, 1.5, 2.0, 3.0]) == ([[0.5], [1.5], [2.0], [3.0]], 1, torch.float32)
    assert made([[1, 1], [0, 1], [0, 0], [1, 0]]) == ([[1, 1], [0, 1], [0, 0], [1, 0]], 2, torch.float32)
    assert made([[0.5, 1], [0, 1], [0, 0], [1, 0]])[1:] == (2, torch.float32)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [1, 2, 3, 4],
            "reach 4 but only 4 of these 5 classes occur; number them 0 to 3, or give a task with 5 outputs",
        ),
        ([0, 1, 2, -1], "from -1 to 2"),
        (np.array([0, 1, 2, 2**63 + 5], np.uint64), "classes counted from 0"),
        ([0.0, np.inf, 1, 2], "NaN, infinite"),
        ([[0, 3], [1, 0], [1, 1], [0, 0]], "zeros and ones; the largest is 3"),
        (np.zeros((4, 2, 2)), r"expected \(n,\) or \(n, outputs\)"),
        (np.array(["a", "b", "c", "d"]), "whole or real numbers"),
    ],
)
def test_bad_labels_are_named(labels: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Arrays(np.zeros((4, 3)), np.array(labels))


def test_a_task_states_the_outputs() -> None:
    x = np.zeros((4, 3))
    assert Arrays(x, np.array([1, 2, 3, 4]), wanted=Wanted(Task((3,), 7))).task.outputs == 7
    assert Arrays(x, None, wanted=Wanted(Task((3,), 7))).batch(2).labels is None
    with pytest.raises(DataError, match="label 4 needs 5 outputs, but there are only 3"):
        Arrays(x, np.array([1, 2, 3, 4]), wanted=Wanted(Task((3,), 3)))
    with pytest.raises(DataError, match="2 target values per sample, but the task has 3"):
        Arrays(x, np.array([[0.5, 1.0]] * 4), wanted=Wanted(Task((3,), 3)))
    with pytest.raises(DataError, match="no labels to count the outputs by; give a task"):
        Arrays(x, None)


# -- fitting


@examples(25)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12), st.integers(1, 12), st.floats(-3, 3, width=32))
def test_fitting_keeps_constants_and_shapes(h: int, w: int, to_h: int, to_w: int, value: float) -> None:
    fitted = fit(torch.full((2, 1, h, w), value), (3, to_h, to_w))
    assert fitted.shape == (2, 3, to_h, to_w)
    torch.testing.assert_close(fitted, torch.full_like(fitted, value), rtol=1e-5, atol=1e-6)


def test_shrinking_takes_every_pixel_into_account() -> None:
    image = torch.zeros(1, 1, 16, 16)
    image[0, 0, 1::4] = image[0, 0, 2::4] = 1.0  # the rows that plain interpolation would look at, and no others
    torch.testing.assert_close(fit(image, (1, 4, 4))[0, 0, 1:3, 1:3], torch.full((2, 2), 0.5), rtol=0, atol=0.05)


def test_what_cannot_be_fitted_is_refused() -> None:
    x = np.zeros((6, 3, 8, 8))
    with pytest.raises(DataError, match="3x8x8 cannot be fitted to 1x8x8"):
        Arrays(x, CLASSES, wanted=Wanted(Task((1, 8, 8), 3)))
    with pytest.raises(DataError, match="20 cannot be fitted to 21"):
        Arrays(np.zeros((6, 20)), CLASSES, wanted=Wanted(Task((21,), 3)))
    with pytest.raises(InputError, match="only images"):
        Arrays(np.zeros((6, 20)), CLASSES, wanted=Wanted(resize=(8, 8)))


def test_a_sample_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(0)
    data = Arrays(
        rng.integers(0, 256, (40, 9, 9, 3), dtype=np.uint8), np.arange(40) % 3, wanted=Wanted(resize=(16, 16))
    )
    together = whole(data)[0]
    for index in (0, 17, 39):
        alone = data.read(torch.tensor([index])).inputs
        assert isinstance(alone, Tensor)
        torch.testing.assert_close(alone[0], together[index], rtol=0, atol=1e-6)


# -- fingerprints


def test_fingerprints_are_of_content_not_of_form(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, (6, 9, 8, 3), dtype=np.uint8)
    a = save(tmp_path / "a.npz", x=x, y=CLASSES)
    b = save(tmp_path / "b.npz", images=np.moveaxis(x, -1, 1), labels=CLASSES.astype(np.uint8))
    first = fd.load(a).fingerprint
    assert fd.load(b).fingerprint == first == Arrays(x, CLASSES).fingerprint
    assert len(first) == 16
    changed = x.copy()
    changed[3, 2, 1, 0] ^= 1
    others = {
        Arrays(changed, CLASSES).fingerprint,
        Arrays(x, CLASSES[::-1].copy()).fingerprint,
        Arrays(x / 255, CLASSES).fingerprint,
        fd.load(a, resize=4).fingerprint,
        fd.load(a, normalise=False).fingerprint,
    }
    assert len(others | {first}) == 6


def test_a_task_with_sparse_features_is_refused() -> None:
    with pytest.raises(DataError, match="the task has 2 sparse features, the data has none"):
        Arrays(np.zeros((6, 3)), CLASSES, wanted=Wanted(Task((3,), 3, vocabularies=(4, 5))))
