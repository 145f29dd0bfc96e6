"""Settings of an ensemble: what they take, what they refuse, what follows from them."""

from __future__ import annotations

import pytest

from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.errors import InputError, UnknownNameError


def test_they_travel_as_plain_values():
    asked = EnsembleSettings("darts", sampler="deep:DARTS_V2", delta=-0.5, supernet={"partial": 1}, inputs=(3, 8, 8))
    assert EnsembleSettings.from_json(asked.to_json()) == asked
    assert asked.sampler == "deep:DARTS_V2"


def test_a_proxy_behind_a_sampler_is_where_its_posterior_comes_from():
    short = EnsembleSettings("darts", sampler="svgd-rd:zen")
    assert short == EnsembleSettings("darts", sampler="svgd_rd", posterior="zen")
    assert short.training_free
    assert EnsembleSettings("darts", sampler="deep:ENAS").posterior == "fitted"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"temperature": 0}, "temperature = 0: expected a number above 0"),
        ({"droppath": 2.0}, "droppath"),
        ({"validation": 1.0}, "share between 0 and 1"),
        ({"size": 0}, "at least 1"),
        ({"pool": 2, "size": 3}, "a pool of 2 networks has no 3 members"),
        ({"delta": "much"}, "delta = 'much'"),
        ({"sampler": "mc:naswot", "posterior": "params"}, "say one of them"),
    ],
)
def test_what_cannot_be_is_said(said, words):
    with pytest.raises(InputError, match=words):
        EnsembleSettings("nasbench201", **said)


def test_unknown_names_are_said_with_the_nearest():
    with pytest.raises(UnknownNameError, match="grid"):
        EnsembleSettings("nasbench201", delta_by="gird")
    with pytest.raises(UnknownNameError, match="iterations"):
        EnsembleSettings.of(space="nasbench201", iteration=3)


def test_sizes_are_of_all_networks():
    asked = EnsembleSettings("darts", channels=4, layers=3, recipe="nasi_cifar", epochs=7)
    assert (asked.found_space.channels, asked.found_space.layers) == (4, 3)
    assert (asked.member_recipe.channels, asked.member_recipe.epochs) == (None, 7)  # the recipe's 36 are not taken
    assert EnsembleSettings("darts", recipe="nasi_cifar").member_recipe.channels == 36
    with pytest.raises(InputError, match="nasbench201 have no layers"):
        _ = EnsembleSettings("nasbench201", layers=3).found_space


def test_a_pool_costs_what_a_supernet_and_members_cost():
    asked = EnsembleSettings("darts", size=3, epochs=20, supernet_epochs=50)
    assert asked.pool_size == 3 + 3  # 50 epochs are three trainings of 20, the last one not whole
    assert EnsembleSettings("darts", pool=50).pool_size == 50
