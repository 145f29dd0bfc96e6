"""Numbers in the type they came in, handed out in another."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresee.data import held
from foresee.data.base import Pieces, digest
from foresee.data.held import Held
from foresee.errors import DataError


@pytest.mark.parametrize("kind", ["?", "i1", "u1", "<i2", ">i2", "u4", "i8", "f2", "f4", ">f4", "f8"])
def test_rows_are_those_of_a_converted_copy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "PIECE", 7)
    array = np.abs(np.random.default_rng(0).normal(scale=3, size=(9, 2, 3))).astype(kind)
    plain = np.ascontiguousarray(np.moveaxis(array, 2, 1), np.float32)
    for copy in (False, True):
        kept = Held(np.moveaxis(array, 2, 1), np.float32, copy=copy)
        rows = torch.tensor([8, 0, 0, 3])
        assert torch.equal(kept.rows(rows), torch.from_numpy(plain)[rows])
        assert np.array_equal(np.concatenate([piece for _, piece in kept.pieces()]), plain)
        assert [first for first, _ in kept.pieces()] == list(range(9))
        # the digest is that of the converted bytes in one
        whole = (plain.shape, "torch.float32", plain.astype("<f4").tobytes())
        assert digest(*kept.content) == digest(*whole)


def test_what_is_handed_out_is_the_callers_own() -> None:
    array = np.zeros((4, 2), np.float32)
    kept = Held(array, np.float32, copy=False)
    kept.rows(torch.tensor([0, 1])).fill_(5)
    assert not array.any()


def test_a_copy_is_never_larger_than_it_must_be() -> None:
    for kind, size in ((np.uint8, 1), (np.float64, 4)):
        array = np.zeros((4, 2), kind)
        kept = Held(array, np.float32)
        assert kept.array.itemsize == size
        array += 1
        assert not kept.array.any()


def test_numbers_that_are_none_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "PIECE", 3)
    array = np.zeros((5, 2))
    Held(array, np.float32).check_finite("x")
    array[1, 0], array[4, 1], array[3, 0] = np.nan, np.inf, 1e300
    for copy in (False, True):
        with pytest.raises(DataError, match="x: 3 of 10 values are NaN"):
            Held(array, np.float32, copy=copy).check_finite("x")


def test_pieces_are_digested_as_one() -> None:
    assert digest("a", Pieces(4, [b"ab", memoryview(b"cd")])) == digest("a", b"abcd")
