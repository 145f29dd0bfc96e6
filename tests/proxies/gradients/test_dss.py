from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.proxies.gradients.dss import diversity, linear_layers
from foresee.scoring import score

RANDOM = examples(8)


class Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.proj((q @ k.mT).softmax(-1) @ v)


class Transformer(nn.Module):
    """Patches, one block and a head; with `ratio` 1 the first layer of its MLP is square."""

    def __init__(self, width: int = 6, ratio: int = 2) -> None:
        super().__init__()
        self.patches, self.attn, self.norm = (
            nn.Conv2d(2, width, 3, stride=3),
            Attention(width),
            nn.LayerNorm(width),
        )
        self.mlp = nn.Sequential(nn.Linear(width, ratio * width), nn.GELU(), nn.Linear(ratio * width, width))
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).mT
        x = x + self.attn(self.norm(x))
        return self.head((x + self.mlp(x)).mean(1))


def slow_dss(network):
    network = copy.deepcopy(network).double()
    for parameter in network.parameters():
        parameter.data = parameter.data.abs()
    network(torch.ones(1, 2, 6, 6, dtype=torch.float64)).sum().backward()
    total = 0.0
    for layer in (network.attn.qkv, network.attn.proj):
        norms = [np.linalg.norm(m.detach().numpy(), "nuc") for m in (layer.weight, layer.weight.grad)]
        total += norms[0] * norms[1]
    for layer in (network.mlp[0], network.mlp[2], network.head):
        total += (layer.weight * layer.weight.grad).abs().sum().item()
    return total


@pytest.mark.checks("dss")
@RANDOM
@given(seed=st.integers(0, 10**6), ratio=st.integers(1, 3))
def test_the_formula(seed, ratio):
    torch.manual_seed(seed)
    network = Transformer(ratio=ratio)
    assert score(network, torch.zeros(1, 2, 6, 6), "dss").value == pytest.approx(slow_dss(network), rel=1e-9)


def test_the_reference_goes_by_shape():
    assert linear_layers(Transformer(ratio=1)) == {
        "attn.qkv.weight": True,
        "attn.proj.weight": True,
        "mlp.0.weight": False,
        "mlp.2.weight": False,
        "head.weight": False,
    }
    assert [name for name, own in linear_layers(Transformer(ratio=1), by_shape=True).items() if own] == [
        "attn.qkv.weight",
        "attn.proj.weight",
        "mlp.0.weight",
        "mlp.2.weight",
    ]


def test_an_mlp_inside_an_attention_block_is_none():
    class AttentionBlock(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.mlp = nn.Linear(2, 6), nn.Sequential(nn.Linear(2, 2))

    found = linear_layers(nn.ModuleDict({"block": AttentionBlock(), "head": nn.Linear(2, 2)}))
    assert found == {"block.qkv.weight": True, "block.mlp.0.weight": False, "head.weight": False}


def test_torch_attention_counts():
    network = nn.Sequential(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), nn.Flatten(), nn.Linear(32, 2))
    layers = linear_layers(network)
    assert [name for name, own in layers.items() if own] == [
        "0.self_attn.in_proj_weight",
        "0.self_attn.out_proj.weight",
    ]
    assert score(network, torch.zeros(1, 4, 8), "dss").ok


def test_only_transformers(small, batch):
    found = score(small(), batch()[0], "dss")
    assert found.status == "unsupported"
    assert "transformers" in found.reason


def test_the_data_does_not_matter_and_the_network_is_as_found():
    network = Transformer()
    before = copy.deepcopy(network.state_dict())
    assert score(network, torch.randn(1, 2, 6, 6), "dss").value == score(network, torch.randn(3, 2, 6, 6), "dss").value
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_diversity_broadcasts():
    w, g = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5)
    expected = np.linalg.norm(w[1, 2].numpy(), "nuc") * np.linalg.norm(g[1, 2].numpy(), "nuc")
    assert float(diversity(w, g)[1, 2]) == pytest.approx(expected, rel=1e-5)
