"""Ensembles of one cell."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

from foresee.ensembles.ensemble import Ensemble
from foresee.ensembles.finding import ensemble
from foresee.ensembles.finding.members import predicted
from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.rivals import cell_of, known_cells, places, robnet
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.darts.network import reductions
from foresee.spaces.find import get
from foresee.spaces.robnet import RobNet
from foresee.training.loading import load


@pytest.fixture(scope="module")
def common():
    return Common(EnsembleSettings(**{**TINY, **DARTS}), parts_of(images()))


def test_cells_are_known_by_name(common):
    assert str(cell_of(common).architecture) == str(get("darts").named["DARTS_V2"])
    assert cell_of(common, "enas").architecture == get("darts").named["ENAS"]
    assert cell_of(common, "RobNet-large").space.name == "robnet"
    text = str(get("darts").named["DARTS_V1"])
    assert str(cell_of(common, text).architecture) == text
    with pytest.raises(UnknownNameError, match="DARTS_V2"):
        cell_of(common, "DARTS_V3")
    assert "RobNet_free" in known_cells(get("darts"))


@pytest.mark.parametrize("layers", [3, 5, 8, 14, 20])
def test_a_shorter_robnet_keeps_its_reductions(layers):
    found = places(layers, 20)
    assert len(found) == layers
    assert found == sorted(found)
    assert [found[place] for place in reductions(layers)] == list(reductions(20))
    space, cell = robnet(get("darts", channels=4, layers=layers), "robnet_free")
    assert [cell.cells[place] for place in range(layers)] == [RobNet().named["RobNet_free"].cells[one] for one in found]
    assert space.layers == layers


def test_a_deep_ensemble_is_one_cell_from_several_seeds(tmp_path):
    found = ensemble(data=images(), sampler="deep", out=tmp_path, **{**TINY, **NB201})
    assert len(set(found.architectures)) == 1
    first, second = (load(tmp_path / "members" / str(number)) for number in range(2))
    assert first.seed != second.seed
    assert not torch.equal(*(next(one.network.parameters()) for one in (first, second)))
    assert found.budget["supernet_epochs"] == found.budget["evaluations"] == 0
    assert "estimated" not in found.measures


def test_a_snapshot_begins_where_the_one_before_ended(tmp_path):
    how = {**TINY, **NB201, "recipe_values": {"lr": 1e-12, "weight_decay": 0.0}}  # a cycle that changes no weight
    found = ensemble(data=images(), sampler="snapshot", out=tmp_path, **how)
    first, second = (load(tmp_path / "members" / str(number)).network for number in range(2))
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    assert found.budget["epochs"] == 2
    again = ensemble(data=images(), sampler="snapshot", **how)
    assert torch.equal(again.probabilities, found.probabilities)


def test_mc_droppath_is_one_network_that_drops_paths(tmp_path):
    how = {**TINY, **DARTS, "droppath": 0.4, "size": 3}
    found = ensemble(data=images(), sampler="droppath", out=tmp_path, **how)
    assert found.budget["networks"] == 1
    assert len(found.architectures) == 1
    assert found.probabilities.shape[0] == 3
    assert not torch.equal(found.probabilities[0], found.probabilities[1])
    read = Ensemble.load(tmp_path)
    test = found.parts(images()).test
    for member, said in zip(read.members, found.probabilities, strict=True):
        assert torch.equal(predicted(member, test), said)
    assert "dropping paths" in str(found)


def test_paths_that_are_not_there_cannot_be_dropped():
    with pytest.raises(InputError, match="no paths to drop"):
        ensemble(data=images(), sampler="droppath", **{**TINY, **NB201})
