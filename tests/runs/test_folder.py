"""A run's folder: what is written into it, and that it is still there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from foresee.errors import RunError
from foresee.runs import RunFolder, write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    assert write_whole(target, "one") == target
    write_whole(target, "two")
    assert target.read_text() == "two"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    for number, goal in enumerate((precious, tmp_path / "absent.txt")):
        link = tmp_path / f"link{number}"
        link.symlink_to(goal)
        with pytest.raises(RunError, match="is a link, which is neither followed nor replaced"):
            write_whole(link, "lost")
        assert link.is_symlink()
    assert precious.read_text() == "kept"
    assert not (tmp_path / "absent.txt").exists()


def test_a_pipe_a_device_or_a_folder_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null"), tmp_path):
        with pytest.raises(RunError, match="name a plain file"):
            write_whole(path, "lost")
    assert not Path("/dev/null").is_file()


def test_nothing_is_written_through_a_link_that_was_put_beside(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    (tmp_path / "a.txt.new").symlink_to(precious)
    write_whole(tmp_path / "a.txt", "one")
    assert (precious.read_text(), (tmp_path / "a.txt").read_text()) == ("kept", "one")


def test_a_name_that_cannot_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="File name too long"):
        write_whole(tmp_path / ("x" * 300), "lost")
    with pytest.raises(RunError, match="File name too long"):
        RunFolder("x" * 100_000).exists  # noqa: B018
