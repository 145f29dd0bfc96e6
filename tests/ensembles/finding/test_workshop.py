"""What samplers share: made when it is asked for, kept, never made twice."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

from foresee.ensembles.finding import ensemble, workshop
from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.ensembles.posterior import fit
from foresee.errors import InputError
from foresee.seeds import derive


@pytest.fixture(scope="module")
def parts():
    return parts_of(images())


def test_supernet_and_posterior_are_read_again(parts, tmp_path, monkeypatch):
    settings = EnsembleSettings(**{**TINY, **NB201})
    first = Common(settings, parts, tmp_path)
    kept = first.posterior
    assert set(first.seconds) == {"supernet", "posterior"}
    monkeypatch.setattr(workshop, "fit", None)
    again = Common(settings, parts, tmp_path)
    assert all(torch.equal(kept.logits[name], one) for name, one in again.posterior.logits.items())
    assert "supernet" not in vars(again)  # which need not even be read for it
    for one, other in zip(first.supernet.one_shot.parameters(), again.supernet.one_shot.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_divergence_weighs_as_in_the_lower_bound(parts):
    common = Common(EnsembleSettings(**{**TINY, **NB201}), parts)
    seed = derive(0, "posterior")
    wanted = fit(common.supernet.one_shot, parts.val, seed=seed, epochs=1, prior=1 / len(parts.val))
    assert all(torch.equal(one, common.posterior.logits[name]) for name, one in wanted.logits.items())


def test_another_supernet_is_refused(parts, tmp_path):
    _ = Common(EnsembleSettings(**{**TINY, **NB201}), parts, tmp_path).supernet
    with pytest.raises(Exception, match="of another training"):
        _ = Common(EnsembleSettings(**{**TINY, **NB201, "supernet_epochs": 2}), parts, tmp_path).supernet


@pytest.mark.parametrize(("said", "partial"), [({}, 2), ({"channels": 3}, 1), ({"supernet": {"partial": 1}}, 1)])
def test_the_supernet_of_darts_cells_is_partial_as_in_the_thesis(said, partial, parts):
    common = Common(EnsembleSettings(**{**TINY, **DARTS, **said}), parts)
    assert common.one_shot.form.partial == partial
    assert common.one_shot.edge_normalisation
    with pytest.raises(InputError, match="no depth"):
        _ = Common(EnsembleSettings(**{**TINY, **DARTS, "supernet": {"depth": 1}}), parts).fresh


def test_estimates_are_shared_and_counted_apart(parts):
    common = Common(EnsembleSettings(**{**TINY, **NB201}), parts)
    cell = common.space.named["ResNet"]
    first, second = common.estimates(), common.estimates()
    said = first.probabilities(cell)
    assert second.evaluated == 0
    assert second.probabilities(cell) is said
    assert (first.evaluated, second.evaluated) == (1, 1)
    assert common.estimates("test").probabilities(cell).shape[0] == len(parts.test)


VIT = {"embed": [16, 24], "heads": [1, 2], "depth": [2, 3], "patch": 4, "head_dim": 8, "reach": 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        {"space": "darts_nasi", "channels": 2, "layers": 3},
        {"space": "nasbench1shot1_s1", "channels": 4, "cells": 1},
        {"space": "nats_size"},
        {"space": "transnas_micro", "channels": 4},
        {"space": "autoformer_tiny", "space_settings": VIT},
    ],
    ids=lambda said: said["space"],
)
def test_every_space_with_a_one_shot_network_has_ensembles(said):
    found = ensemble(data=images(), sampler="mc", **{**TINY, **said})
    assert len(found.architectures) == 2
    assert found.measures["estimated"].samples == found.measures["val"].samples
