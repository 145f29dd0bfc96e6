from __future__ import annotations

import functools
import random
from collections import Counter, OrderedDict, defaultdict, deque
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from foresee.probes.belongings import Belongings, modules_of
from foresee.testing.photographs import Photograph


def network():
    made = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    made.deep = {"list": [1, [2]], "tensor": (torch.zeros(2),), "set": {1}, "module": [nn.BatchNorm1d(2)]}
    made.queue, made.counter = deque([1, 2], maxlen=3), Counter(a=1)
    made.lists, made.ordered = defaultdict(list, a=[1]), OrderedDict(a=1, b=2)
    made.object = SimpleNamespace(inside=SimpleNamespace(seen=[], tensor=torch.zeros(1)))
    made.array, made.generators = np.zeros(2), [random.Random(0), np.random.default_rng(0), np.random.RandomState(0)]
    made.torchs = (torch.Generator().manual_seed(0),)
    made.register_buffer("sparse", torch.eye(2).to_sparse())
    made.register_buffer("rows", torch.eye(2).to_sparse_csr())
    calls = 0

    def count(log, step=1):
        nonlocal calls
        calls += step
        log.append(calls)

    made.count = functools.partial(count, [])
    return made


CHANGES = {
    "weight": lambda net: net[0].weight.data.add_(1),
    "data of another shape": lambda net: setattr(net[1].running_mean, "data", torch.zeros(3, dtype=torch.float64)),
    "size": lambda net: net[1].running_var.resize_(5),
    "history of a buffer": lambda net: net[1].running_mean.add_(net[0].weight.sum()),
    "sparse": lambda net: net.sparse.mul_(2),
    "sparse rows": lambda net: net.rows.mul_(2),
    "mode": lambda net: net[1].eval(),
    "frozen": lambda net: net[0].bias.requires_grad_(False),
    "gradient": lambda net: setattr(net[0].weight, "grad", torch.ones(2, 2)),
    "hook of a tensor": lambda net: net[0].weight.register_hook(print),
    "hook": lambda net: net[0].register_forward_hook(print),
    "nested list": lambda net: net.deep["list"][1].append(3),
    "nested set": lambda net: net.deep["set"].add(2),
    "tensor in a tuple": lambda net: net.deep["tensor"][0].add_(1),
    "module in a list": lambda net: net.deep["module"][0](torch.randn(3, 2)),
    "mode of a module in a list": lambda net: net.deep["module"][0].eval(),
    "deque": lambda net: net.queue.extend([3, 4]),
    "counter": lambda net: net.counter.update("ab"),
    "default": lambda net: net.lists["new"].append(1),
    "order": lambda net: net.ordered.move_to_end("a"),
    "object": lambda net: net.object.inside.seen.append(1),
    "tensor of an object": lambda net: net.object.inside.tensor.add_(1),
    "array": lambda net: net.array.__iadd__(1),
    "python generator": lambda net: net.generators[0].random(),
    "numpy generator": lambda net: net.generators[1].random(),
    "old numpy generator": lambda net: net.generators[2].rand(),
    "torch generator": lambda net: torch.rand(1, generator=net.torchs[0]),
    "variable of a function": lambda net: net.count(),
    "class": lambda net: setattr(net[0], "__class__", type("Other", (nn.Linear,), {})),
    "attribute": lambda net: setattr(net, "new", 1),
    "attribute gone": lambda net: delattr(net, "array"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_put_back(change):
    made = network()
    before, belongings = Photograph(made), Belongings(made, values=True)
    CHANGES[change](made)
    assert before.differences(Photograph(made))
    assert belongings.restore() == []
    assert before.differences(Photograph(made)) == []
    assert belongings.restore() == []


def test_all_changes_at_once_are_put_back():
    made = network()
    before, belongings = Photograph(made), Belongings(made, values=True)
    for change in CHANGES.values():
        change(made)
    assert belongings.restore() == []
    assert before.differences(Photograph(made)) == []


def test_without_values_only_what_the_network_owns_is_not_copied():
    made = network()
    belongings = Belongings(made, values=False)
    for tensor in (made[0].weight.data, made.deep["tensor"][0], made.deep["module"][0].running_mean):
        tensor.fill_(5)
    assert belongings.restore() == []
    assert bool((made[0].weight == 5).all())
    assert made.deep["tensor"][0].tolist() == [0, 0]
    assert made.deep["module"][0].running_mean.tolist() == [0, 0]


def test_what_is_near_is_looked_into_though_it_is_also_far_away():
    made = nn.Identity()
    near = SimpleNamespace(seen=[])
    far = SimpleNamespace(next=SimpleNamespace(next=near))
    made.far, made.near = far, near  # found at the end of a long way first
    belongings = Belongings(made, values=True)
    near.seen.append(1)
    assert belongings.restore() == []
    assert near.seen == []


class _Refusing(random.Random):
    """A generator whose state cannot be set."""

    ready = False

    def setstate(self, state):
        if self.ready:
            raise RuntimeError("no\nway back")
        super().setstate(state)


def test_restoring_never_raises_half_way():
    made = network()
    made.first, made.last = _Refusing(0), _Refusing(1)
    before, belongings = Photograph(made), Belongings(made, values=True)
    _Refusing.ready = True
    try:
        for change in CHANGES.values():
            change(made)
        made.first.random(), made.last.random()
        assert belongings.restore() == ["a tuple (no)"] * 2
    finally:
        _Refusing.ready = False
    changed = before.differences(Photograph(made))
    assert {place.split("'")[0].split(".")[1] for place in changed} == {"first", "last"}


def test_all_modules_each_once():
    shared = nn.ReLU()
    made = nn.Sequential(nn.Sequential(shared, nn.Linear(1, 1)), shared, nn.BatchNorm1d(1))
    made.register_module("none", None)
    made[0].add_module("back", made)  # around in a circle
    assert set(modules_of(made)) == set(made.modules())
    assert len(modules_of(made)) == len(set(modules_of(made)))
