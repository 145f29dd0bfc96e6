"""What all attacks promise, whatever they do inside."""

from __future__ import annotations

import itertools
import json
import math

import pytest
import torch
from tests.ensembles.attacks.golden.network import trained
from tests.ensembles.attacks.networks import linear
from torch import nn

from foresee.data.normalising import Statistics
from foresee.ensembles.attacks import attacks
from foresee.errors import DataError, InputError, UnknownNameError, UnsupportedError
from foresee.training.export.answering import Answering

#: few steps: enough for the laws
QUICK = {
    "fgsm": {},
    "pgd": {"steps": 4, "random": True},
    "cw": {"steps": 8, "rate": 0.1, "searches": 2},
    "apgd_ce": {"steps": 8},
    "apgd_t": {"steps": 6, "targets": 2},
    "fab_t": {"steps": 6, "targets": 2},
    "square": {"queries": 30},
    "autoattack": {"steps": 5, "targets": 2, "queries": 20},
}
BOUNDED = sorted(set(QUICK) - {"cw"})


def run(name, *, eps=0.1, **others):
    network, images, labels = trained()
    bound = {} if name == "cw" else {"eps": eps}
    return attacks[name](network, images[:20], labels[:20], **{**QUICK[name], **bound, **others})


def test_every_attack_of_ours_is_looked_at_here():
    assert {name for name in attacks.names() if ":" not in name} == set(QUICK)


@pytest.mark.parametrize("eps", [0.01, 0.2])
@pytest.mark.parametrize("name", BOUNDED)
def test_nothing_leaves_the_ball(name, eps):
    found = run(name, eps=eps)
    assert float(found.linf.max()) <= eps + 1e-6


@pytest.mark.parametrize("name", BOUNDED)
def test_a_larger_ball_never_leaves_more(name):
    found = [run(name, eps=eps).accuracy for eps in (0.05, 0.15, 0.45)]
    assert all(after <= before + 1 / 20 for before, after in itertools.pairwise(found))
    assert found[-1] < found[0]


@pytest.mark.parametrize("name", QUICK)
def test_images_are_pixels_and_success_is_what_a_plain_prediction_says(name):
    network, images, labels = trained()
    found = run(name)
    assert found.images.dtype == torch.float32
    assert found.images.shape == images[:20].shape
    assert 0 <= float(found.images.min()) <= float(found.images.max()) <= 1
    with torch.no_grad():
        assert torch.equal(network(found.images).argmax(1) != labels[:20], found.success)
        assert torch.equal(network(images[:20]).argmax(1) == labels[:20], found.right)
    assert bool(found.success[~found.right].all())
    away = (found.images.double() - images[:20].double()).flatten(1)
    torch.testing.assert_close(found.l2, away.norm(dim=1))
    assert found.accuracy == pytest.approx(1 - found.success.double().mean())


@pytest.mark.parametrize("name", QUICK)
def test_a_sample_is_attacked_in_the_same_way_in_every_batch(name):
    whole, parts = run(name), run(name, batch=7)
    assert torch.equal(whole.success, parts.success)
    torch.testing.assert_close(whole.images, parts.images, atol=1e-5, rtol=0)
    assert torch.equal(whole.queries, parts.queries)
    assert whole.by == parts.by


@pytest.mark.parametrize("name", ["pgd", "apgd_ce", "square"])
def test_the_seed_decides_random_starts(name):
    first, again, other = (run(name, eps=0.2, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first.images, again.images)
    assert not torch.equal(first.images, other.images)


@pytest.mark.parametrize("name", QUICK)
def test_what_is_spent_is_counted(name):
    found = run(name)
    attacked = found.right if attacks[name].spares else torch.ones_like(found.right)
    assert bool((found.queries[attacked] > 0).all())
    assert int(found.queries[~attacked].sum()) == 0
    assert bool((found.gradients > 0).any()) == attacks[name].white_box
    assert bool((found.gradients <= found.queries).all())


def test_counts_of_the_simple_ones():
    assert run("fgsm").gradients.tolist() == [1] * 20
    assert run("pgd").queries.tolist() == [4] * 20
    found = run("cw")
    assert set(found.gradients[found.right].tolist()) == {16}


class Moody(nn.Module):
    """Batch normalisation, dropout, and a frozen weight: everything that an attack could disturb."""

    def __init__(self):
        super().__init__()
        self.inside = nn.Sequential(
            nn.BatchNorm2d(1), nn.Conv2d(1, 3, 3), nn.Dropout(0.5), nn.Flatten(), nn.Linear(108, 4)
        )
        self.inside[1].weight.requires_grad_(False)
        self.seen = []

    def forward(self, images):
        self.seen.append(images.requires_grad)
        assert not self.training
        return self.inside(images)


@pytest.mark.parametrize("name", QUICK)
def test_a_network_is_left_as_found(name):
    torch.manual_seed(0)
    network = Moody().train()
    network.inside[3].eval()
    state = {key: value.clone() for key, value in network.state_dict().items()}
    modes = [one.training for one in network.modules()]
    draws = torch.get_rng_state()
    images = torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    attacks[name](network, images, torch.arange(6) % 4, **QUICK[name])
    assert all(torch.equal(value, state[key]) for key, value in network.state_dict().items())
    assert [one.training for one in network.modules()] == modes
    assert [one.requires_grad for one in network.parameters()] == [True, True, False, True, True, True]
    assert all(one.grad is None for one in network.parameters())
    assert torch.equal(torch.get_rng_state(), draws)
    assert network.seen == []


def test_images_are_not_written_into():
    network, images, labels = linear()
    kept = images.clone()
    for name in QUICK:
        attacks[name](network, images, labels, **QUICK[name])
    assert torch.equal(images, kept)


class Small(nn.Module):
    """Memory for so many samples at once."""

    def __init__(self, network, most):
        super().__init__()
        self.network, self.most = network, most

    def forward(self, images):
        if len(images) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return self.network(images)


@pytest.mark.parametrize("name", ["pgd", "square"])
def test_a_batch_that_does_not_fit_is_halved(name):
    network, images, labels = linear()
    wanted = attacks[name](network, images, labels, **QUICK[name])
    found = attacks[name](Small(network, 3), images, labels, **QUICK[name])
    torch.testing.assert_close(found.images, wanted.images)
    assert torch.equal(found.queries, wanted.queries)
    with pytest.raises(torch.OutOfMemoryError):
        attacks[name](Small(network, 0), images, labels, **QUICK[name])


def test_an_attack_that_would_help_is_none():
    network, images, labels = linear()
    wrong = (labels + 1) % 4  # a network that is wrong everywhere stays so
    found = attacks["fgsm"](network, images, wrong, eps=0.5)
    assert found.accuracy == 0 == found.clean_accuracy


def test_networks_in_other_types_and_with_other_outputs():
    network, images, labels = linear()

    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = network

        def forward(self, images):
            return {"logits": self.inside(images), "features": images}

    plain = attacks["pgd"](network, images, labels, eps=0.05)
    torch.testing.assert_close(attacks["pgd"](Pair(), images, labels, eps=0.05).images, plain.images)
    exact = attacks["pgd"](network.double(), images, labels, eps=0.05)
    torch.testing.assert_close(exact.images, plain.images)


def test_normalising_inside_leaves_eps_in_pixels():
    network, images, labels = linear()
    inside = Answering(network, Statistics((0.5,), (0.25,)))
    labels = inside(images).argmax(1)
    found = attacks["pgd"](inside, images, labels, eps=0.02, step=0.01)
    assert float(found.linf.min()) == pytest.approx(0.02, abs=1e-6)
    outside = nn.Sequential(nn.Flatten(), nn.Linear(16, 4))
    outside[1].weight.data = network[1].weight.data / 0.25
    outside[1].bias.data = network[1].bias.data - (network[1].weight.data * 0.5 / 0.25).sum(1)
    torch.testing.assert_close(found.images, attacks["pgd"](outside, images, labels, eps=0.02, step=0.01).images)


def test_what_cannot_be_attacked_is_said():
    network, images, labels = linear()
    for bad, kind, words in [
        ((images * 3, labels), DataError, "pixels from 0 to 1"),
        ((images * math.nan, labels), DataError, "pixels from 0 to 1"),
        ((images[:3], labels), InputError, "3 images and 12 labels"),
        ((images, labels.float()), InputError, "whole numbers"),
        ((images, labels + 9), InputError, "4 outputs"),
        ((images, labels - 9), InputError, "classes from 0"),
        ((images[:0], labels[:0]), InputError, "at least one"),
    ]:
        with pytest.raises(kind, match=words):
            attacks["fgsm"](network, *bad)
    with pytest.raises(UnsupportedError, match="classifier"):
        attacks["fgsm"](nn.Sequential(nn.Flatten(), nn.Linear(16, 1)), images, labels)
    network[1].bias.data[0] = math.nan
    with pytest.raises(UnsupportedError, match="not finite"):
        attacks["fgsm"](network, images, labels)


@pytest.mark.parametrize(
    "settings", [{"eps": 0}, {"eps": 3}, {"eps": "a"}, {"eps": True}, {"steps": 0}, {"steps": 1.5}]
)
def test_settings_that_make_no_sense(settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        attacks["pgd"](*linear(), **settings)
    assert len(attacks["fab_t"](*linear(), norm="l2", eps=3.0, steps=2)) == 12  # lengths go beyond 1
    with pytest.raises(UnknownNameError, match="eps"):
        attacks["pgd"](*linear(), epss=0.1)
    with pytest.raises(UnknownNameError, match="fgsm"):
        attacks["fgms"]


def test_the_result_as_plain_values():
    plain = json.loads(json.dumps(run("autoattack", eps=0.2).to_json()))
    assert plain["attack"] == "autoattack"
    assert plain["settings"]["eps"] == 0.2
    assert plain["linf"] <= 0.2 + 1e-6
    assert sum(plain["by"].values()) > 0
    assert run("fgsm", eps=1e-6).to_json()["l2"] is None
    assert "right before" in repr(run("fgsm"))
