"""NES: a pool of trained networks, chosen from greedily."""

from __future__ import annotations

import itertools

import pytest
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

from foresee.ensembles.finding import nes
from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.samplers import sampler_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.ensembles.measures import nll


@pytest.fixture(scope="module")
def common():
    return Common(EnsembleSettings(**{**TINY, **NB201, "pool": 4}), parts_of(images()))


def asked(common, **said):
    return EnsembleSettings(**{**common.settings.to_json(), **said})


def test_a_random_pool_is_chosen_from_greedily(common):
    found = sampler_of(asked(common, sampler="nes-rs")).choose(common)
    assert len(found.pool) == 4
    assert set(found.members) <= set(found.pool)
    said = common.members.pool(found.pool)
    alone = [float(nll(one.double(), common.labels)) for one in said]
    first = found.pool[alone.index(min(alone))]
    assert found.members[0] == first
    best = found.pool.index(first)
    pairs = [float(nll(said[[best, other]].double().mean(0), common.labels)) for other in range(4) if other != best]
    assert found.loss == pytest.approx(min(pairs))


def test_an_evolved_pool_begins_as_the_random_one_and_goes_on_with_mutants(common):
    random = sampler_of(asked(common, sampler="nes-rs")).choose(common)
    found = sampler_of(asked(common, sampler="nes-re", population=2)).choose(common)
    assert found.pool[:2] == random.pool[:2]
    assert len(found.pool) == 4
    for place, child in enumerate(found.pool[2:], 2):  # one of the two before it is its parent
        near = [apart(child.text, one.text) for one in found.pool[place - 2 : place]]
        assert min(near) <= 1
    assert sampler_of(asked(common, sampler="nes-re", population=2)).choose(common) == found


def apart(first: str, second: str) -> int:
    pairs = zip(first.replace("+", "").split("|"), second.replace("+", "").split("|"), strict=True)
    return sum(one != other for one, other in pairs)


def test_a_mutant_that_changed_nothing_is_trained_from_another_seed(common):
    twice = nes.numbered([common.candidate(common.space.named["ResNet"])] * 2)
    assert twice[0].seed(0) != twice[1].seed(0)
    assert nes.mutating(common.space) is common.space
    darts = Common(EnsembleSettings(**{**TINY, **DARTS}), common.parts)
    assert nes.mutating(darts.space).mutation == "published_nes"
    assert nes.mutating(darts.space).channels == 2


def test_by_inherited_weights_nothing_is_trained_for_the_choice(common):
    found = sampler_of(asked(common, sampler="nes-rs:inherited")).choose(common)
    assert found.pool == ()
    assert found.evaluated[-1] <= 4  # as many as uniform sampling looks at
    uniform = sampler_of(asked(common, sampler="uniform")).choose(common)
    assert found.loss <= uniform.loss or len(found.members) == 2
    drawn = {one.text for one in uniform.members}
    assert drawn <= {one.text for one in _pool(common)}


def _pool(common):
    from foresee.seeds import stream

    turns = itertools.product(range(2), range(2))
    return nes.numbered(
        common.candidate(common.space.sample(stream(common.settings.seed, "uniform", *turn))) for turn in turns
    )
