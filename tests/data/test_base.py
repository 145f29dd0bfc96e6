from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import Tensor

import foresee.data as fd
from foresee.batch import Batch
from foresee.data.base import Data, Statistics, Wanted, digest
from foresee.errors import DataError, InputError, UnknownNameError
from foresee.task import Task


class Numbers(Data):
    """Sample i is the number i: what a batch holds says which samples were drawn."""

    def __init__(self, count: int, **options: object) -> None:
        super().__init__("numbers", Task((1,), 1), **{"normalise": False, **options})  # type: ignore[arg-type]
        self.count = count

    def __len__(self) -> int:
        return self.count

    @property
    def fingerprint(self) -> str:
        return digest("numbers", self.count)

    def read(self, indices: Tensor) -> Batch:
        return Batch(indices.float()[:, None], indices)


def drawn(data: Data, size: int, index: int, seed: int = 0) -> list[int]:
    labels = data.batch(size, seed=seed, index=index).labels
    assert labels is not None
    return [int(label) for label in labels]


@examples(40)
@given(count=st.integers(1, 40), size=st.integers(1, 40), seed=st.integers(0, 3))
def test_one_lap_is_disjoint_and_the_next_is_another_permutation(count: int, size: int, seed: int) -> None:
    data = Numbers(count)
    if size > count:
        with pytest.raises(InputError, match=rf"{size} samples.*only {count}"):
            data.batch(size)
        return
    per_lap = count // size
    for lap in range(3):
        seen = [n for i in range(per_lap) for n in drawn(data, size, lap * per_lap + i, seed)]
        assert len(seen) == len(set(seen)) == per_lap * size
        assert set(seen) <= set(range(count))


def test_laps_and_seeds_differ_and_repeat() -> None:
    data = Numbers(100)
    first, again, second_lap, other_seed = (
        drawn(data, 100, 0),
        drawn(data, 100, 0),
        drawn(data, 100, 1),
        drawn(data, 100, 0, seed=1),
    )
    assert first == again
    assert first != sorted(first)
    assert first != second_lap
    assert first != other_seed
    assert sorted(first) == sorted(second_lap) == list(range(100))


def test_batches_are_the_first_ones() -> None:
    data = Numbers(10)
    given = [b.labels.tolist() for b in data.batches(4, 3, seed=2) if b.labels is not None]
    assert given == [drawn(data, 3, index, seed=2) for index in range(4)]


@pytest.mark.parametrize(("size", "index"), [(0, 0), (-1, 0), (2, -1)])
def test_senseless_draws_are_refused(size: int, index: int) -> None:
    with pytest.raises(InputError, match=f"{size} samples, number {index}"):
        Numbers(5).batch(size, index=index)
    with pytest.raises(InputError, match=f"{size} samples, number {index}"):
        fd.load("synthetic").batch(size, index=index)


def test_draws_do_not_touch_the_global_generator() -> None:
    before = torch.get_rng_state()
    Numbers(50).batch(10)
    fd.load("synthetic").batch(2)
    assert torch.equal(before, torch.get_rng_state())


# -- normalising


def test_statistics_agree_with_numpy_on_every_sample() -> None:
    rng = np.random.default_rng(0)
    # A large mean and more samples than one chunk: the naive sum of squares would lose its digits here.
    x = (rng.normal(size=(700, 2, 3, 3)) * np.array([1.0, 5.0])[:, None, None] + 1000).astype(np.float32)
    data = fd.Arrays(x, np.arange(700) % 2)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(data.statistics.mean, exact.mean(axis=(0, 2, 3)), rtol=1e-8)
    np.testing.assert_allclose(data.statistics.std, exact.std(axis=(0, 2, 3)), rtol=1e-8)
    inputs = data.batch(700).inputs
    assert isinstance(inputs, Tensor)
    assert inputs.mean(dim=(0, 2, 3)).abs().max() < 1e-3
    torch.testing.assert_close(inputs.std(dim=(0, 2, 3)), torch.ones(2), rtol=1e-3, atol=0)


def test_statistics_do_not_depend_on_the_number_of_threads() -> None:
    x = np.random.default_rng(0).integers(0, 256, (600, 32, 32, 3), dtype=np.uint8)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(fd.Arrays(x, np.arange(600) % 2).statistics)
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]


def test_large_data_is_measured_on_evenly_spaced_samples() -> None:
    data = Numbers(1000, normalise=True)
    data.statistics_samples = 10
    assert data.statistics.mean == pytest.approx((np.arange(0, 1000, 100).mean(),))


def test_constant_channels_are_shifted_but_not_divided() -> None:
    x = np.full((4, 2, 2, 2), 0.1, np.float32)
    x[:, 1] = np.arange(4)[:, None, None]
    data = fd.Arrays(x, np.array([0, 1, 0, 1]))
    assert data.statistics.std[0] == 1.0
    inputs = data.batch(4).inputs
    assert isinstance(inputs, Tensor)
    assert inputs[:, 0].abs().max() < 1e-6
    assert inputs[:, 1].std() > 1


def test_normalise_off_and_own_statistics() -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    raw = fd.Arrays(x, np.array([0, 1, 0, 1]), wanted=Wanted(normalise=False)).batch(4).inputs
    own = Statistics((1.0, 1.0), (2.0, 4.0))
    scaled = fd.Arrays(x, np.array([0, 1, 0, 1]), wanted=Wanted(normalise=own)).batch(4).inputs
    assert isinstance(raw, Tensor)
    assert sorted(raw.flatten().tolist()) == list(range(8))
    torch.testing.assert_close(scaled, (raw - 1) / torch.tensor([2.0, 4.0]))


@pytest.mark.parametrize(
    ("mean", "std"), [((0.0,), (0.0,)), ((0.0,), (1.0, 1.0)), ((float("nan"),), (1.0,)), ((0.0,), (-1.0,))]
)
def test_senseless_statistics_are_refused(mean: tuple[float, ...], std: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="one finite mean and one std above 0"):
        Statistics(mean, std)


def test_statistics_of_other_channels_are_refused() -> None:
    with pytest.raises(InputError, match="3 channels for inputs of 1"):
        Statistics((0.0,) * 3, (1.0,) * 3).apply(torch.zeros(2, 1, 4, 4))


# -- load


def test_unknown_names_list_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean digits"):
        fd.load("digitz")
    with pytest.raises(UnknownNameError, match="digits, synthetic"):
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
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(DataError, match=r"notes\.txt.*\.npz.*CIFAR.*one folder of images per class"):
        fd.load(tmp_path / "notes.txt")


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


def test_a_new_kind_of_data_needs_only_an_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("")
    kind = fd.Format("log", "a click log", lambda p: p.suffix == ".log", lambda p, wanted: Numbers(7))
    monkeypatch.setattr("foresee.data.base.formats", [*fd.formats, kind])
    assert len(fd.load(tmp_path / "x.log")) == 7


@pytest.mark.slow
def test_importing_the_room_is_light() -> None:
    code = "import sys, foresee.data; print([m for m in ('sklearn', 'scipy', 'PIL', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_repr_says_what_it_is() -> None:
    assert repr(Numbers(7)) == f"<numbers: 7 samples of 1, 1 outputs, {digest('numbers', 7)}>"
    assert "endless of 3x32x32, 10 outputs" in repr(fd.load("synthetic"))
