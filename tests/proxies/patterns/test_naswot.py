from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.values import load
from tests.properties import examples
from torch import nn

from foresee.proxies.patterns.naswot import agreements
from foresee.scoring import score

RANDOM = examples(15)


def slow_naswot(network, x):
    seen = []
    kinds = (nn.ReLU, nn.GELU)
    handles = [
        m.register_forward_pre_hook(lambda module, args: seen.append(args[0].flatten(1).tolist()))
        for m in network.modules()
        if isinstance(m, kinds)
    ]
    network.train()(x)
    for handle in handles:
        handle.remove()
    K = [[sum((a > 0) == (b > 0) for call in seen for a, b in zip(call[i], call[j], strict=True)) for j in range(len(x))]
         for i in range(len(x))]  # fmt: skip
    return np.linalg.slogdet(np.array(K, dtype=float))[1]


@pytest.mark.checks("naswot")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), count=st.integers(1, 4))
def test_the_formula(small, batch, seed, norm, count):
    network, (x, _) = small(seed, norm=norm), batch(count, seed)
    assert score(network, x, "naswot").value == pytest.approx(slow_naswot(network, x), rel=1e-9)


@pytest.mark.parametrize("name", ["tiny_cnn", "nb201_cell_net"])
def test_the_kernel_of_the_public_code(name):
    golden = load(name, torch.float64)
    patterns = golden.probe(golden.inputs).batch.see("patterns_by_name")
    K = sum(agreements(pattern.positive.flatten(1)) for pattern in patterns)
    assert {"trace": float(K.trace()), "sum": float(K.sum())} == golden.parts("naswot_b16")


def test_samples_with_equal_patterns_are_rank_deficient(small, batch):
    x, _ = batch(3)
    found = score(small(), torch.cat([x, x[:1]]), "naswot")
    assert (found.status, found.value) == ("rank_deficient", None)
    assert "same activation patterns" in found.reason


def test_without_activations_it_is_unsupported():
    found = score(nn.Linear(3, 4), torch.randn(2, 3), "naswot")
    assert found.status == "unsupported"
    assert "no ReLU-like" in found.reason


def test_functions_and_modules_mixed():
    class Mixed(nn.Sequential):
        def forward(self, x):
            return F.relu(super().forward(x))

    layers = nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3)
    x = torch.randn(4, 3, 8, 8)
    assert score(Mixed(*layers), x, "naswot").value == score(nn.Sequential(*layers, nn.ReLU()), x, "naswot").value
    assert score(Mixed(*layers), x, "naswot:reference").value == score(nn.Sequential(*layers), x, "naswot").value


def test_the_order_of_samples_does_not_matter(small, batch):
    x, _ = batch(5)
    assert score(small(), x.flip(0), "naswot").value == pytest.approx(score(small(), x, "naswot").value)


def test_agreements_count_and_broadcast():
    positive = torch.rand(2, 3, 6) > 0.5
    counts = agreements(positive)
    assert counts.shape == (2, 3, 3)
    for k in range(2):
        for i in range(3):
            for j in range(3):
                assert counts[k, i, j] == (positive[k, i] == positive[k, j]).sum()
