"""From a name or a path to a data set; tasks asked for whole or by parts; kinds of files found by themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.data.numbers import Numbers

import foresee.data as fd
from foresee.errors import DataError, InputError, UnknownNameError
from foresee.task import Task


def test_unknown_names_list_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean digits"):
        fd.load("digitz")
    with pytest.raises(UnknownNameError, match="digits, planted_clicks, synthetic"):
        fd.load("qqqq")


@pytest.mark.parametrize("reference", ["no/such/place", "missing.npz", "./digits", Path("digits")])
def test_missing_paths_say_so(reference: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="no such file or folder"):
        fd.load(reference)


def test_a_name_wins_over_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "synthetic").mkdir()
    assert fd.load("synthetic").endless
    with pytest.raises(DataError, match="one folder per class"):
        fd.load("./synthetic")


@pytest.mark.parametrize("reference", ["", "a\0b", "x" * 5000, "~nobody_of_this_name/x"])
def test_senseless_references_are_one_clear_error(reference: str) -> None:
    with pytest.raises((DataError, InputError)):
        fd.load(reference)


def test_files_of_no_known_kind_list_the_kinds(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(DataError, match=r"notes\.md.*\.npz.*CIFAR.*one folder of images per class"):
        fd.load(tmp_path / "notes.md")


@pytest.mark.parametrize("resize", [0, (8, 0), (8,), (1, 2, 3), (2.5, 3)])
def test_senseless_sizes_are_refused(resize: int | tuple[int, int]) -> None:
    with pytest.raises(InputError, match="resize"):
        fd.load("synthetic", resize=resize)


def test_resize_and_task_must_agree() -> None:
    assert fd.load("synthetic", task=Task((3, 8, 8), 2), resize=8).task == Task((3, 8, 8), 2)
    with pytest.raises(InputError, match="16x16 contradicts the task's inputs 3x8x8"):
        fd.load("synthetic", task=Task((3, 8, 8), 2), resize=16)


def test_unknown_splits_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown split 'tset': did you mean test"):
        fd.load("digits", split="tset")
    with pytest.raises(InputError, match="no splits"):
        fd.load("synthetic", split="train")


@pytest.mark.slow
def test_importing_the_room_is_light() -> None:
    code = "import sys, foresee.data; print([m for m in ('sklearn', 'scipy', 'PIL', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- kinds of files


LOG = fd.Format("log", "a click log", lambda p: p.suffix == ".log", lambda p, wanted: Numbers(7))


@pytest.fixture
def _formats_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fd.formats.names()
    monkeypatch.setattr(fd.formats, "_things", dict(fd.formats._things))


@pytest.mark.usefixtures("_formats_kept")
def test_a_new_kind_of_data_needs_only_an_entry(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("")
    fd.formats.add("log", LOG)
    assert len(fd.load(tmp_path / "x.log")) == 7


@pytest.mark.usefixtures("_formats_kept")
def test_the_most_particular_kind_reads(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("")
    for name, precedence, count in (("any", 0, 1), ("zz_particular", 20, 2), ("between", 10, 3)):
        kind = fd.Format(name, "", lambda p: p.suffix == ".log", lambda p, w, count=count: Numbers(count), precedence)  # type: ignore[misc]
        fd.formats.add(name, kind)
    assert len(fd.load(tmp_path / "x.log")) == 2


@pytest.mark.slow
def test_a_file_dropped_into_the_room_is_found(tmp_path: Path) -> None:
    """A scratch copy of the package with one file more: a named data set and a kind of file, nothing else edited."""
    package = Path(fd.__file__).parents[1]
    shutil.copytree(package, tmp_path / "foresee", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "foresee" / "data" / "mine.py").write_text(
        "from foresee.data.loading import Format, formats, sets\n"
        "from foresee.data.synthetic import Synthetic\n"
        "sets.add('mine', lambda wanted: Synthetic())\n"
        "formats.add('log', Format('log', 'a log', lambda p: p.suffix == '.log', lambda p, w: Synthetic()))\n"
    )
    (tmp_path / "x.log").write_text("")
    code = (
        "from foresee.data import load; import foresee; print(load('mine').name, load('x.log').name, foresee.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["synthetic", "synthetic", str(tmp_path / "foresee" / "__init__.py")], done.stderr


# -- a task by its parts


def twice(reference: str | Path, inputs: tuple[int, ...] | None, outputs: int | None, **more: str) -> fd.Data:
    """Load, read the task, replace parts, load again: what asking for the parts must be the same as."""
    own = fd.load(reference, **more).task  # type: ignore[arg-type]
    return fd.load(reference, task=replace(own, inputs=inputs or own.inputs, outputs=outputs or own.outputs), **more)  # type: ignore[arg-type]


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str | Path]:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (12, 9, 8, 3), dtype=np.uint8)
    np.savez(tmp_path / "x.npz", x_train=x, y_train=np.arange(12) % 3, x_test=x[:6], y_test=np.arange(6) % 3)
    for name in ("cat", "dog"):
        for part in ("train", "test"):
            folder = tmp_path / "pictures" / part / name
            folder.mkdir(parents=True)
            for number in range(3):
                Image.fromarray(x[number]).save(folder / f"{number}.png")
    return {"synthetic": "synthetic", "digits": "digits", "npz": tmp_path / "x.npz", "folder": tmp_path / "pictures"}


@pytest.mark.parametrize("place", ["synthetic", "digits", "npz", "folder"])
@pytest.mark.parametrize(("inputs", "outputs"), [((3, 7, 5), None), (None, 12), ((3, 4, 4), 11)])
def test_parts_of_a_task_are_as_loading_twice(
    place: str, inputs: tuple[int, ...] | None, outputs: int | None, places: dict[str, str | Path]
) -> None:
    for more in ({},) if place == "synthetic" else ({}, {"split": "test"}):
        once = fd.load(places[place], inputs=inputs, outputs=outputs, **more)  # type: ignore[arg-type]
        known = twice(places[place], inputs, outputs, **more)
        assert once.task == known.task
        assert once.fingerprint == known.fingerprint
        for mine, theirs in zip(once.batches(2, 3, seed=1), known.batches(2, 3, seed=1), strict=True):
            assert torch.equal(mine.parts[0], theirs.parts[0])
            assert torch.equal(mine.labels, theirs.labels)  # type: ignore[arg-type]


def test_outputs_alone_are_enough_where_the_labels_do_not_tell(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.zeros((4, 3)), y=np.array([1, 2, 3, 4]))
    with pytest.raises(DataError, match="give a task with 5 outputs"):
        fd.load(tmp_path / "x.npz")
    assert fd.load(tmp_path / "x.npz", outputs=7).task == Task((3,), 7)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"inputs": ()}, "every size must be at least 1"),
        ({"inputs": (3, 0)}, "every size must be at least 1"),
        ({"outputs": 0}, "outputs 0: at least 1 is needed"),
        ({"task": Task((3, 8, 8), 2), "inputs": (3, 8, 9)}, "inputs 3x8x9 contradict the task's inputs 3x8x8"),
        ({"task": Task((3, 8, 8), 2), "outputs": 5}, "outputs 5 contradict the task's outputs 2"),
        ({"inputs": (3, 8, 8), "resize": 16}, "resize 16x16 contradicts the inputs 3x8x8"),
    ],
)
def test_senseless_parts_are_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fd.load("synthetic", **asked)


def test_parts_that_agree_with_the_task_are_fine() -> None:
    task = Task((3, 8, 8), 2)
    assert fd.load("synthetic", task=task, inputs=(3, 8, 8), outputs=2, resize=8).task == task
