"""Samplers that draw ensembles: what they are called, what they draw, what is taken."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.samplers import Chosen, sampler_of, samplers
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.errors import InputError, UnknownNameError


@pytest.fixture(scope="module")
def parts():
    return parts_of(images())


@pytest.fixture(scope="module", params=[NB201, DARTS], ids=["nasbench201", "darts"])
def common(request, parts):
    return Common(EnsembleSettings(**{**TINY, **request.param, "size": 3}), parts)


def asked(common, **said):
    return EnsembleSettings(**{**common.settings.to_json(), **said})


def test_all_are_known_by_name():
    known = ["deep", "droppath", "mc", "nes_re", "nes_rs", "nes_rs:inherited", "snapshot", "svgd_rd", "uniform"]
    assert [name for name in samplers.names() if name in known] == known
    assert all(samplers[name].summary for name in samplers)


def test_wrong_names_are_said():
    with pytest.raises(UnknownNameError, match="svgd_rd"):
        sampler_of(EnsembleSettings("darts", sampler="svgd"))
    with pytest.raises(InputError, match="leave :DARTS_V2 out"):
        sampler_of(EnsembleSettings("darts", sampler="uniform:DARTS_V2"))


@pytest.mark.parametrize("name", ["mc", "svgd_rd", "uniform"])
def test_the_least_estimated_loss_is_taken(common, name):
    said = asked(common, sampler=name)
    found = sampler_of(said).choose(common)
    assert len(found.members) == 3
    assert len(found.tried) == len(found.evaluated) == 2
    assert found.loss == min(found.tried)
    texts = [one.text for one in found.members]
    assert common.estimates().loss([common.space.parse(text) for text in texts]) == found.loss
    assert Chosen.from_json(found.to_json()) == found
    assert sampler_of(said).choose(common) == found  # the seed decides
    assert all(common.space.parse(text) is not None for text in texts)


def test_looks_are_counted_for_each_sampler_alone(common):
    first = sampler_of(asked(common, sampler="uniform")).choose(common)
    again = sampler_of(asked(common, sampler="uniform")).choose(common)
    assert first.evaluated == again.evaluated
    assert first.evaluated[-1] <= 6


def test_members_of_darts_cells_read_two_inputs(parts):
    common = Common(EnsembleSettings(**{**TINY, **DARTS}), parts)
    assert common.without == ("none",)
    found = sampler_of(asked(common, sampler="mc")).choose(common)
    for one in found.members:
        assert common.space.contains(common.space.parse(one.text))
    assert set(common.posterior.counts.values()) == {2}


def test_a_sharp_posterior_draws_its_mode(common, monkeypatch):
    numbers = torch.Generator().manual_seed(0)
    logits = {name: torch.randperm(len(one), generator=numbers) for name, one in common.posterior.logits.items()}
    sharp = replace(common.posterior, logits=logits)
    monkeypatch.setitem(vars(common), "posterior", sharp)
    found = sampler_of(asked(common, sampler="mc", temperature=0.02)).choose(common)
    assert {one.text for one in found.members} == {str(common.architecture(sharp.mode()))}
    assert [one.number for one in found.members] == [0, 1, 2]  # three trainings of one architecture


def test_temperature_does_not_change_what_is_kept(common):
    before = common.posterior.to_json()
    sampler_of(asked(common, sampler="mc", temperature=5.0)).choose(common)
    assert common.posterior.to_json() == before
    assert torch.isfinite(torch.tensor(common.posterior.divergence))
