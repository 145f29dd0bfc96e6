from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import foresee as fs
from foresee.probes.coverage import Coverage, layered, matrices, weights_of
from foresee.probes.probe import Probe


class Hidden(torch.autograd.Function):
    """A product that no graph shows."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return gradient @ weight.T, x.flatten(0, -2).T @ gradient.flatten(0, -2)


class Half(nn.Module):
    """One layer that can be seen, and one of another width that cannot."""

    def __init__(self, hidden):
        super().__init__()
        self.first, self.secret = nn.Linear(8, 8), nn.Parameter(torch.randn(8, hidden))

    def forward(self, x):
        return Hidden.apply(F.relu(self.first(x)), self.secret)


def test_a_score_says_what_share_of_the_weights_it_saw():
    found = fs.score(Half(4), torch.randn(16, 8))
    assert found.ok
    assert found.coverage == pytest.approx(2 / 3)
    assert str(found).endswith("(67% of the weights were seen; not seen: secret)")


def test_below_half_it_is_no_score():
    found = fs.score(Half(24), torch.randn(16, 8))
    assert (found.status, found.value) == ("partial", None)
    assert found.reason == "25% of the weights were seen; not seen: secret"


def test_whole_networks_say_nothing():
    found = fs.scores(
        nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(16, 8), ["foresee", "meco"]
    )
    assert [one.coverage for one in found.values()] == [1.0, 1.0]
    assert all("coverage" not in one.parts for one in found.values())


@pytest.mark.parametrize("proxy", ["snip", "fisher", "meco", "foresee"])
def test_looks_of_every_kind_tell(proxy):
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.secret, self.last = nn.Linear(8, 8), nn.Parameter(torch.randn(8, 8)), nn.Linear(8, 2)

        def forward(self, x):
            return self.last(Hidden.apply(F.relu(self.first(x)), self.secret)).mean(1)

    found = fs.score(Mixed(), (torch.randn(16, 5, 8), torch.arange(16) % 2), proxy)
    assert found.coverage == pytest.approx(80 / 144), found


def test_proxies_that_share_a_look_all_tell():
    batch = torch.randn(16, 8), torch.arange(16) % 4
    together = fs.scores(Half(4), batch, ["snip", "grad_norm", "synflow"])
    assert {one.coverage for one in together.values()} == {2 / 3}
    repeated = fs.scores(Half(4), batch, ["snip", "foresee"], repeats=3)
    assert {one.coverage for one in repeated.values()} == {2 / 3}


def test_tables_that_are_looked_up_are_no_layers():
    network = nn.Sequential(nn.Embedding(1000, 8), nn.Flatten(), nn.Linear(24, 2))
    assert fs.score(network, torch.randint(0, 1000, (16, 3))).coverage == 1
    assert [tuple(one.shape) for one in layered(network)] == [(2, 24)]
    assert list(matrices(network)) == ["0.weight", "2.weight"]


def test_weights_of_layers_of_other_kinds():
    assert [tuple(w.shape) for w in weights_of(nn.MultiheadAttention(8, 2))] == [(24, 8)]
    assert len(weights_of(nn.LSTM(8, 6, 2))) == 4
    assert weights_of(nn.LayerNorm(8)) == weights_of(nn.Embedding(4, 2)) == []
    names = list(Probe(nn.TransformerEncoderLayer(8, 2, 16), torch.randn(2, 3, 8)).weights)
    assert names == ["self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight", "linear2.weight"]


def test_the_worst_first_and_not_all_of_them():
    network = nn.ParameterDict({f"w{n}": torch.zeros(n, 1) for n in range(1, 6)})
    text = str(Coverage.of(network, [], network.values()))
    assert text == "0% of the weights were seen; not seen: w5, w4, w3 and 2 more"
