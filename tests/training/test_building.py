"""Architectures are built as the recipe wants them, where their space can."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.errors import InputError
from foresee.recommenders import Handmade
from foresee.training.building import built, by_hand, candidate_of, for_recipe, spread_embeddings
from foresee.training.recipe import recipe

TASK = fs.Task((3, 32, 32), 7)


def candidate(space: str, **settings: Any) -> fs.Candidate:
    made = fs.spaces.get(space, **settings)
    return fs.Candidate(made, made.sample(random.Random(0)), fs.Task((3, 32, 32), 10))


@pytest.mark.parametrize(
    ("space", "name", "settings"),
    [
        ("darts", "nasi_cifar", {"auxiliary": True, "drop_path": 0.2}),
        ("darts", "ch4_cifar", {}),
        ("darts", "nasi_imagenet", {"channels": 46, "layers": 14, "auxiliary": True}),
        ("darts", "fast", {"channels": 4}),
        ("nasbench201", "nasi_cifar", {"channels": 4}),
        ("autoformer_tiny", "autoformer", {"drop_path": 0.1}),
    ],
)
def test_the_recipes_form_where_the_space_has_it(space: str, name: str, settings: dict[str, Any]) -> None:
    given = candidate(space, channels=4) if space != "autoformer_tiny" else candidate(space)
    made = for_recipe(given, recipe(name), TASK)
    usual = {"channels": 36, "layers": 20} if space == "darts" and name in ("nasi_cifar", "ch4_cifar") else {}
    assert {**made.space.defaults(), **made.space.settings()} == {**made.space.defaults(), **usual, **settings}
    assert made.task == TASK
    assert str(made.architecture) == str(given.architecture)


def test_weights_come_from_the_seed() -> None:
    one = candidate("nasbench201", channels=2, cells=1)
    first, second, third = (built(one, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert any(not torch.equal(first[key], third[key]) for key in first)


def test_what_names_a_network() -> None:
    one = candidate("nasbench201")
    assert candidate_of(one) is one
    assert candidate_of(one.to_json()).to_json() == one.to_json()  # type: ignore[union-attr]
    assert candidate_of(torch.nn.ReLU()) is None
    with pytest.raises(InputError, match="is no network"):
        candidate_of(3)  # type: ignore[arg-type]


def test_folders_of_runs_and_of_trainings(tmp_path: Path) -> None:
    one, other = candidate("nasbench201", channels=2), candidate("nasbench201", channels=3)
    (tmp_path / "best.json").write_text(json.dumps(one.to_json()))
    assert candidate_of(tmp_path).space.settings() == {"channels": 2}  # type: ignore[union-attr]
    assert candidate_of(str(tmp_path / "best.json")).space.settings() == {"channels": 2}  # type: ignore[union-attr]
    (tmp_path / "architecture.json").write_text(json.dumps(other.to_json()))
    (tmp_path / "best.json").write_text('{"sha256": "of weights"}')
    assert candidate_of(tmp_path).space.settings() == {"channels": 3}  # type: ignore[union-attr]
    assert isinstance(fs.build(tmp_path), torch.nn.Module)


def test_a_recommender_is_meant_by_its_name_unless_a_file_has_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert by_hand("deepfm") == Handmade("deepfm")
    assert by_hand("nothing") is None
    assert by_hand(Handmade("dlrm")) == Handmade("dlrm")
    assert by_hand(nn.Linear(1, 1)) is None
    (tmp_path / "deepfm").mkdir()
    assert by_hand("deepfm") is None


def test_tables_are_spread_and_weights_of_first_order_are_not():
    network = nn.ModuleList([nn.Embedding(50, 4), nn.Embedding(50, 1), nn.Linear(3, 3)])
    before = [one.clone() for one in network.parameters()]
    spread_embeddings(network, 0.0)
    assert all(torch.equal(one, other) for one, other in zip(network.parameters(), before, strict=True))
    spread_embeddings(network, 0.01)
    assert float(network[0].weight.detach().std()) == pytest.approx(0.01)
    assert all(torch.equal(one, other) for one, other in zip(list(network.parameters())[1:], before[1:], strict=True))
