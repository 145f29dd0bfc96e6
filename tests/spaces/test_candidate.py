"""How a candidate travels: as JSON, as a file, as a network."""

from __future__ import annotations

import json

import pytest
import torch

import foresee
from foresee import spaces
from foresee.errors import InputError
from foresee.task import Task


@pytest.fixture
def candidate() -> spaces.Candidate:
    space = spaces.get("nasbench201", channels=2, cells=1)
    return spaces.Candidate(space, space.named["ResNet"], Task((1, 8, 8), 3), {"weights_seed": 5, "params": 7})


def test_the_repr_is_short(candidate):
    assert repr(candidate) == f"<Candidate of nasbench201: {candidate.architecture}>"


def test_a_candidate_is_its_json_is_its_network(candidate, tmp_path):
    path = tmp_path / "best.json"
    path.write_text(json.dumps(candidate.to_json()))
    again = spaces.Candidate.load(path)
    x = torch.randn(2, 1, 8, 8)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert torch.equal(again.build()(x), candidate.build()(x))
    assert not torch.equal(again.build(seed=6)(x), candidate.build()(x))
    assert torch.equal(torch.get_rng_state(), before)
    assert again.details == candidate.details


def test_a_network_is_built_from_any_form_of_a_candidate(candidate, tmp_path):
    (tmp_path / "best.json").write_text(json.dumps(candidate.to_json()))
    x = torch.randn(2, 1, 8, 8)
    expected = candidate.build()(x)
    for source in (candidate, candidate.to_json(), tmp_path, tmp_path / "best.json", str(tmp_path)):
        assert torch.equal(foresee.build(source)(x), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: [plain], "expected an object, got list"),
        (lambda plain: {"space": plain["space"]}, "architecture, task missing"),
        (lambda plain: plain | {"settings": 3}, "settings must be an object, got 3"),
        (lambda plain: plain | {"settings": {"cell": 3}}, "did you mean cells"),
    ],
)
def test_what_is_no_candidate_says_why(candidate, change, message):
    with pytest.raises(InputError, match=message):
        spaces.Candidate.from_json(change(candidate.to_json()))


def test_what_is_no_file_says_why(tmp_path):
    (tmp_path / "best.json").write_text("{")
    with pytest.raises(InputError, match="not a JSON file"):
        spaces.Candidate.load(tmp_path / "best.json")
    with pytest.raises(InputError, match="No such file"):
        spaces.Candidate.load(tmp_path / "worst.json")
