"""Sources: epochs that can be told again from any batch, splits that are kept apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from foresee.data import Arrays, Digits
from foresee.errors import DataError
from foresee.training.sources import OfData, OfLoader, sources


def pair(count: int = 20) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(count * 2.0).view(count, 2), torch.arange(count) % 2


def seen(batches: Any) -> list[list[float]]:
    return [batch.inputs[:, 0].tolist() for batch in batches]


def loaders() -> list[DataLoader[Any]]:
    data = TensorDataset(*pair())
    own = torch.Generator().manual_seed(5)
    return [
        DataLoader(data, batch_size=6),
        DataLoader(data, batch_size=6, shuffle=True),
        DataLoader(data, batch_size=6, shuffle=True, generator=own),
        DataLoader(data, batch_sampler=[[0, 1], [5, 4], [2, 3], [7, 8]]),
    ]


@pytest.mark.parametrize("number", range(4))
def test_a_loader_tells_an_epoch_again_from_any_batch(number: int) -> None:
    source = OfLoader(loaders()[number])
    whole = seen(source.epoch(6, seed=1, number=2))
    assert len(whole) == source.steps(6) == 4
    for start in range(5):
        torch.manual_seed(start)
        assert seen(source.epoch(6, seed=1, number=2, start=start)) == whole[start:]
    shuffled = seen(source.epoch(6, seed=1, number=3)) != whole
    assert shuffled == (number in (1, 2))


def test_a_loaders_generator_and_the_callers_state_stay() -> None:
    loader = loaders()[2]
    states = loader.generator.get_state(), torch.get_rng_state()
    list(OfLoader(loader).epoch(6, seed=1, number=0))
    assert torch.equal(loader.generator.get_state(), states[0])
    assert torch.equal(torch.get_rng_state(), states[1])


def test_transforms_draw_from_the_seed() -> None:
    class Noisy(TensorDataset):
        def __getitem__(self, index: int) -> Any:
            x, y = super().__getitem__(index)
            return x + torch.randn(2), y

    source = OfLoader(DataLoader(Noisy(*pair()), batch_size=5))
    first = seen(source.epoch(5, seed=1, number=0))
    assert first[2:] == seen(source.epoch(5, seed=1, number=0, start=2))
    assert first != seen(source.epoch(5, seed=2, number=0))


def test_loaders_that_cannot_be() -> None:
    with pytest.raises(DataError, match="empty"):
        sources(DataLoader(TensorDataset(torch.zeros(0, 2)), batch_size=2))

    class Broken(TensorDataset):
        def __getitem__(self, index: int) -> Any:
            raise OSError("the disk is gone")

    with pytest.raises(DataError, match="cannot be read: OSError: the disk is gone"):
        list(OfLoader(DataLoader(Broken(*pair()))).epoch(1, seed=0, number=0))


def test_data_of_the_room() -> None:
    source = OfData(Digits(channels=1, size=8))
    whole = seen(source.epoch(512, seed=3, number=1))
    assert seen(source.epoch(512, seed=3, number=1, start=2)) == whole[2:]
    assert source.statistics is not None
    assert source.kind() == "classes"
    assert source.words["samples"] == 1797


def test_a_single_last_sample_is_left_out_of_training_only() -> None:
    source = sources(pair(13), share=0).train
    assert source.steps(4) == 3
    assert sum(len(batch) for batch in source.epoch(4, seed=0, number=0)) == 12
    assert sum(len(batch) for batch in source.all(4)) == 13
    assert sources(pair(1)).train.steps(4) == 1


def test_shares_are_disjoint_and_drawn_by_the_seed() -> None:
    def both(seed: int) -> tuple[set[float], set[float]]:
        made = sources(pair(), share=0.25, seed=seed)
        assert made.validation is not None
        first, second = ([x for part in seen(one.all(7)) for x in part] for one in (made.train, made.validation))
        assert len(first) + len(second) == 20
        return set(first), set(second)

    first, second = both(0)
    assert not first & second
    assert len(second) == 5
    assert both(0) == (first, second) != both(1)
    made = sources(pair(), share=0.25, validation=pair(6), test=pair(4))
    assert [one["samples"] for one in made.words.values()] == [20, 6, 4]


def test_named_data_keeps_its_test_split_apart() -> None:
    made = sources("digits", share=0.1, inputs=(1, 8, 8))
    assert made.words["train"]["samples"] + made.words["validation"]["samples"] == 1437
    assert made.words["test"]["samples"] == 360
    assert made.train.task is not None
    assert made.train.task.inputs == (1, 8, 8)


def test_bytes_are_scaled_and_normalised() -> None:
    images = np.random.default_rng(0).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
    source = sources((images, np.arange(12) % 3)).train
    assert isinstance(source, OfData)
    assert isinstance(source.data, Arrays)
    (batch,) = source.all(12)
    assert batch.inputs.shape == (12, 3, 8, 8)
    assert abs(float(batch.inputs.mean())) < 1e-5


def test_folders_name_their_classes(tmp_path: Path) -> None:
    from PIL import Image

    for split, many in (("train", 4), ("test", 2)):
        for place, name in enumerate(("cat", "dog")):
            folder = tmp_path / split / name
            folder.mkdir(parents=True)
            for number in range(many):
                Image.new("RGB", (8, 8), (place * 200, number, 0)).save(folder / f"{number}.png")
    made = sources(tmp_path, share=0.25, inputs=(3, 8, 8))
    assert made.train.classes == ("cat", "dog")
    assert [one["samples"] for one in made.words.values()] == [6, 2, 4]


def test_yes_or_no_and_numbers() -> None:
    x = torch.randn(30, 2)
    assert sources((x, (x[:, :1] > 0).float())).train.kind() == "answers"
    late = torch.zeros(30, 1)
    late[-1] = 0.5
    assert sources((x, late)).train.kind() == "values"


def test_the_test_is_normalised_by_what_is_learnt_from() -> None:
    """Also where a share of the training split is kept for validation: so an exported network answers as it was judged."""
    whole = sources("digits", inputs=(1, 8, 8))
    assert whole.test is not None
    assert whole.test.words["fingerprint"] == Digits(channels=1, size=8, split="test").fingerprint
    made = sources("digits", share=0.5, inputs=(1, 8, 8))
    assert isinstance(made.validation, OfData)
    assert isinstance(made.test, OfData)
    assert made.train.statistics == made.validation.statistics == made.test.statistics != whole.train.statistics
    assert made.test.words["fingerprint"] != whole.test.words["fingerprint"]
    assert sources("digits", test=Digits(split="test"), share=0.5).test.statistics == Digits(split="train").statistics
