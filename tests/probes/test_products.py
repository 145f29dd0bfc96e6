from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.probes.products import products
from foresee.probes.recurrent import step_by_step


def found(network, x, outputs=None):
    seen = products(network(x) if outputs is None else outputs, len(x), list(network.parameters()))
    return seen.products


class Written(nn.Module):
    """A weight, and a function that uses it."""

    def __init__(self, function, *shape):
        super().__init__()
        self.weight, self._function = nn.Parameter(torch.randn(*shape)), function

    def forward(self, x):
        return self._function(x, self.weight)


WAYS = {
    "F.linear": (lambda x, w: F.linear(x, w.T), (8, 3)),
    "matmul": (lambda x, w: x @ w, (8, 3)),
    "matmul from the left": (lambda x, w: (w.T @ x.mT).mT, (8, 3)),
    "einsum": (lambda x, w: torch.einsum("bti,io->bto", x, w), (8, 3)),
    "addmm of another library's layer": (
        lambda x, w: torch.addmm(torch.ones(3), x.reshape(-1, 8), w).view(4, 5, 3),
        (8, 3),
    ),
    "bmm with the weight spread": (lambda x, w: torch.bmm(x, w.expand(4, 8, 3)), (8, 3)),
    "a part of a larger weight": (lambda x, w: x @ w[:8, 2:5], (9, 7)),
    "masked": (lambda x, w: x @ (w * torch.ones(8, 3).tril()), (8, 3)),
    "scaled by its own norm": (lambda x, w: x @ (w / w.norm()), (8, 3)),
    "time first": (lambda x, w: (x.transpose(0, 1) @ w).transpose(0, 1), (8, 3)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_linear_layer_is_seen_however_it_is_written(way):
    x = torch.randn(4, 5, 8)
    (one,) = found(Written(*_spread(WAYS[way])), x)
    assert one.directions == 8
    assert torch.equal(one.reads, x.mT), "samples, channels, positions of the input"


def _spread(way):
    function, shape = way
    return function, *shape


def test_the_gradient_of_a_use_is_that_of_the_layers_output():
    x, weight = torch.randn(4, 5, 8), nn.Parameter(torch.randn(8, 3))
    made = (x.transpose(0, 1) @ weight).transpose(0, 1)
    (one,) = products(made, 4, [weight]).products
    heard = []
    one.uses[0].node.register_prehook(lambda gradients: heard.append(one.uses[0].maps(gradients[0])) or None)
    along = torch.randn_like(made)
    made.backward(along)
    assert torch.equal(heard[0], along.mT)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
def test_convolutions(groups, stride):
    x = torch.randn(2, 4, 9, 9)
    (plain,) = found(Written(lambda x, w: F.conv2d(x, w, stride=stride, groups=groups), 6, 4 // groups, 3, 3), x)
    assert plain.directions == 4 / groups * 3
    (turned,) = found(nn.ConvTranspose2d(4, 6, 4, stride=stride, groups=groups), x)
    assert turned.directions == pytest.approx(4 / groups * 4 / stride)
    assert torch.equal(turned.reads, x.flatten(2))


def test_heads_with_a_weight_each_are_groups_of_channels():
    x = torch.randn(4, 5, 2, 3)
    (one,) = found(Written(lambda x, w: torch.einsum("bthi,hio->btho", x, w), 2, 3, 7), x)
    assert one.directions == 3
    assert torch.equal(one.reads, x.flatten(2).mT)


def test_packed_projections_of_attention():
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    x, y = torch.randn(4, 5, 8), torch.randn(4, 6, 8)
    itself = found(layer, x, layer(x, x, x)[0])
    assert [tuple(one.weight.shape) for one in itself] == [(24, 8), (8, 8)]
    across = found(layer, x, layer(x, y, y)[0])
    assert [one.reads.shape[-1] for one in across] == [5, 6, 5], "queries, keys with values, the projection out"


def test_parts_of_one_weight_are_layers_of_their_own():
    x = torch.randn(4, 5, 8)
    several = found(Written(lambda x, w: sum(x @ part for part in w.chunk(3, dim=1)), 8, 6), x)
    assert len(several) == 3
    assert all(len(one.uses) == 1 for one in several)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("first", [True, False])
def test_recurrent_layers_show_every_layer_and_their_hidden_states(kind, first):
    torch.manual_seed(0)
    layer, x = kind(8, 6, 2, batch_first=first), torch.randn(4, 5, 8)
    with step_by_step(layer):
        outputs, _ = layer(x if first else x.transpose(0, 1))
    states = outputs if first else outputs.transpose(0, 1)
    named = {id(weight): name for name, weight in layer.named_parameters()}
    seen = {named[id(one.weight)]: one for one in products(outputs, 4, list(layer.parameters())).products}
    assert sorted(seen) == ["weight_hh_l0", "weight_hh_l1", "weight_ih_l0", "weight_ih_l1"]
    assert torch.equal(seen["weight_ih_l0"].reads, x.mT)
    before = torch.cat([torch.zeros(4, 1, 6), states[:, :-1]], dim=1)
    assert torch.allclose(seen["weight_hh_l1"].reads, before.mT), "each step reads the state before it"


def test_what_is_no_layer_is_not_taken_for_one():
    class Attends(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(10, 8), nn.Parameter(torch.randn(5, 8))

        def forward(self, x):
            rows = self.words(x) + self.places
            return rows @ rows.mT

    network, x = Attends(), torch.randint(0, 10, (4, 5))
    seen = products(network(x), 4, list(network.parameters()))
    assert seen.products == []
    assert seen.tables == {id(network.words.weight)}
    assert set(seen.reached) == {id(network.words.weight), id(network.places)}


def test_only_weights_among_those_asked_for():
    network, x = nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 2)), torch.randn(4, 8)
    (one,) = products(network(x), 4, [network[1].weight]).products
    assert one.weight is network[1].weight
    assert math.prod(one.reads.shape) == 4 * 6


def test_inputs_that_want_gradients_are_data():
    x = torch.randn(4, 8, 8, requires_grad=True)
    network = Written(lambda x, w: w @ x, 8, 8)
    (one,) = found(network, x)
    assert one.weight is network.weight
