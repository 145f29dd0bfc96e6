from __future__ import annotations

import pytest
from torch import nn

from foresee.errors import UnsupportedError
from foresee.probes.last import last_layer
from foresee.seeds import stream
from foresee.spaces.nasrec import NASRecSmall
from foresee.task import Task

SPACE, TASK = NASRecSmall(blocks=2, dense_widths=[16, 32], sparse_widths=[16]), Task((3,), 1, (5, 7))


def test_of_a_plain_network_it_is_the_last_with_parameters():
    network = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1), nn.ReLU())
    assert {name: one is getattr(network[1], name[2:]) for name, one in last_layer(network).items()} == {
        "1.weight": True,
        "1.bias": True,
    }


def test_of_a_click_network_it_is_the_head_also_in_pieces():
    architecture = SPACE.sample(stream(0))
    assert list(last_layer(SPACE.build(architecture, TASK))) == ["head.linear.weight", "head.linear.bias"]
    inherited = SPACE.one_shot(TASK).inherit(architecture)
    names = list(last_layer(inherited))
    assert names[0] == "head.bias"
    assert all(name.startswith("head.pieces.") for name in names[1:])


def test_nothing_to_find():
    with pytest.raises(UnsupportedError, match="no last layer"):
        last_layer(nn.ReLU())
