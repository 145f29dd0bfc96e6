"""The room's front: what is listed, how a space is got, how a candidate travels."""

from __future__ import annotations

import json

import pytest
import torch

from foresee import spaces
from foresee.errors import InputError, UnknownNameError
from foresee.task import Task


def test_names():
    assert "nasbench201" in spaces.names()
    assert spaces.names("nasbench2*") == ["nasbench201"]
    assert spaces.spaces["nasbench201"] is spaces.NASBench201


def test_own_is_the_function_though_it_is_a_file_too():
    from foresee.spaces.own import load, own

    assert spaces.own is own
    assert callable(load)


def test_get():
    space = spaces.get("nasbench201", cells=1)
    assert spaces.get(space) is space
    with pytest.raises(UnknownNameError, match="did you mean nasbench201"):
        spaces.get("nasbench210")
    with pytest.raises(InputError, match="wide"):
        spaces.get("nasbench201", wide=3)


def test_a_candidate_is_its_json_is_its_network(tmp_path):
    space = spaces.get("nasbench201", channels=2, cells=1)
    candidate = spaces.Candidate(space, space.named["ResNet"], Task((1, 8, 8), 3), {"weights_seed": 5, "params": 7})
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
