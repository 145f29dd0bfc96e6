"""Click logs as a data set."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.data.clicks.logs import SMALL, criteo, small, write

import foresee.data as fd
from foresee.data.clicks.clicks import Clicks
from foresee.data.clicks.preparing import prepare as preparing
from foresee.data.clicks.preparing.prepare import prepare
from foresee.data.clicks.preparing.windows import Windows
from foresee.errors import DataError, InputError, UnknownNameError
from foresee.task import Task
from foresee.testing import DataSuite


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(preparing.KEPT, str(folder))
        yield folder


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return criteo(tmp_path_factory.mktemp("log") / "c.tsv", 100)


class TestClicks(DataSuite):
    @pytest.fixture(autouse=True)
    def _log(self, log: Path) -> None:
        self.log = log

    def data(self) -> fd.Data:
        return fd.load(self.log, schema="criteo")

    def others(self) -> list[fd.Data]:
        return [
            fd.load(self.log, schema="criteo", split="test"),
            fd.load(self.log, schema="criteo", normalise=False),
            fd.load(self.log, schema=fd.schema("criteo", least=5)),
        ]


class TestAll(TestClicks):
    def data(self) -> fd.Data:
        return Clicks(prepare(self.log, "criteo"), "all")

    def others(self) -> list[fd.Data]:
        return [fd.load(self.log, schema="criteo")]


def test_splits_together_are_all_rows(log: Path) -> None:
    parts = [fd.load(log, schema="criteo", split=split) for split in ("train", "valid", "test")]
    assert parts[0].splits == ("train", "val", "test")
    assert sum(map(len, parts)) == 100
    first = parts[0]
    assert isinstance(first, Clicks)
    whole = first.whole()
    joined = torch.cat([part.read(torch.arange(len(part))).parts[1] for part in parts])
    assert torch.equal(whole.read(torch.arange(100)).parts[1], joined)
    assert whole.rate == pytest.approx(torch.cat([p.read(torch.arange(len(p))).labels for p in parts]).mean().item())  # type: ignore[misc]
    with pytest.raises(IndexError):
        whole.read(torch.tensor([100]))


def test_all_parts_are_normalised_by_the_training_rows(log: Path) -> None:
    train, test = (fd.load(log, schema="criteo", split=split) for split in ("train", "test"))
    assert isinstance(train, Clicks)
    assert train.statistics == test.statistics == train.preprocessing.statistics
    dense = train.normalised(train.read(torch.arange(len(train)))).parts[0]
    assert dense.mean(0).abs().max() < 1e-5
    assert (dense.std(0, correction=0) - 1).abs().max() < 1e-5
    folds = train.split({"train": 0.5, "test": 0.5})
    assert folds["test"].statistics == train.statistics
    assert fd.load(log, schema="criteo", normalise=False).normalise is False


def test_task_and_kinds(log: Path) -> None:
    data = fd.load(log, schema="criteo")
    assert isinstance(data, Clicks)
    assert data.task == Task((13,), 1, data.preprocessing.vocabularies)
    batch = data.batch(8)
    dense, sparse = batch.parts
    assert batch.labels is not None
    assert (dense.dtype, sparse.dtype, batch.labels.dtype) == (torch.float32, torch.int64, torch.float32)
    assert batch.labels.shape == (8, 1)
    assert str(data.malformed) == "no malformed rows"
    assert fd.load(log, schema="criteo", task=data.task).fingerprint == data.fingerprint
    with pytest.raises(InputError, match="not for the task"):
        fd.load(log, schema="criteo", task=Task((13,), 1, (5,) * 26))


def test_by_the_preprocessing_of_before(log: Path, tmp_path: Path) -> None:
    data = fd.load(log, schema="criteo")
    assert isinstance(data, Clicks)
    data.preprocessing.save(tmp_path / "p")
    for given in (tmp_path / "p", str(tmp_path / "p"), data.preprocessing):
        again = fd.load(log, preprocessing=given)
        assert torch.equal(again.batch(8).parts[0], data.batch(8).parts[0])
        assert torch.equal(again.batch(8).parts[1], data.batch(8).parts[1])
    other = fd.load(criteo(tmp_path / "o.tsv", 30, seed=4), preprocessing=tmp_path / "p")
    assert other.task == data.task


def test_a_prepared_folder(log: Path, tmp_path: Path) -> None:
    folder = prepare(log, "criteo", tmp_path / "p")
    data = fd.load(folder, split="val")
    assert data.fingerprint == fd.load(log, schema="criteo", split="val").fingerprint
    assert fd.load(folder, schema="criteo").splits == data.splits
    with pytest.raises(InputError, match="another schema"):
        fd.load(folder, schema="avazu")
    with pytest.raises(InputError, match="another preprocessing"):
        fd.load(folder, preprocessing=prepare(log, fd.schema("criteo", least=5)) / "preprocessing")


@pytest.mark.slow
def test_a_prepared_folder_needs_numpy_alone(log: Path, tmp_path: Path) -> None:
    folder = prepare(log, "criteo", tmp_path / "p")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        f"import foresee.data as fd; data = fd.load({str(folder)!r})\n"
        "print(sum(len(batch) for batch in data.epoch(7)), data.fingerprint)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    data = fd.load(folder)
    assert out == [str(len(data)), data.fingerprint]


def test_without_the_engine_it_is_said(log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    with pytest.raises(ImportError, match=r"foresee\[clicks\]"):
        prepare(log, "criteo", tmp_path / "p")


def test_without_a_schema_it_is_guessed_and_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(2)},{rng.normal():.3f},city{rng.integers(4)}" for _ in range(200)]
    data = fd.load(write(tmp_path / "g.csv", "\n".join(["clicked,price,city", *lines])))
    assert isinstance(data, Clicks)
    assert (data.schema.label, data.schema.numeric, data.schema.categories) == ("clicked", ("price",), ("city",))
    assert "price" in data.said


def test_malformed_rows_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", small(tmp_path / "s.csv").read_text() + "1\nx,a,1\n3,b,7\n1,1,1,1\n")
    data = fd.load(path, schema=SMALL)
    assert isinstance(data, Clicks)
    assert data.malformed.count == 4
    assert str(data.malformed).startswith("4 malformed rows (line 52: 1 fields, expected 3; line 53: n is 'x'")


def test_damage_is_seen(log: Path, tmp_path: Path) -> None:
    folder = prepare(log, "criteo", tmp_path / "p")
    file = folder / "train.sparse.npy"
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(raw)
    data = Clicks(folder)
    with pytest.raises(DataError, match=r"train.sparse.npy is damaged"):
        data.check()
    file.write_bytes(raw[:-4])
    with pytest.raises(DataError, match="the manifest says"):
        Clicks(folder)


def test_what_is_not_there(log: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder of prepared click logs"):
        Clicks(tmp_path)
    folder = prepare(log, fd.schema("criteo", split={"by": "random", "train": 1.0}), tmp_path / "p")
    assert Clicks(folder).splits == ("train",)
    with pytest.raises(UnknownNameError, match="split"):
        Clicks(folder, "test")


def test_only_click_logs_have_a_schema() -> None:
    with pytest.raises(InputError, match="only a click log has one"):
        fd.load("digits", schema="criteo")
    with pytest.raises(InputError, match="only a click log has one"):
        fd.load("synthetic", preprocessing="p")


def test_large_ones_are_read_by_windows(log: Path) -> None:
    data = fd.load(log, schema="criteo", normalise=False)
    assert isinstance(data, Clicks)
    told: list[list[tuple[int, int]]] = []

    def coming(pieces: list[tuple[int, int]]) -> None:
        told.append(pieces)
        data._coming(pieces)

    data.__dict__["_orders"] = Windows(coming, window=32, block=8)
    rows = torch.cat([batch.parts[1] for batch in data.epoch(7, seed=3)])
    everything = data.read(torch.arange(len(data))).parts[1]
    assert sorted(rows.tolist()) == sorted(everything.tolist())
    assert told
