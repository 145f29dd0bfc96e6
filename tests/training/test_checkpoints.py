"""Checkpoints: whole or refused, whenever the process ends."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from torch import nn

from foresee.errors import RunError
from foresee.training import checkpoints
from foresee.training.checkpoints import optimiser_tensors, read, restore_optimiser, write
from foresee.training.optimisers import optimiser
from foresee.training.recipe import OPTIMISERS, Recipe


def tensors(number: float) -> dict[str, torch.Tensor]:
    return {"w": torch.full((2, 3), number), "half": torch.ones(3).bfloat16(), "count": torch.tensor(7)}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    shared = torch.arange(6.0)
    given = {**tensors(1), "a": shared, "b": shared, "turned": shared.view(2, 3).t()}
    place = write(tmp_path / "new", "last", given, {"step": 3, "words": "ä"})
    found, facts = read(tmp_path / "new", "last")
    assert facts == {"step": 3, "words": "ä"}
    assert found.keys() == given.keys()
    assert all(torch.equal(found[key], given[key]) and found[key].dtype == given[key].dtype for key in given)
    assert place.name == "last.safetensors"
    assert sorted(os.listdir(tmp_path / "new")) == ["last.json", "last.safetensors"]


class KilledError(Exception):
    pass


@pytest.mark.parametrize("moment", range(6))
def test_a_death_at_any_moment_leaves_a_whole_pair(
    tmp_path: Path, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every system call that changes the folder is a moment to die; the second write dies at one of them."""
    write(tmp_path, "last", tensors(1), {"step": 1})
    calls = 0

    def dying(real):  # type: ignore[no-untyped-def]
        def call(*given, **named):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls > moment:
                raise KilledError
            return real(*given, **named)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying(os.replace))
        patch.setattr(os, "fsync", dying(os.fsync))
        if moment < 4:
            with pytest.raises(KilledError):
                write(tmp_path, "last", tensors(2), {"step": 2})
        else:
            write(tmp_path, "last", tensors(2), {"step": 2})
    found, facts = read(tmp_path, "last")
    assert torch.equal(found["w"], tensors(facts["step"])["w"])
    assert facts["step"] == (1 if moment < 3 else 2)
    write(tmp_path, "last", tensors(3), {"step": 3})
    assert read(tmp_path, "last")[1]["step"] == 3


def test_a_second_death_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors that count, but still have the name of new ones, are not written over."""
    write(tmp_path, "last", tensors(1), {"step": 1})
    real = os.replace

    def only_json(old: Path, new: Path) -> None:
        if not str(new).endswith(".json"):
            raise KilledError
        real(old, new)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", only_json)
        with pytest.raises(KilledError):
            write(tmp_path, "last", tensors(2), {"step": 2})

    def no_sync(file: int) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_sync)
        with pytest.raises(KilledError):
            write(tmp_path, "last", tensors(3), {"step": 3})
    assert read(tmp_path, "last")[1]["step"] == 2


def test_torn_pairs_are_refused(tmp_path: Path) -> None:
    place = write(tmp_path, "best", tensors(1), {})
    content = place.read_bytes()
    place.write_bytes(content[:-4])
    with pytest.raises(RunError, match="another sha256"):
        read(tmp_path, "best")
    place.unlink()
    with pytest.raises(RunError, match="is missing"):
        read(tmp_path, "best")
    place.write_bytes(content)
    assert read(tmp_path, "best")
    (tmp_path / "best.json").write_text("{}")
    with pytest.raises(RunError, match="not the JSON of a checkpoint"):
        read(tmp_path, "best")
    (tmp_path / "best.json").write_text("{")
    with pytest.raises(RunError, match="not a JSON file"):
        read(tmp_path, "best")
    with pytest.raises(RunError, match="no checkpoint 'last' here"):
        read(tmp_path, "last")


def test_what_is_no_safetensors_file(tmp_path: Path) -> None:
    import hashlib

    (tmp_path / "x.safetensors").write_bytes(b"nonsense")
    (tmp_path / "x.json").write_text(json.dumps({"sha256": hashlib.sha256(b"nonsense").hexdigest()}))
    with pytest.raises(RunError, match="not a safetensors file"):
        read(tmp_path, "x")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        write(tmp_path / "file", "last", tensors(1), {})


@pytest.mark.parametrize("kind", OPTIMISERS)
def test_an_optimiser_goes_on_bitwise(tmp_path: Path, kind: str) -> None:
    recipe = Recipe(optimiser=kind, lr=0.01, weight_decay=0.1, no_decay=("biases",))
    x = torch.randn(4, 3)

    def go(network: nn.Module, made: torch.optim.Optimizer, steps: int) -> None:
        for _ in range(steps):
            made.zero_grad()
            network(x).square().mean().backward()
            made.step()

    whole, parted = nn.Linear(3, 2), nn.Linear(3, 2)
    parted.load_state_dict(whole.state_dict())
    go(whole, optimiser(recipe, whole), 6)
    first = optimiser(recipe, parted)
    go(parted, first, 2)
    write(tmp_path, "o", optimiser_tensors(first), {})
    second = optimiser(recipe, parted)
    restore_optimiser(second, *read(tmp_path, "o"))
    go(parted, second, 4)
    assert torch.equal(whole.weight, parted.weight)


def test_an_optimiser_of_another_network_is_refused() -> None:
    made = optimiser(Recipe(), nn.Linear(1, 1))
    with pytest.raises(RunError, match="3 parameters or more, this one has 2"):
        restore_optimiser(made, {"2.momentum_buffer": torch.ones(1)})


def test_exists(tmp_path: Path) -> None:
    assert not checkpoints.exists(tmp_path, "last")
    write(tmp_path, "last", {}, {})
    assert checkpoints.exists(tmp_path, "last")
