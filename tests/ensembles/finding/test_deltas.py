"""Which delta the draws of SVGD-RD have."""

from __future__ import annotations

from functools import partial

import pytest
from tests.ensembles.finding.tiny import NB201, TINY, images

from foresee.ensembles.finding import deltas
from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.samplers import sampler_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.searchers.bayes import maximise


@pytest.fixture(scope="module")
def common():
    return Common(EnsembleSettings(**{**TINY, **NB201, "iterations": 4}), parts_of(images()))


def asked(common, **said):
    return EnsembleSettings(**{**common.settings.to_json(), **said})


def test_the_grid_goes_from_end_to_end(common):
    found = sampler_of(asked(common)).choose(common)
    assert found.details["deltas"] == [-2.0, -1.0, 0.0, 1.0]
    assert len(found.tried) == 4  # one draw for each: the budget of every sampler


def test_a_delta_that_is_said_is_that_of_all_draws(common):
    found = sampler_of(asked(common, delta=0.25)).choose(common)
    assert found.details["deltas"] == [0.25] * 4
    alone = deltas.drawn(common, asked(common), 0.25, 2)
    assert common.estimates().loss(alone) == found.tried[2]


def test_optimisation_has_the_same_budget(common, monkeypatch):
    monkeypatch.setattr(deltas, "maximise", partial(maximise, method="random"))
    said = asked(common, delta_by="bayes")
    found = sampler_of(said).choose(common)
    assert len(found.tried) == len(found.details["deltas"]) == 4
    assert all(-2 <= one <= 1 for one in found.details["deltas"])
    assert found.loss == min(found.tried)
    assert sampler_of(said).choose(common) == found


@pytest.mark.slow
def test_a_gaussian_process_looks_for_it(common):
    pytest.importorskip("botorch")
    found = sampler_of(asked(common, delta_by="bayes")).choose(common)
    assert found.loss == min(found.tried)
