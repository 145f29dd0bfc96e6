from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import UnknownNameError
from foresee.probes.looks import LOOKS, Watcher, first_tensor
from foresee.probes.probe import Probe


def test_a_new_look_is_one_class():
    class Shapes(Watcher[list]):
        """Shapes of the inputs and, by replacing them, of the outputs of linear layers; and gradients by them."""

        name = "test_shapes"
        root = "outputs"

        def __init__(self):
            self.seen, self.made = [], []

        def selects(self, call):
            return isinstance(call.module, nn.Linear)

        def before(self, call, inputs):
            self.seen.append((call.name, tuple(inputs.shape)))

        def after(self, call, output):
            self.made.append(output)
            return output.clone()  # the in-place activation gets a copy

        def targets(self, run):
            return self.made

        def result(self, run, gradients):
            return [(*seen, gradient) for seen, gradient in zip(self.seen, gradients, strict=True)]

    try:
        network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))
        x = torch.randn(5, 3)
        first, second = Probe(network, x).batch.see("test_shapes")
    finally:
        del LOOKS["test_shapes"]
    assert first[:2] == ("0", (5, 3))
    assert second[:2] == ("2", (5, 4))
    assert torch.equal(second[2], torch.ones(5, 2))
    assert torch.allclose(first[2], (network[0](x) > 0) * network[2].weight.sum(0))


def test_unknown_looks_are_named(small, batch):
    with pytest.raises(UnknownNameError, match="features"):
        Probe(small(), batch()).batch.see("feature")


def test_first_tensor():
    tensor = torch.zeros(1)
    assert first_tensor((None, [{"a": 1, "b": tensor}])) is tensor
    assert first_tensor(("a", None)) is None
