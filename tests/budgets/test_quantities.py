"""What a network costs: by formula, on the meta device, and by the clock it is handed."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.budgets import Costs
from foresee.errors import UnknownNameError
from foresee.spaces import own
from foresee.task import Task

TASK = Task((3, 8, 8), 4)


def net(pick):
    width = pick("width", [4, 8, 16])
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.Flatten(), nn.Linear(width * 64, 4)
    )


def costs(width=8, **more):
    space = own(net)
    return Costs(space, space.parse(f'{{"width":{width}}}'), TASK, **more)


def test_layers_are_convolutions_and_linear_layers():
    assert costs()["layers"] == 3


def test_memory_is_what_autograd_really_stores():
    """Against the real thing: the storages autograd saves in one training forward on the CPU, parameters left out."""
    batch = 5
    made = costs(batch=batch)
    network = made.build()
    own_pointers = {p.untyped_storage().data_ptr() for p in network.parameters()}
    saved = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own_pointers:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        network(torch.randn(batch, *TASK.inputs))
    assert made["memory"] == sum(saved.values())


def test_flops_are_two_per_mac_and_unknown_names_are_named():
    made = costs()
    assert made["flops"] == 2 * made["macs"]
    with pytest.raises(UnknownNameError, match="latency"):
        made["latecny"]


def test_latency_is_what_the_clock_says():
    asked = []

    def clock(*what):
        asked.append(what)
        return 0.25

    made = costs(clock=clock)
    assert made["latency"] == made["latency"] == 0.25
    assert asked == [(made.space, made.architecture, TASK)]
