from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.probes.patterns import RELU_FUNCTIONS, RELU_LIKE
from foresee.probes.probe import Probe

PAIRS = {
    nn.ReLU: F.relu,
    nn.ReLU6: F.relu6,
    nn.LeakyReLU: F.leaky_relu,
    nn.ELU: F.elu,
    nn.CELU: F.celu,
    nn.SELU: F.selu,
    nn.GELU: F.gelu,
    nn.SiLU: F.silu,
    nn.Mish: F.mish,
    nn.Hardswish: F.hardswish,
    nn.RReLU: F.rrelu,
}


class Calls(nn.Module):
    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, x):
        return self._function(x)


@pytest.mark.parametrize("kind", PAIRS, ids=lambda kind: kind.__name__)
def test_a_function_is_seen_as_its_module_is(kind):
    x = torch.randn(3, 4, 5)
    (module,) = Probe(kind(), x).batch.patterns
    (function,) = Probe(Calls(PAIRS[kind]), x).batch.patterns
    assert torch.equal(module.positive, function.positive)
    assert isinstance(module.module, kind)
    assert function.module is None
    assert function.name == f"{PAIRS[kind].__name__}()"


def test_every_module_has_its_function():
    assert {*PAIRS, nn.PReLU} == set(RELU_LIKE)
    assert F.prelu in RELU_FUNCTIONS


@pytest.mark.parametrize("way", [torch.relu, torch.Tensor.relu, lambda x: F.relu(input=x), lambda x: F.relu_(x * 1)])
def test_by_whatever_name(way):
    x = torch.randn(3, 4)
    (seen,) = Probe(Calls(way), x).batch.patterns
    assert torch.equal(seen.positive, x > 0)


def test_one_entry_per_call_in_their_order():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = nn.ReLU(inplace=True)

        def forward(self, x):
            return F.gelu(self.module(F.relu(x) - 0.5) - 0.1)

    x = torch.randn(3, 4)
    seen = Probe(Both(), x).batch.patterns
    assert [one.name for one in seen] == ["relu()", "module", "gelu()"]
    assert torch.equal(seen[1].positive, x > 0.5)


def test_the_public_codes_rule_hears_no_functions():
    x = torch.randn(3, 4)
    assert Probe(Calls(F.relu), x).batch.see("patterns_by_name") == []


def test_what_is_not_a_number_has_no_pattern():
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    network[0].weight.data[0, 0] = torch.nan
    with pytest.raises(FloatingPointError, match="what goes into an activation is NaN"):
        _ = Probe(network, torch.randn(2, 3)).batch.patterns
