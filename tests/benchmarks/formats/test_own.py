"""Our own form under hostile hands: each damage is one DataError."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

from foresee.benchmarks import load, save
from foresee.benchmarks.formats import own
from foresee.benchmarks.formats.collect import Collector
from foresee.errors import DataError


@pytest.fixture
def path(tmp_path):
    collector = Collector("a file", "")
    collector.measure(collector.new("a"), 1.0, "acc")
    collector.measure(collector.new("bcd"), 2.0, "acc")
    save(collector.table(), tmp_path / "t.npz")
    return tmp_path / "t.npz"


def rewrite(path, change) -> None:
    """The file with its arrays changed, and no digest adapted."""
    with np.load(path) as arrays:
        changed = change(dict(arrays.items()))
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in changed.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", content.getvalue())


def header(arrays, **changes):
    plain = {**json.loads(arrays["header"].tobytes()), **changes}
    return {**arrays, "header": np.frombuffer(json.dumps(plain).encode(), np.uint8)}


def test_numpy_reads_it_without_pickles(path):
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["texts"].tobytes() == b"abcd"
        assert arrays["offsets"].tolist() == [0, 1, 4]
        assert arrays["value"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: {**a, "value": a["value"] + 1}, "does not match its sha256"),
        (lambda a: header(a, space="nasbench201"), "does not match its sha256"),
        (lambda a: header(a, version=99), "version 99, this foresee reads 1"),
        (lambda a: header(a, format="other"), "not that of a table"),
        (lambda a: {**a, "value": a["value"].astype(object)}, "expected float64"),
        (lambda a: {**a, "value": a["value"].astype(np.float32)}, "expected float64"),
        (lambda a: {key: a[key] for key in a if key != "seed"}, "expected texts, offsets"),
        (lambda a: {**a, "header": np.frombuffer(b"[", np.uint8)}, "cannot be read as a table"),
    ],
)
def test_a_changed_file_is_refused(path, change, message):
    rewrite(path, change)
    with pytest.raises(DataError, match=message):
        load(path)


@pytest.mark.parametrize("offsets", [[0, 4, 1], [0, 1, 9], [1, 2, 4], [0, 4, 4]])
def test_offsets_that_do_not_fit_are_refused(path, offsets):
    """With the right digest too: a digest says who wrote it, not that it is sound."""

    def change(arrays):
        arrays["offsets"] = np.array(offsets)
        plain = json.loads(arrays.pop("header").tobytes())
        plain.pop("content")
        return header(
            {"header": np.frombuffer(json.dumps(plain).encode(), np.uint8), **arrays},
            content=own._digest(plain, arrays),
        )

    rewrite(path, change)
    with pytest.raises(DataError, match="offsets"):
        load(path)


def test_a_truncated_file_is_refused(path):
    content = path.read_bytes()
    for keep in (4, 100, len(content) // 2, len(content) - 5):
        path.write_bytes(content[:keep])
        with pytest.raises(DataError):
            load(path)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(path, monkeypatch):
    monkeypatch.setattr(own, "MAX_BYTES", 2**20)
    rewrite(path, lambda arrays: arrays | {"value": np.zeros(2**18)})
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(DataError, match="at most"):
        load(path)


def test_a_shape_that_claims_more_than_there_is_is_refused(path):
    content = io.BytesIO()
    np.lib.format.write_array(content, np.zeros(2))
    lying = content.getvalue().replace(b"(2,)", b"(2000000000000,)", 1).replace(b" " * 12 + b"\n", b"\n", 1)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, lying if name == "value.npy" else member)
    with pytest.raises(DataError):
        load(path)
