"""MC DropPath: paths are dropped as often as is said, the same ones in every call, and all of it is kept with an ensemble."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from foresee.ensembles.dropping import AlwaysDropPath, dropped, dropping, drops
from foresee.ensembles.ensemble import Ensemble
from foresee.errors import InputError
from foresee.spaces.candidate import Candidate
from foresee.spaces.darts.network import DropPath
from foresee.spaces.find import get
from foresee.task import Task

TASK = Task((3, 8, 8), 3)


@pytest.fixture(scope="module")
def candidate():
    space = get("darts", channels=2, layers=3)
    return Candidate(space, space.named["DARTS_V2"], TASK)


def test_as_many_are_dropped_as_is_said_and_the_mean_stays():
    network = dropping(nn.Sequential(DropPath()), 0.2, seed=1).eval()
    said = network(torch.ones(20_000, 1, 1, 1))
    assert float((said == 0).float().mean()) == pytest.approx(0.2, abs=0.01)
    assert float(said.mean()) == pytest.approx(1.0, abs=0.02)


def test_each_place_drops_others_and_each_call_the_same():
    network = dropping(nn.Sequential(DropPath(), DropPath()), 0.5, seed=0)
    x = torch.ones(64, 1, 1, 1)
    first, both = network[0], network(x)
    network[0].draws.count = 0
    assert not torch.equal(first(x) * 2, both)
    assert torch.equal(network(x), both)
    assert torch.equal(copy.deepcopy(network)(x), both)


def test_at_zero_it_is_the_network_itself(candidate):
    plain = candidate.build(0).eval()
    thinned = dropping(copy.deepcopy(plain), 0.0, seed=0).eval()
    x = torch.randn(4, 3, 8, 8)
    assert torch.equal(plain(x), thinned(x))
    assert plain.state_dict().keys() == thinned.state_dict().keys()


def test_networks_without_paths_are_refused():
    assert not drops(nn.Linear(2, 2))
    with pytest.raises(InputError, match="no paths"):
        dropping(nn.Linear(2, 2), 0.1, 0)


def test_an_ensemble_that_drops_paths_is_kept_as_one(candidate, tmp_path):
    network = candidate.build(0)
    made = Ensemble([dropping(copy.deepcopy(network), 0.3, seed) for seed in (5, 6)]).eval()
    made.save(tmp_path, [candidate] * 2)
    read = Ensemble.load(tmp_path)
    assert [dropped(one) for one in read.members] == [[0.3, 5], [0.3, 6]]
    assert dropped(network) is None
    assert isinstance(next(one for one in read.modules() if isinstance(one, DropPath)), AlwaysDropPath)
    x = torch.randn(6, 3, 8, 8)
    with torch.no_grad():
        assert not read.at_once  # each drops paths of its own
        assert torch.equal(read(x), made(x))
