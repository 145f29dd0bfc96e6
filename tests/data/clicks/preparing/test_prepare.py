"""Preparing: whole or not at all, whatever kills it and whoever else is at it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.data.clicks.logs import SMALL, criteo, small, write

from foresee.data.clicks.preparing import prepare as preparing
from foresee.data.clicks.preparing.prepare import Progress, prepare
from foresee.data.clicks.preparing.storing import check_whole, manifest_of
from foresee.data.clicks.preprocessing import Preprocessing
from foresee.errors import DataError

CHILD = """
import os, signal, sys
from functools import partial
from foresee.data.clicks.preparing import prepare as preparing
from foresee.data.clicks.preparing import storing
from foresee.data.clicks.preparing.prepare import prepare

path, folder, point = sys.argv[1:]
preparing.chunks = partial(preparing.chunks, block=3000)
die = lambda *args, **more: os.kill(os.getpid(), signal.SIGKILL)

def at(stage, rows):
    return lambda progress: die() if progress.stage == stage and progress.rows > rows else None

observers = ()
if ":" in point:
    stage, rows = point.split(":")
    observers = (at(stage, int(rows)),)
elif point == "saving":
    preparing.Preprocessing.save = die
elif point == "saved":
    preparing._Work._write = die
elif point == "closing":
    storing.Growing.close = die
elif point == "manifest":
    preparing._matters, kept = preparing._matters, preparing.write_whole
    preparing.write_whole = lambda path, text: die() if path.name == "manifest.json" else kept(path, text)
elif point == "renaming":
    preparing.os.replace, real = (lambda a, b: die() if str(b) == folder else real(a, b)), os.replace
prepare(path, "criteo", folder, observers=observers)
"""
POINTS = ["learn:0", "learn:50", "saving", "saved", "write:0", "write:50", "closing", "manifest", "renaming"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return criteo(tmp_path_factory.mktemp("log") / "c.tsv", 100)


@pytest.fixture(scope="module")
def undisturbed(log: Path) -> dict[str, bytes]:
    return contents(prepare(log, "criteo", log.parent / "undisturbed"))


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_it_ends_the_same(point: str, log: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "p"
    child = subprocess.run([sys.executable, "-c", CHILD, str(log), str(folder), point], capture_output=True, text=True)
    assert child.returncode == -signal.SIGKILL, child.stderr
    assert not folder.exists()
    stages: list[str] = []
    prepare(log, "criteo", folder, observers=[lambda progress: stages.append(progress.stage)])
    assert contents(folder) == undisturbed
    assert [one.name for one in tmp_path.iterdir()] == ["p"]
    assert ("learn" in stages) == (point.startswith("learn") or point == "saving")


@pytest.mark.slow
def test_two_at_once(log: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    command = [sys.executable, "-c", CHILD, str(log), str(tmp_path / "p"), "never"]
    for child in [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]:
        assert child.wait() == 0, child.stderr and child.stderr.read()
    assert contents(tmp_path / "p") == undisturbed


def test_what_is_there_is_used(log: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    first = prepare(log, "criteo", tmp_path / "p", observers=[seen.append])
    assert [one.stage for one in seen] == ["learn", "write"]
    assert seen[-1].rows == 100
    prepare(log, "criteo", tmp_path / "p", observers=[seen.append])
    assert len(seen) == 2
    check_whole(first)


def test_the_cache_goes_by_file_and_schema(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(preparing.KEPT, str(tmp_path))
    one = prepare(log, "criteo")
    assert one.parent == tmp_path
    assert prepare(log, "criteo") == one
    assert prepare(log, preparing.schema("criteo", least=9)) != one
    assert prepare(criteo(tmp_path / "other.tsv", 90), "criteo") != one


def test_parts_and_numbers(log: Path, tmp_path: Path) -> None:
    folder = prepare(log, "criteo", tmp_path / "p")
    told = manifest_of(folder)
    assert told is not None
    assert sum(told["rows"].values()) == 100
    preprocessing = Preprocessing.load(folder / "preprocessing")
    assert preprocessing.facts["rows"] == told["rows"]["train"]
    for part, rows in told["rows"].items():
        dense, sparse, labels = (np.load(folder / f"{part}.{what}.npy") for what in ("dense", "sparse", "labels"))
        assert (dense.dtype, sparse.dtype, labels.dtype) == (np.float32, np.int32, np.uint8)
        assert (dense.shape, sparse.shape, labels.shape) == ((rows, 13), (rows, 26), (rows,))
        assert (sparse < preprocessing.vocabularies).all()
        assert told["yes"][part] == labels.sum()


def test_a_preprocessing_of_before(log: Path, tmp_path: Path) -> None:
    first = prepare(log, "criteo", tmp_path / "p")
    learnt = Preprocessing.load(first / "preprocessing")
    again = prepare(log, "criteo", tmp_path / "q", preprocessing=learnt)
    assert {k: v for k, v in contents(first).items() if k.endswith(".npy")} == {
        k: v for k, v in contents(again).items() if k.endswith(".npy")
    }
    other = prepare(criteo(tmp_path / "o.tsv", 30, seed=9), "criteo", tmp_path / "o", preprocessing=learnt)
    assert Preprocessing.load(other / "preprocessing").fingerprint == learnt.fingerprint


@pytest.mark.parametrize("by", ["order", "time"])
def test_by_order_and_by_time(tmp_path: Path, by: str) -> None:
    path = write(tmp_path / "t.csv", "y,n,c,t\n" + "".join(f"{n % 2},{n},a,{100 - n}\n" for n in range(20)))
    folder = prepare(path, SMALL.but(split={"by": by}, time="t", log=()), tmp_path / "p")
    first = [np.load(folder / f"{part}.dense.npy")[:, 0].tolist() for part in ("train", "val", "test")]
    rows = list(range(20))
    assert first == ([rows[:16], rows[16:18], rows[18:]] if by == "order" else [rows[4:], rows[2:4], rows[:2]])


def test_by_column_others_are_left_out(tmp_path: Path) -> None:
    lines = "".join(f"{n % 2},{n},a,{s}\n" for n, s in enumerate(["train", "dev", "test", "rx"] * 5))
    path = write(tmp_path / "t.csv", "y,n,c,split\n" + lines)
    folder = prepare(path, SMALL.but(split={"by": "column", "column": "split"}), tmp_path / "p")
    told = manifest_of(folder)
    assert told is not None
    assert (told["rows"], told["left_out"]) == ({"train": 5, "val": 5, "test": 5}, 5)


def test_malformed_rows_are_kept_count_of(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "y,n,c\n" + "1,1,a\n0,2,b\n1,x,c\n" * 20)
    told = manifest_of(prepare(path, SMALL, tmp_path / "p"))
    assert told is not None
    assert told["malformed"]["count"] == 20
    assert told["malformed"]["first"][0] == {"line": 4, "reason": "n is 'x': not a number"}


def test_what_cannot_be_prepared(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="something else"):
        prepare(log, "criteo", tmp_path / "taken")
    assert (tmp_path / "taken" / "mine.txt").read_text() == "mine"
    prepare(log, "criteo", tmp_path / "p")
    with pytest.raises(DataError, match="another file, schema or preprocessing"):
        prepare(log, preparing.schema("criteo", least=7), tmp_path / "p")
    with pytest.raises(DataError, match="no row"):
        prepare(write(tmp_path / "h.csv", "y,n,c\n"), SMALL, tmp_path / "h")
    nobody = SMALL.but(split={"by": "column", "column": "c", "values": {"train": ["t"], "test": ["a"]}})
    path = write(tmp_path / "t.csv", "y,n,c\n1,1,a\n")
    with pytest.raises(DataError, match="no row is for training"):
        prepare(path, nobody, tmp_path / "t")
    with pytest.raises(DataError, match="No such file"):
        prepare(tmp_path / "none.csv", "criteo", tmp_path / "n")
    assert not list(tmp_path.glob("*.part"))
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv(preparing.KEPT, str(tmp_path / "file"))
    with pytest.raises(DataError, match=f"set {preparing.KEPT}"):
        prepare(log, "criteo")


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    path = small(tmp_path / "s.csv")

    def change(progress: Progress) -> None:
        if progress.stage == "write":
            small(path, 51)

    with pytest.raises(DataError, match="was changed while it was read"):
        prepare(path, SMALL, tmp_path / "p", observers=[change])
    assert not (tmp_path / "p").exists()
    prepare(path, SMALL, tmp_path / "p")
    told = manifest_of(tmp_path / "p")
    assert told is not None
    assert sum(told["rows"].values()) == 51


def test_what_a_killed_one_learnt_of_another_file_is_not_used(tmp_path: Path) -> None:
    path = small(tmp_path / "s.csv")
    work = tmp_path / "p.part"
    work.mkdir()
    (work / "learnt.json").write_text(json.dumps({"asked": {"source": {}, "schema": {}, "preprocessing": None}}))
    (work / "rubbish").write_text("x")
    prepare(path, SMALL, tmp_path / "p")
    assert "rubbish" not in contents(tmp_path / "p")
