from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.budgets import Clock, Costs, LatencyTable
from foresee.errors import InputError, UnknownNameError
from foresee.spaces import own
from foresee.spaces.base import get
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


def test_latency_is_measured_once_per_identity():
    notes = []
    clock = Clock(note=lambda identity, seconds: notes.append(identity))
    space = get("nasbench201", channels=2, cells=1)
    first = space.named["ResNet"]
    made = [Costs(space, first, TASK, clock=clock)["latency"] for _ in range(2)]
    assert made[0] == made[1] > 0
    assert len(notes) == 1


def test_a_table_sums_its_blocks_and_names_what_it_lacks(tmp_path):
    space = own(net)
    known = [space.parse('{"width":4}'), space.parse('{"width":8}')]
    table = LatencyTable.measure(space, TASK, known)
    table.save(tmp_path / "t.json")
    back = LatencyTable.load(tmp_path / "t.json")
    assert back == table
    small, large = (costs(width, clock=Clock(table=back))["latency"] for width in (4, 8))
    calls = [key for key in table.blocks if "x8x8" in key and "Conv2d(3, 4" in key]
    assert len(calls) == 1
    assert small > 0
    assert large > 0
    with pytest.raises(InputError, match="was not measured"):
        costs(16, clock=Clock(table=back))["latency"]


def test_a_bad_table_is_refused(tmp_path):
    path = tmp_path / "t.json"
    for text in ("", "{}", '{"kind": "other"}', '{"kind": "foresee latency table", "blocks": {"a": 1}}'):
        path.write_text(text)
        with pytest.raises(InputError, match="not a latency table"):
            LatencyTable.load(path)
    with pytest.raises(InputError, match="No such file"):
        LatencyTable.load(tmp_path / "absent.json")
