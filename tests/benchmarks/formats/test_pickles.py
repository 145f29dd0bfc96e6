"""Pickles: refused without trust, and read in a child without running what they name."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
import torch
from tests.benchmarks.formats import writers
from tests.benchmarks.formats.writers import CELLS_201

from foresee.benchmarks import load
from foresee.benchmarks.formats import pickles
from foresee.benchmarks.formats.base import File
from foresee.errors import DataError


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def in_process(path, space=None):
    """What the child does, without starting one."""
    return pickles.read(File(path), space)


@pytest.mark.parametrize("name", ["t.pth", "t.csv", "t.npz"])
@pytest.mark.parametrize("form", ["pickle", "torch", "old torch", "bzip2"])
def test_no_pickle_is_loaded_without_trust(tmp_path, name, form):
    trap, path = tmp_path / "ran", tmp_path / name
    plain = {"meta_archs": [], "arch2infos": {}, "trap": Hostile(trap)}
    if form == "pickle":
        path.write_bytes(pickle.dumps(plain))
    elif form == "bzip2":
        writers.write_pbz2(path, plain)
    else:
        torch.save(plain, path, _use_new_zipfile_serialization=form == "torch")
    with pytest.raises(DataError, match=r"a pickle.*foresee table convert .* --trust-pickle"):
        load(path)
    assert not trap.exists()


def test_even_a_trusted_pickle_runs_nothing_of_its_own(tmp_path):
    trap, path = tmp_path / "ran", tmp_path / "t.pth"
    plain = writers.api_file(CELLS_201[:1], {"12": (12, (777,))})
    path.write_bytes(pickle.dumps({**plain, "trap": Hostile(trap), "more": [Hostile(trap)]}))
    assert len(in_process(path)) == 1
    assert not trap.exists()


def test_a_child_hands_back_the_table(tmp_path):
    path = tmp_path / "NATS-tss.pickle.pbz2"
    writers.write_pbz2(path, writers.api_file(CELLS_201, {"12": (12, (777,))}))
    table = load(path, trust_pickle=True)
    assert table.architectures == CELLS_201
    assert (table.source, table.sha256) == (path.name, File(path).sha256)
    (tmp_path / "bad.pth").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(DataError, match=r"bad.pth: holds a; expected NAS-Bench-201"):
        load(tmp_path / "bad.pth", trust_pickle=True)


def test_a_child_that_dies_is_one_error(tmp_path, monkeypatch):
    path = tmp_path / "t.pth"
    path.write_bytes(pickle.dumps({}))
    monkeypatch.setattr(pickles.sys, "executable", "/bin/false")
    with pytest.raises(DataError, match="the process that read it died"):
        load(path, trust_pickle=True)


@pytest.mark.parametrize("content", [b"\x80\x04", b"\x80\x04K\x01", b"\x80\x04]q\x00(K\x01", b"BZh91AY&SY"])
def test_truncated_or_empty_pickles(tmp_path, content):
    (tmp_path / "t.pth").write_bytes(content)
    with pytest.raises(DataError, match=r"t\.pth"):
        in_process(tmp_path / "t.pth")


def test_plain_values_survive(tmp_path):
    plain = {
        "a": [1, 2.5, "x", None, True],
        ("k", 7): {3, 4},
        "n": np.float64(1.5),
        "i": np.int32(-2),
        "t": torch.zeros(3),
    }
    for name, new in (("new.pth", True), ("old.pth", False)):
        torch.save(plain, tmp_path / name, _use_new_zipfile_serialization=new)
        again = pickles.load_plain(tmp_path / name)
        assert isinstance(again.pop("t"), pickles.Nothing)
        assert again == {key: value for key, value in plain.items() if key != "t"}
