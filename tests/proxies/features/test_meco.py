from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.scoring import score

RANDOM = examples(15)


def slow_meco(network, sample):
    total, handles = 0.0, []

    def add(module, args, output):
        nonlocal total
        rows = output[0].detach().numpy().reshape(output.shape[1], -1)
        with np.errstate(all="ignore"):
            correlation = np.nan_to_num(np.atleast_2d(np.corrcoef(rows))) if rows.shape[1] > 1 else np.zeros((1, 1))
        total += np.linalg.eigvalsh(correlation)[0]

    handles += [m.register_forward_hook(add) for m in network.modules() if not list(m.children())]
    network.train()(sample)
    for handle in handles:
        handle.remove()
    return total


@pytest.mark.checks("meco")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), channels=st.integers(1, 4))
def test_the_formula(small, batch, seed, norm, channels):
    network, (x, _) = small(seed, norm=norm, channels=channels), batch(3, seed)
    assert score(network, x, "meco").value == pytest.approx(slow_meco(network, x[:1]), abs=1e-9)


def test_networks_without_feature_maps_are_unsupported():
    found = score(nn.Linear(4, 8), torch.randn(1, 4), "meco")
    assert found.status == "unsupported"
    assert "no feature maps" in found.reason


def test_what_is_not_finite_is_a_status():
    network = nn.Conv2d(1, 2, 1)
    nn.init.constant_(network.weight, float("inf"))
    assert score(network, torch.randn(1, 1, 3, 3), "meco").status == "nan"
