"""Files of a prepared folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.data.clicks.logs import write

from foresee.data.clicks.preparing.storing import Growing, manifest_of, only_one, source_of
from foresee.errors import DataError


@pytest.mark.parametrize("columns", [None, 1, 3])
@pytest.mark.parametrize("pieces", [[], [1], [5, 0, 7]])
def test_arrays_that_grow_are_plain_npy(tmp_path: Path, columns: int | None, pieces: list[int]) -> None:
    rng = np.random.default_rng(0)
    made = [rng.normal(size=(n,) if columns is None else (n, columns)).astype(np.float32) for n in pieces]
    file = Growing(tmp_path / "a.npy", "<f4", columns)
    for piece in made:
        file.add(piece)
    told = file.close()
    found = np.load(tmp_path / "a.npy", allow_pickle=False)
    empty = np.empty((0,) if columns is None else (0, columns), np.float32)
    assert np.array_equal(found, np.concatenate([empty, *made]))
    assert told["bytes"] == (tmp_path / "a.npy").stat().st_size


def test_what_is_no_manifest(tmp_path: Path) -> None:
    assert manifest_of(tmp_path) is None
    for text in ("[]", '{"format": "other"}'):
        (tmp_path / "manifest.json").write_text(text)
        assert manifest_of(tmp_path) is None
    for text in ("", '{"format": "foresee-clicks"}', '{"format": "foresee-clicks", "version": 99, "files": {}}'):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(DataError):
            manifest_of(tmp_path)


def test_one_at_a_time(tmp_path: Path) -> None:
    with only_one(tmp_path / "w") as held:
        assert held
        (tmp_path / "w").rename(tmp_path / "done")
    assert not (tmp_path / "w").exists()


def test_another_file_is_another_source(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x" * 100)
    first = source_of(path)
    assert source_of(path) == first
    write(path, "x" * 99 + "y")
    os.utime(path, ns=(0, first["written"]))
    assert source_of(path)["ends"] != first["ends"]
    write(path, "x" * 100)
    os.utime(path, ns=(0, first["written"] + 1))
    assert source_of(path) != first
