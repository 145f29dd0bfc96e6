"""One member is attacked, all answer."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.attacks.golden.network import trained
from tests.ensembles.attacks.networks import linear
from torch import nn

from foresee.ensembles import Ensemble
from foresee.ensembles.attacks import attacks
from foresee.ensembles.defence import answered, defend, members_of
from foresee.errors import InputError, UnknownNameError
from foresee.seeds import derive

SOME = {"fgsm": {"eps": 0.12}, "pgd": {"eps": 0.12, "step": 0.03, "steps": 5}}


@pytest.fixture(scope="module")
def digits():
    """Three relatives of the trained network, a stranger, images and labels."""
    _, images, labels = trained()
    family = []
    for seed in range(4):
        torch.manual_seed(seed)
        one = trained()[0]
        for weight in one.parameters():
            weight.data += 0.3 * weight.std() * torch.randn_like(weight)
        family.append(one)
    return family[:3], family[3], images, labels


def test_every_column_is_what_it_says(digits):
    members, outsider, images, labels = digits
    found = defend(members, images, labels, attacks=SOME, outsider=outsider, seed=5)
    mean = torch.stack([one(images).softmax(1) for one in members]).mean(0)
    assert found.ensemble == pytest.approx(float((mean.argmax(1) == labels).double().mean()))
    for row in found.attacks:
        assert [one.member for one in row.rounds] == [0, 1, 2]
        for one, network in [*zip(row.rounds, members, strict=True), (row.control, outsider)]:
            hit = attacks[row.attack](
                network, images, labels, seed=derive(5, row.attack, one.member), **SOME[row.attack]
            )
            mean = torch.stack([each(hit.images).softmax(1) for each in members]).mean(0)
            assert one.clean == pytest.approx(float((network(images).argmax(1) == labels).double().mean()))
            assert one.attacked == pytest.approx(float((network(hit.images).argmax(1) == labels).double().mean()))
            assert one.defended == pytest.approx(float((mean.argmax(1) == labels).double().mean()))
            assert 0 <= one.carried <= 1
            assert one.linf <= 0.12 + 1e-6
    assert found.clean == tuple(one.clean for one in found["pgd"].rounds)


def test_an_ensemble_defends(digits):
    members, outsider, images, labels = digits
    for row in defend(members, images, labels, attacks=SOME, outsider=outsider).attacks:
        assert row.defended.mean >= row.attacked.mean
        assert row.control.defended >= row.attacked.mean


def test_a_single_network_defends_nothing():
    network, images, labels = trained()
    found = defend(network, images, labels, attacks=["fgsm"])
    (one,) = found["fgsm"].rounds
    assert one.attacked == one.defended
    assert found["fgsm"].attacked.deviation is None
    assert found["fgsm"].control is None
    assert "control" not in str(found)


def test_who_knows_the_whole_ensemble_does_more_harm(digits):
    members, _, images, labels = digits
    found = defend(members, images, labels, attacks=SOME, whole=True)["pgd"]
    assert found.whole.attacked == found.whole.defended <= found.defended.mean


def test_rounds_that_are_known_are_not_done_again(digits):
    members, outsider, images, labels = digits
    heard, again = [], []
    whole = defend(members, images[:20], labels[:20], attacks=SOME, outsider=outsider, told=heard.append)
    assert len(heard) == 8
    rest = defend(
        members, images[:20], labels[:20], attacks=SOME, outsider=outsider, known=heard[:5], told=again.append
    )
    assert again == heard[5:]
    assert rest == whole


def test_members_are_found_in_whatever_is_handed_over():
    one, two = linear(seed=0)[0], linear(seed=1)[0]
    assert members_of(Ensemble([one, two])) == members_of([one, two]) == members_of((one, two)) == [one, two]
    assert members_of(one) == [one]  # a network of layers is one network
    for bad in ([], ["a"]):
        with pytest.raises(InputError, match="members"):
            members_of(bad)


def test_the_mean_of_probabilities_decides_and_not_that_of_outputs():
    class Says(nn.Module):
        def __init__(self, *outputs):
            super().__init__()
            self.register_buffer("outputs", torch.tensor(outputs))

        def forward(self, images):
            return self.outputs.expand(len(images), -1)

    images = torch.rand(3, 1, 2, 2)
    loud, others = Says(90.0, 0.0), [Says(0.0, 3.0), Says(0.0, 3.0)]
    assert answered([loud, *others], images).tolist() == [1, 1, 1]
    assert answered([loud, *others], images, average="outputs").tolist() == [0, 0, 0]
    for average, accuracy in (("probabilities", 0.0), ("outputs", 1.0)):
        together = Ensemble([loud, *others], average)
        found = defend(together, images, torch.zeros(3, dtype=torch.int64), attacks=["fgsm"], whole=True)
        assert found.ensemble == found["fgsm"].whole.clean == accuracy
    with pytest.raises(InputError, match="classes"):
        answered([loud, Says(1.0, 2.0, 3.0)], images)


def test_unknown_attacks_are_said_before_anything_is_done():
    network, images, labels = linear()
    with pytest.raises(UnknownNameError, match="pgd"):
        defend(network, images, labels, attacks=["fgsm", "pdg"])
