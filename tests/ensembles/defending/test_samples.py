"""Which samples are attacked: those of the test part, drawn by the seed; what was learnt from is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.ensembles.defending.trained import trained
from torch import nn

import foresee as fs
from foresee.data import Arrays, Synthetic
from foresee.ensembles.defending.samples import samples_of
from foresee.ensembles.defending.targets import target_of
from foresee.errors import DataError, InputError
from foresee.task import Task

ANY = nn.Sequential(nn.Flatten(), nn.Linear(48, 10))


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    place = tmp_path_factory.mktemp("samples")
    trained(place / "t")
    return target_of(place / "t")


def test_the_test_part_of_what_it_was_trained_on(target) -> None:
    found = samples_of(target, count=30)
    test = fs.data.load("digits", inputs=(3, 4, 4), split="test")
    judged = json.loads((Path(target.folders[0]) / "training.json").read_text())["data"]["test"]
    assert found.words == {"name": "digits/test", "fingerprint": judged["fingerprint"], "of": 360, "samples": 30}
    assert found.seen == ""
    assert found.images.min() >= 0
    assert found.images.max() <= 1
    whole = test.read(torch.arange(len(test)))
    rows = {tuple(one.flatten().tolist()) for one in whole.inputs}
    assert all(tuple(one.flatten().tolist()) in rows for one in found.images)


def test_fewer_are_the_first_of_more_and_the_seed_decides(target) -> None:
    many, few, other = (samples_of(target, count=n, seed=s).images for n, s in ((40, 0), (10, 0), (10, 1)))
    assert torch.equal(many[:10], few)
    assert not torch.equal(few, other)
    assert len(samples_of(target, count=None)) == 360


def test_data_without_a_test_part_says_what_was_seen(tmp_path) -> None:
    numbers = np.random.default_rng(0)
    np.savez(tmp_path / "some.npz", x=numbers.integers(0, 255, (60, 3, 5, 5), dtype=np.uint8), y=np.arange(60) % 10)
    trained(tmp_path / "t", data=str(tmp_path / "some.npz"))
    target = target_of(tmp_path / "t")
    found = samples_of(target, str(tmp_path / "some.npz"))
    assert "best epochs were chosen by these" in found.seen
    assert len(found) == 6  # the share that was kept for validation
    with pytest.raises(InputError, match="--data"):
        samples_of(target)
    learnt = Arrays(numbers.integers(0, 255, (20, 3, 4, 4), dtype=np.uint8), np.arange(20) % 10)
    assert "may have been trained on" in samples_of(target_of(ANY), learnt).seen


def test_what_is_no_image_with_a_class_is_refused() -> None:
    target = target_of(ANY)
    with pytest.raises(DataError, match="need images"):
        samples_of(target, (torch.rand(20, 5), torch.arange(20) % 2))
    with pytest.raises(DataError, match="from 0 to 1"):
        samples_of(target, (torch.randn(20, 3, 4, 4), torch.arange(20) % 2))
    with pytest.raises(DataError, match="none"):
        samples_of(target, Synthetic(Task((3, 4, 4), 10)))
    with pytest.raises(InputError, match="samples"):
        samples_of(target, "digits", count=0)


def test_more_classes_than_the_networks_know(tmp_path) -> None:
    trained(tmp_path / "two", data=(torch.rand(40, 3, 4, 4), torch.arange(40) % 2))
    with pytest.raises(InputError, match="10 classes, and the networks know 2"):
        samples_of(target_of(tmp_path / "two"), "digits")
