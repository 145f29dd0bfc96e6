"""The vision transformer against a slow version written out, and what it shows of itself."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from foresee.seeds import generator
from foresee.spaces.autoformer import Architecture
from foresee.spaces.autoformer.network import DropPath, Form, Network, relative_index
from foresee.task import Task

TASK = Task((3, 8, 12), 5)
FORM = Form(patch=4, head_dim=4, reach=1)
ONE = Architecture(10, (2.0, 3.5), (1, 3))


def made(form=FORM):
    torch.manual_seed(0)
    network = Network(ONE, TASK, form).double()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return network.eval()


def images():
    return torch.randn(2, *TASK.inputs, generator=generator(0, "inputs"), dtype=torch.float64)


def test_relative_index_by_hand():
    rows, columns, reach = 2, 3, 1
    index = relative_index(rows, columns, reach)
    assert index.shape == (2, 7, 7)
    assert not index[:, 0].any()
    assert not index[:, :, 0].any()
    for query in range(6):
        for key in range(6):
            down = min(max(key // columns - query // columns, -reach), reach)
            right = min(max(key % columns - query % columns, -reach), reach)
            assert index[:, query + 1, key + 1].tolist() == [down + reach + 1, right + reach + 1]


def test_published_tables_have_thirty_rows_of_which_distances_use_27():
    index = relative_index(14, 14, 14)
    assert index.max() == 28
    assert len(index.unique()) == 28
    assert Network(ONE, TASK, Form(patch=4)).layers[0].attention.keys.vertical.shape == (30, 64)


def slow(network, x):
    """Token by token and head by head."""
    state = {name: tensor.detach() for name, tensor in network.named_parameters()}

    def linear(name, vector):
        return state[f"{name}.weight"] @ vector + state[f"{name}.bias"]

    def norm(name, vector):
        centred = vector - vector.mean()
        scaled = centred / torch.sqrt(centred.square().mean() + 1e-5)
        return scaled * state[f"{name}.weight"] + state[f"{name}.bias"]

    patches = [x[:, r : r + 4, c : c + 4] for r in (0, 4) for c in (0, 4, 8)]
    weight = state["patches.weight"].flatten(1)
    tokens = [state["cls"][0, 0], *(weight @ patch.flatten() + state["patches.bias"] for patch in patches)]
    tokens = [token + state["positions"][0, place] for place, token in enumerate(tokens)]
    index = relative_index(2, 3, 1)
    for layer, heads in enumerate(ONE.heads):
        at = f"layers.{layer}"
        qkv = [linear(f"{at}.attention.qkv", norm(f"{at}.norm1", token)) for token in tokens]
        new = []
        for i, mine in enumerate(qkv):
            joined = []
            for head in range(heads):
                part = slice(12 * head, 12 * head + 12)
                query = mine[part][0::3]

                def vector(what, j, i=i, at=at):
                    v, h = index[:, i, j]
                    table = f"{at}.attention.{what}"
                    return state[f"{table}.vertical"][v] + state[f"{table}.horizontal"][h]

                scores = [query @ (other[part][1::3] + vector("keys", j)) / math.sqrt(4) for j, other in enumerate(qkv)]
                chances = torch.softmax(torch.stack(scores), 0)
                joined.append(
                    sum(chances[j] * (other[part][2::3] + vector("values", j)) for j, other in enumerate(qkv))
                )
            new.append(tokens[i] + linear(f"{at}.attention.projection", torch.cat(joined)))
        tokens = [token + linear(f"{at}.fc2", F.gelu(linear(f"{at}.fc1", norm(f"{at}.norm2", token)))) for token in new]
    mean = torch.stack([norm("norm", token) for token in tokens[1:]]).mean(0)
    return linear("head", mean)


def test_network_against_a_slow_version():
    network, x = made(), images()
    torch.testing.assert_close(network(x), torch.stack([slow(network, image) for image in x]))


def test_stages_and_last_map():
    network, x = made(), images()
    stages = network.stages(x)
    assert [stage.shape for stage in stages] == [(2, 7, 10)] * 4
    layer = network.layers[0]
    middle = network.tokens(x) + layer.attention(layer.norm1(network.tokens(x)), network.index)
    torch.testing.assert_close(stages[0], middle)
    torch.testing.assert_close(stages[1], layer(network.tokens(x), network.index))
    last = network.pre_gap(x)
    assert last.shape == (2, 10, 2, 3)
    torch.testing.assert_close(network.head(last.mean((2, 3))), network(x))
    torch.testing.assert_close(last[:, :, 1, 2], network.norm(stages[-1])[:, -1])


def test_drop_path_rises_with_depth_and_only_in_training():
    network = made(Form(patch=4, head_dim=4, reach=1, drop_path=0.4))
    assert network.layers[0].drop is None
    assert network.layers[1].drop.probability == pytest.approx(0.4)
    assert torch.equal(network(images()), network(images()))
    torch.manual_seed(0)
    assert not torch.equal(network.train()(images()), network(images()))


def test_drop_path_keeps_the_mean():
    drop, x = DropPath(0.25), torch.ones(4000, 2, 3)
    torch.manual_seed(0)
    out = drop(x)
    assert out.unique().tolist() == [0.0, pytest.approx(1 / 0.75)]
    assert bool((out == out[:, :1, :1]).all())
    assert float(out.mean()) == pytest.approx(1.0, abs=0.05)
    assert torch.equal(drop.eval()(x), x)


def test_published_start():
    """Truncated normal weights of 0.02, zero biases."""
    torch.manual_seed(0)
    network = Network(Architecture(64, (4.0,), (2,)), TASK, Form(patch=4))
    layer = network.layers[0]
    for weight in (layer.fc1.weight, layer.attention.keys.vertical, network.positions):
        assert float(weight.detach().std()) == pytest.approx(0.02, rel=0.2)
    assert not layer.fc1.bias.detach().any()
