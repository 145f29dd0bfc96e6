"""The posterior from a proxy: no training, and what the proxy likes is likelier."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

from foresee.ensembles.finding import ensemble
from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.proxied import adds, normal_scores
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.ensembles.sampling import sample_mc
from foresee.errors import ForeseeError
from foresee.seeds import stream

FREE = {"posterior": "params", "proxy_samples": 150}


@pytest.fixture(scope="module")
def parts():
    return parts_of(images())


@pytest.mark.parametrize("space", [NB201, DARTS], ids=["nasbench201", "darts"])
def test_draws_have_more_of_what_the_proxy_counts(space, parts):
    common = Common(EnsembleSettings(**{**TINY, **space, **FREE}), parts)
    drawn = [common.architecture(path) for path in sample_mc(common.posterior, 20)]
    plain = [common.space.sample(stream(9, number)) for number in range(20)]
    more, less = ([common.space.counts(one, parts.task).params for one in rows] for rows in (drawn, plain))
    assert sum(more) > 1.15 * sum(less)
    assert common.proxied.scored == len(common.proxied.known) <= 150


def test_no_supernet_is_trained_and_the_proxy_judges(tmp_path):
    found = ensemble(data=images(), sampler="svgd-rd", out=tmp_path, **{**TINY, **NB201, **FREE})
    assert not (tmp_path / "supernet").exists()
    assert "estimated" not in found.measures
    assert found.budget["supernet_epochs"] == found.budget["evaluations"] == 0
    assert 140 <= found.budget["scores"] <= 154
    params = [
        found.settings.found_space.counts(found.settings.found_space.parse(one), found.task).params
        for one in found.architectures
    ]
    assert found.selected["loss"] == pytest.approx(-sum(params) / 2)
    for name in ("measures.json", "selected.json"):  # what is chosen again from the kept posterior is the same
        (tmp_path / name).unlink()
    again = ensemble(data=images(), sampler="svgd-rd", out=tmp_path, **{**TINY, **NB201, **FREE})
    assert again.selected == found.selected


def test_other_samplers_still_have_a_supernet():
    found = ensemble(data=images(), sampler="uniform", **{**TINY, **NB201, **FREE})
    assert found.budget["supernet_epochs"] == 1
    assert found.budget["scores"] == 0


def test_a_proxy_that_does_not_exist_is_said(parts):
    with pytest.raises(ForeseeError, match="parms"):
        _ = Common(EnsembleSettings(**{**TINY, **NB201, "posterior": "parms"}), parts).posterior


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_scores_keep_the_order_and_are_centred(values):
    merits = torch.tensor(values, dtype=torch.float64)
    scores = normal_scores(merits)
    assert abs(float(scores.mean())) < 0.3
    order = merits.argsort()
    assert bool((scores[order].diff() >= -1e-12).all())


def test_what_options_add_is_found_again():
    numbers = torch.Generator().manual_seed(0)
    rows = torch.nn.functional.one_hot(torch.randint(4, (500,), generator=numbers), 4).double()
    truth = torch.tensor([1.0, -1.0, 0.5, -0.5]).double()
    found = adds(rows, rows @ truth)
    assert torch.allclose(found - found.mean(), truth, atol=0.02)


def test_noise_adds_little():
    numbers = torch.Generator().manual_seed(1)
    rows = torch.nn.functional.one_hot(torch.randint(5, (40, 12), generator=numbers), 5).flatten(1).double()
    noise = torch.randn(40, generator=numbers).double()
    assert float(adds(rows, noise).abs().max()) < 0.4  # least squares alone would explain all of it
    truth = torch.zeros(60).double()
    truth[0] = 3.0
    found = adds(rows, rows @ truth + 0.1 * noise)
    assert int(found.argmax()) == 0
