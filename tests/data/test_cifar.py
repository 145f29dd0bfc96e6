from __future__ import annotations

import io
import os
import pickle
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import foresee.data as fd
from foresee.data import cifar, pickled
from foresee.errors import DataError
from foresee.task import Task
from foresee.testing import DataSuite

COUNT = 4  # images in each file


def content(seed: int, classes: int) -> tuple[np.ndarray[Any, Any], list[int]]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (COUNT, 3072), dtype=np.uint8), rng.integers(0, classes, COUNT).tolist()


def text(value: bytes) -> bytes:
    """A text of Python 2: at most 255 bytes, else long."""
    return b"U" + bytes([len(value)]) + value if len(value) < 256 else b"T" + struct.pack("<i", len(value)) + value


def python2(images: np.ndarray[Any, Any], labels: dict[bytes, list[int]]) -> bytes:
    """The bytes that Python 2's cPickle (protocol 2) writes for a CIFAR dictionary, opcode by opcode."""
    counter = iter(range(1, 10_000))

    def put() -> bytes:
        number = next(counter)
        return b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)

    def whole(number: int) -> bytes:
        return b"K" + bytes([number]) if number < 256 else b"M" + struct.pack("<H", number)

    out = b"\x80\x02}" + put() + b"(" + text(b"batch_label") + put() + text(b"training batch 1 of 5") + put()
    for key, values in labels.items():
        out += text(key) + put() + b"]" + put() + b"(" + b"".join(map(whole, values)) + b"e"
    out += text(b"data") + put()
    out += b"cnumpy.core.multiarray\n_reconstruct\n" + put() + b"cnumpy\nndarray\n" + put()
    out += b"K\x00\x85" + put() + text(b"b") + put() + b"\x87" + put() + b"R" + put()
    out += b"(K\x01" + whole(len(images)) + whole(3072) + b"\x86" + put()
    out += b"cnumpy\ndtype\n" + put() + text(b"u1") + put() + b"K\x00K\x01\x87" + put() + b"R" + put()
    out += b"(K\x03" + text(b"|") + put() + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t" + put() + b"b"
    out += b"\x89" + text(images.tobytes()) + put() + b"t" + put() + b"b"
    out += text(b"filenames") + put() + b"]" + put() + b"(" + text(b"leptodactylus_s_000004.png") + put() + b"e"
    return out + b"u."


def python3(protocol: int) -> Callable[[np.ndarray[Any, Any], dict[bytes, list[int]]], bytes]:
    return lambda images, labels: pickle.dumps({**labels, b"data": images, b"filenames": [b"a.png"]}, protocol)


def label_lists(labels: list[int], classes: int) -> dict[bytes, list[int]]:
    return (
        {b"labels": labels} if classes == 10 else {b"fine_labels": labels, b"coarse_labels": [n // 5 for n in labels]}
    )


def binary(images: np.ndarray[Any, Any], labels: dict[bytes, list[int]]) -> bytes:
    heads = [bytes([n]) for n in labels.get(b"labels", [])] or [
        bytes([c, f]) for c, f in zip(labels[b"coarse_labels"], labels[b"fine_labels"], strict=True)
    ]
    return b"".join(head + image.tobytes() for head, image in zip(heads, images, strict=True))


def members(version: cifar.Version, write: Callable[..., bytes]) -> dict[str, bytes]:
    """The version's files, each with content of its own; the same content for both forms of a data set."""
    made = {}
    for number, name in enumerate(version.files):
        images, labels = content(number, version.classes)
        made[name] = write(images, label_lists(labels, version.classes))
    return made


def expected(version: cifar.Version, split: str) -> tuple[np.ndarray[Any, Any], list[int]]:
    numbers = [
        i for i, name in enumerate(version.files) if name in (version.train if split == "train" else version.test)
    ]
    parts = [content(number, version.classes) for number in numbers]
    return np.concatenate([p[0] for p in parts]).reshape(-1, 3, 32, 32), [n for p in parts for n in p[1]]


def folder_of(tmp_path: Path, version: cifar.Version, write: Callable[..., bytes] | None = None) -> Path:
    folder = tmp_path / version.folder
    folder.mkdir(parents=True)
    for name, body in members(version, write or (binary if version.binary else python2)).items():
        (folder / name).write_bytes(body)
    (folder / "readme.html").write_text("hello")
    return folder


def archive_of(path: Path, files: dict[str, bytes], mode: str = "w:gz", prefix: str = "") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, body in files.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return path


def check(data: fd.Data, version: cifar.Version, split: str) -> None:
    images, labels = expected(version, split)
    batch = data.read(torch.arange(len(data)))
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    assert data.task == Task((3, 32, 32), version.classes)
    assert batch.labels.tolist() == labels
    assert torch.equal(batch.inputs, torch.from_numpy(images).float() / 255)


P10, B10, P100, B100 = cifar.VERSIONS


@pytest.mark.parametrize("version", cifar.VERSIONS, ids=lambda v: v.folder)
def test_folders_of_every_version(version: cifar.Version, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, version)
    for place in (folder, tmp_path):  # the published folder, or the folder that holds it
        check(fd.load(place), version, "train")
        check(fd.load(place, split="test"), version, "test")
    assert fd.load(folder, split="test").statistics == fd.load(folder).statistics
    assert fd.load(folder).name == f"{version.name}/train"
    with pytest.raises(DataError, match="train and test, not 'val'"):
        fd.load(folder, split="val")


@pytest.mark.parametrize("version", cifar.VERSIONS, ids=lambda v: v.folder)
def test_archives_of_every_version(version: cifar.Version, tmp_path: Path) -> None:
    files = members(version, binary if version.binary else python2)
    for path, mode, prefix in [("a.tar.gz", "w:gz", ""), ("b.tgz", "w:gz", "./"), ("c.tar", "w", "")]:
        archive = archive_of(tmp_path / path, files, mode, f"{prefix}{version.folder}/")
        check(fd.load(archive), version, "train")
        check(fd.load(archive, split="test"), version, "test")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tar.gz", "b.tgz", "c.tar"]  # nothing was unpacked


@pytest.mark.parametrize("version", cifar.VERSIONS, ids=lambda v: v.folder)
def test_single_files(version: cifar.Version, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, version)
    data = fd.load(folder / version.test[0])
    check(data, version, "test")
    assert len(fd.load(folder / version.train[0])) == COUNT
    with pytest.raises(DataError, match="belongs to the test split, not to train"):
        fd.load(folder / version.test[0], split="train")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_python_3(protocol: int, tmp_path: Path) -> None:
    check(fd.load(folder_of(tmp_path, P10, python3(protocol))), P10, "train")


def test_text_keys_and_fortran_order(tmp_path: Path) -> None:
    def write(images: np.ndarray[Any, Any], labels: dict[bytes, list[int]]) -> bytes:
        plain = {key.decode(): value for key, value in labels.items()}
        return pickle.dumps({**plain, "data": np.asfortranarray(images)}, 4)

    check(fd.load(folder_of(tmp_path, P100, write)), P100, "train")


def test_both_forms_have_one_fingerprint(tmp_path: Path) -> None:
    a = fd.load(folder_of(tmp_path / "a", P100))
    b = fd.load(folder_of(tmp_path / "b", B100))
    assert a.fingerprint == b.fingerprint != fd.load(tmp_path / "b" / B100.folder, split="test").fingerprint


def test_resized_to_a_task(tmp_path: Path) -> None:
    data = fd.load(folder_of(tmp_path, B10), task=Task((3, 16, 16), 20))
    assert data.batch(3).parts[0].shape == (3, 3, 16, 16)
    assert data.task.outputs == 20


# -- damaged files


@pytest.mark.parametrize("version", [B10, B100], ids=lambda v: v.folder)
@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b + b"\0", lambda b: b""])
def test_cut_records_are_refused(version: cifar.Version, change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    folder = folder_of(tmp_path, version)
    broken = folder / version.train[-1]
    broken.write_bytes(change(broken.read_bytes()))
    with pytest.raises(
        DataError, match=rf"{version.train[-1]}: cannot be read as a file of {version.folder}.*whole records"
    ):
        fd.load(folder)


@pytest.mark.parametrize("keep", [0, 1, 30, 200, 5000, -1])
def test_cut_pickles_are_refused(keep: int, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, P10)
    broken = folder / "data_batch_3"
    broken.write_bytes(broken.read_bytes()[:keep])
    with pytest.raises(DataError, match="data_batch_3: cannot be read as a file of cifar-10-batches-py"):
        fd.load(folder)


@pytest.mark.parametrize("version", [B10, P100], ids=lambda v: v.folder)
def test_labels_out_of_range_are_named(version: cifar.Version, tmp_path: Path) -> None:
    def write(images: np.ndarray[Any, Any], labels: dict[bytes, list[int]]) -> bytes:
        for values in labels.values():
            values[2] = 137
        return (binary if version.binary else python2)(images, labels)

    with pytest.raises(DataError, match=f"image 2 has label 137, expected 0 to {version.classes - 1}"):
        fd.load(folder_of(tmp_path, version, write))


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([1, 2], "expected a dictionary, found list"),
        ({b"data": np.zeros((2, 3072), np.uint8)}, "expected the keys data and labels, found data"),
        ({b"data": b"x" * 3072, b"labels": [1]}, "data is a bytes, expected an array"),
        ({b"data": np.zeros((2, 3072)), b"labels": [1, 1]}, "'f8', expected bytes"),
        ({b"data": np.zeros((2, 100), np.uint8), b"labels": [1, 1]}, r"shape \(2, 100\), expected \(n, 3072\)"),
        ({b"data": np.zeros((0, 3072), np.uint8), b"labels": []}, "n at least 1"),
        ({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1]}, "2 images but 1 labels"),
        ({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1, "x"]}, "list of whole numbers"),
        ({b"data": np.zeros((2, 3072), np.uint8), b"labels": {}}, "list of whole numbers"),
    ],
)
def test_other_contents_are_named(found: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "test_batch").write_bytes(pickle.dumps(found, 4))
    with pytest.raises(DataError, match=message):
        fd.load(tmp_path / "test_batch")


def test_missing_files_are_named(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, P10)
    (folder / "data_batch_2").unlink()
    with pytest.raises(DataError, match="data_batch_2 missing; cifar10 needs data_batch_1"):
        fd.load(folder)
    assert len(fd.load(folder, split="test")) == COUNT  # measured on itself


def test_two_versions_in_one_folder_must_be_named(tmp_path: Path) -> None:
    folder_of(tmp_path, P10)
    folder_of(tmp_path, B100)
    with pytest.raises(DataError, match="holds cifar-10-batches-py and cifar-100-binary; name one"):
        fd.load(tmp_path)


def test_oversized_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar, "MAX_FILE_BYTES", 1000)
    with pytest.raises(DataError, match="no CIFAR file has more than 1000"):
        fd.load(folder_of(tmp_path, B10))


# -- hostile pickles


def attacks(marker: Path) -> dict[str, bytes]:
    """Pickles that would make the file `marker` if anything in them were run."""

    class Reduce:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"touch {marker}",)

    class Evaluate:
        def __reduce__(self) -> tuple[Any, ...]:
            return eval, (f"open({str(marker)!r}, 'w')",)

    class Open:
        def __reduce__(self) -> tuple[Any, ...]:
            return open, (str(marker), "w")

    command = f"touch {marker}".encode()
    made = {
        f"{kind.__name__} {p}": pickle.dumps({b"data": kind()}, p)
        for kind in (Reduce, Evaluate, Open)
        for p in (0, 2, 4)
    }
    made["python 2"] = b"cos\nsystem\n(S'" + command + b"'\ntR."
    made["inst"] = b"(S'" + command + b"'\nios\nsystem\n."
    made["numpy's own loader"] = b"cnumpy\nload\n(S'x'\ntR."
    made["a way out of an allowed module"] = b"cnumpy.core.multiarray\nscalar\n."
    made["dotted"] = b"\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93."
    made["dotted through a stand-in"] = b"\x80\x04\x8c\x05numpy\x8c\x14ndarray.__init__.__globals__\x93."
    made["extension"] = b"\x80\x02\x82\x01."
    made["persistent"] = b"Psome id\n."
    return made


def test_hostile_pickles_are_refused_and_never_run(tmp_path: Path) -> None:
    marker, file = tmp_path / "ran", tmp_path / "data_batch_1"
    for name, body in attacks(marker).items():
        file.write_bytes(body)
        with pytest.raises(DataError, match="data_batch_1: cannot be read"):
            fd.load(file)
        assert not marker.exists(), name


def test_the_attacks_are_real(tmp_path: Path) -> None:
    """Without the guard they do run: the test above could fail."""
    for name in ("Reduce 2", "python 2", "inst"):
        marker = tmp_path / name.replace(" ", "_")
        pickle.loads(attacks(marker)[name])
        assert marker.exists()


def test_the_refusal_names_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "train").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(
        DataError, match=r"asks for os\.system, which such a file never needs; refused, nothing was run"
    ):
        fd.load(tmp_path / "train")


def test_other_codecs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "train").write_bytes(b"c_codecs\nencode\n(Vabc\nVrot13\ntR.")
    with pytest.raises(DataError, match="only text as latin1 is expected"):
        fd.load(tmp_path / "train")


def test_a_pickle_cannot_change_the_stand_ins(tmp_path: Path) -> None:
    # BUILD with a state of (None, {...}) sets attributes on whatever is on the stack.
    for name in (
        b"cnumpy\nndarray\n",
        b"cnumpy\ndtype\n",
        b"cnumpy.core.multiarray\n_reconstruct\n",
        b"c_codecs\nencode\n",
    ):
        before = {thing: dict(vars(thing)) for thing in (pickled._Array, pickled._DType, pickled._latin1)}
        (tmp_path / "train").write_bytes(b"\x80\x02" + name + b"N}U\x06unpackNs\x86b.")
        with pytest.raises(DataError, match="cannot be read"):
            fd.load(tmp_path / "train")
        assert before == {thing: dict(vars(thing)) for thing in (pickled._Array, pickled._DType, pickled._latin1)}


def test_a_memo_bomb_is_refused_before_memory_is_spent(tmp_path: Path) -> None:
    (tmp_path / "train").write_bytes(b"\x80\x02Nr\xff\xff\xff\x7f.")
    with pytest.raises(DataError, match="memo number 2147483647"):
        fd.load(tmp_path / "train")


# -- hostile archives


def test_archives_of_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.tar\.gz: expected an archive with one of cifar-10-batches-py"):
        fd.load(archive_of(tmp_path / "a.tar.gz", {"../../data_batch_1": b"x", "cifar-10-batches-py/evil": b"x"}))
    (tmp_path / "b.tar.gz").write_bytes(b"hello")
    with pytest.raises(DataError, match=r"b\.tar\.gz: cannot be read"):
        fd.load(tmp_path / "b.tar.gz")


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.tar.gz", members(B10, binary), prefix=f"{B10.folder}/")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError, match=r"a\.tar\.gz: cannot be read"):
        fd.load(path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    files = members(B10, binary)
    path = tmp_path / "a.tar"
    archive_of(path, {name: body for name, body in files.items() if name != "data_batch_1.bin"}, "w", f"{B10.folder}/")
    with tarfile.open(path, "a") as archive:
        link = tarfile.TarInfo(f"{B10.folder}/data_batch_1.bin")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(DataError, match=r"data_batch_1\.bin missing"):
        fd.load(path)


def test_a_member_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.tar", members(B10, binary), "w", f"{B10.folder}/")
    with tarfile.open(path, "a") as archive:
        archive.addfile(tarfile.TarInfo(f"{B10.folder}/test_batch.bin"), io.BytesIO())
    with pytest.raises(DataError, match="comes twice"):
        fd.load(path)


def test_an_archive_bomb_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar, "MAX_ARCHIVE_BYTES", 200_000)
    path = archive_of(tmp_path / "a.tar.gz", {"zeros": b"\0" * 5_000_000})
    assert path.stat().st_size < 20_000
    with pytest.raises(DataError, match="unpacks to more than 200000 bytes"):
        fd.load(path)


def test_a_hostile_pickle_in_an_archive_never_runs(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    files = {**members(P10, python2), "data_batch_4": attacks(marker)["Reduce 2"]}
    with pytest.raises(DataError, match=r"data_batch_4: cannot be read.*refused"):
        fd.load(archive_of(tmp_path / "a.tar.gz", files, prefix=f"{P10.folder}/"))
    assert not marker.exists()


class TestFolder(DataSuite):
    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        self.folder = folder_of(tmp_path, B10)

    def data(self) -> fd.Data:
        return fd.load(self.folder)

    def others(self) -> list[fd.Data]:
        return [fd.load(self.folder, split="test")]

    def test_its_own_splits_are_named(self) -> None:
        assert fd.load(self.folder).splits == ("train", "test")
        (self.folder / B10.train[0]).unlink()
        assert fd.load(self.folder, split="test").splits == ("test",)
