from __future__ import annotations

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from foresee.testing.photographs import Photograph


def network():
    made = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    made.deep = {"list": [1, [2]], "tensor": (torch.zeros(2),), "set": {1}}
    made.array, made.object = np.zeros(2), SimpleNamespace(inside=SimpleNamespace(seen=[]))
    made.generators = [random.Random(0), np.random.default_rng(0), torch.Generator(), np.random.RandomState(0)]
    made.hidden = [nn.Linear(1, 1)]
    made.register_buffer("sparse", torch.eye(2).to_sparse())
    made.register_buffer("nan", torch.tensor(math.nan))
    calls = 0

    def count():
        nonlocal calls
        calls += 1

    made.count = count
    return made


CHANGES = {
    "weight": lambda net: net[0].weight.data.add_(1),
    "sign of zero": lambda net: net[1].running_mean.mul_(-1),
    "buffer": lambda net: net[1].num_batches_tracked.add_(1),
    "sparse": lambda net: net.sparse.mul_(2),
    "mode": lambda net: net[1].eval(),
    "frozen": lambda net: net[0].weight.requires_grad_(False),
    "gradient": lambda net: setattr(net[0].weight, "grad", torch.ones(2, 2)),
    "same numbers elsewhere": lambda net: setattr(net[0], "weight", nn.Parameter(net[0].weight.detach().clone())),
    "hook": lambda net: net[0].register_forward_hook(print),
    "hook of a tensor": lambda net: net[0].weight.register_hook(print),
    "hook of all": lambda net: nn.modules.module.register_module_forward_hook(print).id,
    "list": lambda net: net.deep["list"][1].append(3),
    "tensor in a tuple": lambda net: net.deep["tensor"][0].add_(1),
    "set": lambda net: net.deep["set"].add(2),
    "array": lambda net: net.array.__iadd__(1),
    "object": lambda net: net.object.inside.seen.append(1),
    "python generator": lambda net: net.generators[0].random(),
    "numpy generator": lambda net: net.generators[1].random(),
    "torch generator": lambda net: torch.rand(1, generator=net.generators[2]),
    "old numpy generator": lambda net: net.generators[3].rand(),
    "hidden layer": lambda net: net.hidden[0].weight.data.add_(1),
    "closure": lambda net: net.count(),
    "attribute": lambda net: setattr(net, "new", 1),
    "class": lambda net: setattr(net[0], "__class__", type("Other", (nn.Linear,), {})),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(change):
    made = network()
    before = Photograph(made)
    assert before.differences(Photograph(made)) == []
    try:
        CHANGES[change](made)
        assert before.differences(Photograph(made))
    finally:
        nn.modules.module._global_forward_hooks.clear()
