from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.backends import mkldnn

from foresee.probes.recurrent import has_recurrent, step_by_step


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_step_by_step_computes_the_same(kind):
    torch.manual_seed(0)
    network, x = nn.Sequential(kind(8, 6, 2, bidirectional=True)), torch.randn(5, 4, 8)
    fused = network(x)[0]
    with step_by_step(network):
        plain = network(x)[0]
    assert torch.allclose(fused, plain, atol=1e-6)
    assert has_recurrent(network)
    assert not has_recurrent(nn.LSTMCell(2, 2))


def test_everything_is_as_before_afterwards_also_after_an_error():
    layer = nn.LSTM(8, 6)
    before, enabled = dict(vars(layer)), mkldnn.is_available() and torch._C._get_mkldnn_enabled()
    with pytest.raises(RuntimeError), step_by_step(layer):
        layer(torch.randn(5, 4, 7))
    assert vars(layer).keys() == before.keys()
    assert torch._C._get_mkldnn_enabled() == enabled


def test_a_forward_of_its_own_is_kept():
    layer = nn.GRU(8, 6)
    own = layer.forward = lambda x: nn.GRU.forward(layer, x * 2)
    with step_by_step(layer):
        layer(torch.randn(5, 4, 8))
    assert layer.forward is own
