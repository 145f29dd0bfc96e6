"""Whole files or none."""

from __future__ import annotations

import numpy as np
import pytest

from foresee.ensembles.finding.shelf import Shelf
from foresee.errors import RunError


def test_what_is_written_is_read_again(tmp_path):
    shelf = Shelf(tmp_path / "a" / "b")
    assert shelf.read("x.json") is None
    assert shelf.read_arrays("x.npz") is None
    shelf.write("x.json", {"one": [1, 2]})
    shelf.write_arrays("x.npz", labels=np.arange(3), probabilities=np.eye(2))
    assert shelf.read("x.json") == {"one": [1, 2]}
    assert shelf.read_arrays("x.npz")["labels"].tolist() == [0, 1, 2]
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["x.json", "x.npz"]


def test_equal_arrays_are_equal_files(tmp_path):
    shelf = Shelf(tmp_path)
    for name in ("a.npz", "b.npz"):
        shelf.write_arrays(name, x=np.linspace(0, 1, 7))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_damaged_files_are_said(tmp_path):
    (tmp_path / "x.json").write_text("{")
    (tmp_path / "x.npz").write_bytes(b"nothing")
    with pytest.raises(RunError, match=r"x\.json: not a JSON file"):
        Shelf(tmp_path).read("x.json")
    with pytest.raises(RunError, match=r"x\.npz: cannot be read as arrays"):
        Shelf(tmp_path).read_arrays("x.npz")


def test_without_a_folder_nothing_is_kept():
    shelf = Shelf(None)
    shelf.write("x.json", {})
    shelf.write_arrays("x.npz", x=np.zeros(1))
    assert shelf.read("x.json") is None
    assert shelf.read_arrays("x.npz") is None
