from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from foresee.errors import RunError
from foresee.runs import Store, read

SCHEMA1 = Path(__file__).parent / "schema1"


def live(folder):
    """A store whose writer has it open, with something in its log."""
    store = Store.create(folder / "run.sqlite", kind="search", settings={}, environment={})
    store.set("title", "mine")
    return store


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_log_that_nobody_has_open_is_read_and_left_as_it_is(tmp_path):
    (tmp_path / "live").mkdir()
    store = live(tmp_path / "live")
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "live", killed)
    store.close()
    (killed / "run.sqlite-shm").unlink()
    before = contents(killed)
    assert set(before) == {"run.sqlite", "run.sqlite-wal"}
    assert read(killed).title == "mine"
    assert contents(killed) == before


@pytest.mark.parametrize("write", [False, True])
def test_a_version_that_only_the_log_knows_is_refused(tmp_path, write):
    """A newer foresee has migrated the run and was killed before its log was folded back."""
    (tmp_path / "live").mkdir()
    store = live(tmp_path / "live")
    store._connection.execute("PRAGMA user_version=99")
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "live", killed)
    store.close()
    (killed / "run.sqlite-shm").unlink()
    before = contents(killed)
    with pytest.raises(
        RunError, match=r"schema version 99, this foresee reads up to 2; it was made by a newer foresee"
    ):
        Store.open(killed / "run.sqlite", write=write)
    assert contents(killed) == before


def test_a_version_that_never_was(tmp_path):
    live(tmp_path).close()
    db = sqlite3.connect(tmp_path / "run.sqlite")
    db.execute("PRAGMA user_version=0")
    db.close()
    with pytest.raises(RunError, match="schema version 0"):
        read(tmp_path)


READER = """
import os, sys
folder, user = sys.argv[1], int(sys.argv[2])
from foresee.runs import Store, read
os.setuid(user) if user else None
assert not os.access(folder, os.W_OK)
print(len(read(folder).candidates))
try:
    Store.open(folder + "/run.sqlite", write=True)
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "index", "many"), [("finished", False, 30), ("killed", False, 20), ("killed", True, 20)]
)
def test_a_folder_that_is_read_only(name, index, many):
    """Also with the index of a log that a killed writer leaves. The reader is not root, who may write anywhere."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(shutil.copytree(SCHEMA1 / name, Path(above) / "run"))
        if index:
            (folder / "run.sqlite-shm").write_bytes(bytes(32768))
        for path, mode in ((Path(above), 0o755), *((path, 0o444) for path in folder.iterdir()), (folder, 0o555)):
            path.chmod(mode)
        before = contents(folder)
        other = 0 if os.geteuid() else 65534
        done = subprocess.run(
            [sys.executable, "-c", READER, str(folder), str(other)], capture_output=True, text=True, timeout=60
        )
        assert contents(folder) == before
        folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    count, refusal = done.stdout.splitlines()
    assert int(count) == many
    assert "cannot be opened for writing; check the folder's permissions" in refusal


def test_what_sqlite_says_of_damage_in_several_lines_is_one(tmp_path):
    live(tmp_path).close()
    path = tmp_path / "run.sqlite"
    whole = bytearray(path.read_bytes())
    size = int.from_bytes(whole[16:18], "big")
    leaves = [
        start for start in range(size, len(whole), size)
        if whole[start] in (0x0A, 0x0D) and int.from_bytes(whole[start + 3 : start + 5], "big") > 1
    ]  # fmt: skip
    for start in leaves:  # two rows of a leaf of a table lie at the same place
        whole[start + 10 : start + 12] = whole[start + 8 : start + 10]
    path.write_bytes(whole)
    with pytest.raises(RunError, match="is damaged") as caught:
        read(tmp_path)
    assert len(str(caught.value).splitlines()) == 1
