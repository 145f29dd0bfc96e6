from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.proxies.jacobians import correlations, differences, log_correlations, spread_of_spectrum
from foresee.scoring import score, scores

RANDOM = examples(12)


def slow_jacobian(network, x):
    x = x.clone().requires_grad_()
    network.train()(x).sum().backward()
    network.zero_grad()
    return x.grad.flatten(1).numpy()


def slow_jacov(network, x):
    values = np.linalg.eigvals(np.corrcoef(slow_jacobian(network, x))).real
    return -sum(math.log(v + 1e-5) + 1 / (v + 1e-5) for v in values)


def slow_epe(network, x, y, many):
    rows, sums = slow_jacobian(network, x), {}
    for label in set(y.tolist()):
        members = [row for row, own in zip(rows, y.tolist(), strict=True) if own == label]
        if len(members) == 1 and many:
            continue
        matrix = np.atleast_2d(np.corrcoef(np.stack(members)))
        total = sum(math.log(abs(entry) + 1e-5) for entry in matrix.flatten())
        sums[label] = total / len(members) if many else total
    if not many:
        return sum(abs(total) for total in sums.values())
    return sum(abs(a - b) for a in sums.values() for b in sums.values()) / len(sums)


@pytest.mark.checks("jacov", "epe_nas")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), many=st.booleans())
def test_the_formulas(small, batch, seed, norm, many):
    network, (x, y) = small(seed, norm=norm), batch(6, seed)
    y[:2] = 0  # at least one class has two samples
    given_settings = {"epe_nas": {"many_classes": many}}
    found = scores(network, (x, y), ["jacov", "epe_nas"], settings=given_settings)
    assert found["jacov"].value == pytest.approx(slow_jacov(network, x), rel=1e-7)
    assert found["epe_nas"].value == pytest.approx(slow_epe(network, x, y, many), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("proxy", ["jacov", "epe_nas"])
def test_the_order_of_samples_does_not_matter(small, batch, proxy):
    x, y = batch()
    forward = score(small(), (x, y), proxy).value
    assert score(small(), (x.flip(0), y.flip(0)), proxy).value == pytest.approx(forward, rel=1e-7)


def test_the_branch_follows_the_number_of_outputs():
    torch.manual_seed(0)
    x, y = torch.randn(6, 4), torch.tensor([0, 0, 1, 1, 2, 2])
    for outputs, many in ((100, False), (101, True)):
        network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, outputs))
        chosen = score(network, (x, y), "epe_nas", settings={"many_classes": many}).value
        other = score(network, (x, y), "epe_nas", settings={"many_classes": not many}).value
        assert score(network, (x, y), "epe_nas").value == chosen != other


def test_jacov_never_needs_labels_and_epe_nas_only_their_classes(small, batch):
    x, y = batch()
    y[:2] = 0
    assert score(small(), x, "jacov").value == score(small(), (x, y), "jacov").value
    renamed = (y + 1) % 5
    assert score(small(), (x, renamed), "epe_nas").value == pytest.approx(score(small(), (x, y), "epe_nas").value)
    binary = (y == 0).double()
    assert score(nn.Sequential(small(), nn.Linear(5, 1).double()), (x, binary), "epe_nas").ok


def test_what_they_do_not_apply_to(small, batch):
    x, _ = batch()
    assert "at least 2" in score(small(), x[:1], "jacov").reason
    assert "no labels" in score(small(), x, "epe_nas").reason
    assert "share a class" in score(small(), (x[:3], torch.tensor([0, 1, 2])), "epe_nas").reason
    assert "one class per sample" in score(small(), (x, torch.rand(6, 5)), "epe_nas").reason
    assert "single number" in score(nn.Linear(1, 2), torch.randn(3, 1), "jacov").reason
    table = score(nn.Sequential(nn.Embedding(3, 2), nn.Flatten(), nn.Linear(4, 2)), torch.tensor([[1, 2]] * 3), "jacov")
    assert table.status == "unsupported"


def test_dead_samples_have_no_correlation():
    network = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    nn.init.constant_(network[0].bias, -1e3)
    found = score(network, torch.randn(5, 4), "jacov")
    assert found.status == "nan"
    assert "no correlation" in found.reason


def test_equal_rows_stay_finite():
    found = score(nn.Linear(4, 3), torch.randn(3, 4), "jacov")  # the same gradient everywhere: eigenvalues 3, 0, 0
    expected = -(math.log(3 + 1e-5) + 1 / (3 + 1e-5) + 2 * (math.log(1e-5) + 1e5))
    assert found.value == pytest.approx(expected, rel=1e-6)


def test_the_formulas_broadcast():
    rows = torch.randn(2, 3, 4, 6, dtype=torch.float64)
    C = correlations(rows)
    assert torch.allclose(C[1, 2], torch.corrcoef(rows[1, 2]))
    for formula in (spread_of_spectrum, log_correlations):
        assert torch.allclose(formula(C)[1, 2], formula(C[1, 2]))
    values = torch.tensor([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    assert differences(values).tolist() == [pytest.approx(4.0), 0.0]
