"""Networks that hand one map from part to part."""

from __future__ import annotations

import gc
import weakref

import torch
from torch import nn

from foresee.spaces import get
from foresee.spaces.staged import Staged, through
from foresee.task import Task


class Toy(Staged):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Conv2d(2, 2, 1) for _ in range(3))
        self.pool = nn.Flatten(1)
        self.classifier = nn.Linear(2 * 9, 4)

    def flow(self, x):
        return through(self.parts, x)


def test_stages_flow_into_one_another():
    network, x = Toy(), torch.randn(1, 2, 3, 3)
    first, second, third = network.stages(x)
    assert torch.equal(first, network.parts[0](x))
    assert torch.equal(second, network.parts[1](first))
    assert torch.equal(third, network.pre_gap(x))
    assert torch.equal(network(x), network.classifier(third.flatten(1)))


def test_a_forward_run_keeps_only_the_last_map():
    network, maps, alive = Toy(), [], []

    def look(module, inputs, output):
        gc.collect()
        maps.append(weakref.ref(output))
        alive.append(sum(one() is not None for one in maps))

    for part in network.parts:
        part.register_forward_hook(look)
    with torch.no_grad():
        network(torch.randn(1, 2, 3, 3))
    assert alive == [1, 2, 2]  # what a part reads, and what it gives


def test_networks_of_spaces_end_in_what_their_last_stage_gives():
    task, x = Task((3, 16, 16), 4), torch.randn(2, 3, 16, 16)
    for name in ("nasbench101", "nasbench201", "nats_size", "resnet", "transnas_micro", "darts"):
        space = get(name, **({"channels": 4} if "channels" in get(name).defaults() else {}))
        network = space.build(next(iter(space.named.values()), None) or next(space.enumerate()), task).eval()
        last = network.stages(x)[-1]
        last = network.last(last) if hasattr(network, "last") else last
        assert torch.equal(last, network.pre_gap(x)), name
