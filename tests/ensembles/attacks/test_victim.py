"""What an attack may ask for."""

from __future__ import annotations

import torch
from tests.ensembles.attacks.networks import Rounded, linear
from torch import nn

from foresee.ensembles.attacks.victim import Ledger, Victim


def victim(network=None, seed=0):
    made, images, labels = linear()
    return Victim(network or made, images, labels, torch.arange(12), seed, Ledger.of(12))


def test_gradients_are_those_of_autograd_and_are_counted():
    one = victim()
    slope, values, logits = one.gradient(one.images, lambda z: z[:, 0])
    torch.testing.assert_close(slope, one.network[1].weight[0].view(1, 1, 4, 4).expand(12, 1, 4, 4))
    torch.testing.assert_close(values, logits[:, 0])
    assert one.ledger.gradients.tolist() == one.ledger.queries.tolist() == [1] * 12
    assert not logits.requires_grad


def test_a_part_shares_the_ledger_and_keeps_its_random_numbers():
    one = victim()
    some = torch.tensor([2, 5])
    one.part(some).logits(one.images[some])
    assert one.ledger.queries.nonzero()[:, 0].tolist() == [2, 5]
    assert torch.equal(one.uniform((3,), "a")[some], one.part(some).uniform((3,), "a"))
    assert not torch.equal(one.uniform((3,), "a"), one.uniform((3,), "b"))
    assert not torch.equal(one.uniform((3,), "a"), victim(seed=1).uniform((3,), "a"))


def test_a_network_without_gradients_looks_flat():
    class Cut(nn.Module):
        def forward(self, images):
            return images.detach().flatten(1)[:, :4]

    for network in (Cut(), Rounded(linear()[0])):
        one = victim(network)
        assert float(one.gradient(one.images, lambda z: z.sum(1))[0].abs().max()) == 0


def test_what_is_no_number_in_a_gradient_is_zero():
    class Root(nn.Module):
        def forward(self, images):
            return (images.flatten(1)[:, :4] * 0).sqrt()

    one = victim(Root())
    assert bool(one.gradient(one.images, lambda z: z.sum(1))[0].isfinite().all())


def test_inside_is_the_ball_and_the_box():
    one = victim()
    far = one.inside(one.images + 5, 0.6)
    assert float(far.max()) <= 1
    torch.testing.assert_close(one.inside(one.images - 0.5, 0.1), one.images - 0.1)
