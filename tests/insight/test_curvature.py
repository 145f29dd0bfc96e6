"""Eigenvalues of Hessians."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.insight.test_objective import batches, small

from foresee.errors import InputError
from foresee.insight.curvature import Curvature, curvature, lanczos
from foresee.insight.objective import Objective


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_lanczos_finds_the_eigenvalues(seed, size):
    """All of them after as many steps as the matrix is large; within the residual after fewer."""
    torch.manual_seed(seed)
    half = torch.randn(size, size, dtype=torch.float64)
    matrix, start = half + half.T, torch.randn(size, dtype=torch.float64)
    true = torch.linalg.eigvalsh(matrix)
    values, _, taken = lanczos(lambda v: matrix @ v, start, size)
    assert taken == size
    assert torch.allclose(values, true, atol=1e-8)
    fewer, residual, _ = lanczos(lambda v: matrix @ v, start, max(1, size // 2))
    assert (true - fewer[-1]).abs().min() <= residual + 1e-9
    assert fewer[-1] <= true[-1] + 1e-9


def test_of_a_network():
    network, data = small(), batches()
    objective = Objective(network, data, double=True)
    whole = torch.stack([objective.hessian_product(row) for row in torch.eye(objective.size, dtype=torch.float64)])
    true = torch.linalg.eigvalsh((whole + whole.T) / 2)
    found = curvature(network, data, steps=25)
    assert found.largest == pytest.approx(float(true[-1]), rel=1e-4)
    assert found.least == pytest.approx(float(true[0]), abs=1e-3)
    assert found.loss == pytest.approx(objective.loss())
    assert curvature(network, data, steps=25) == found
    assert Curvature.from_json(found.to_json()) == found


def test_nothing_curved():
    values, residual, taken = lanczos(lambda v: 0 * v, torch.ones(5, dtype=torch.float64))
    assert (float(values[-1]), residual, taken) == (0.0, 0.0, 1)


def test_samples_in_pieces_have_the_same_curvature_and_hold_less(monkeypatch):
    """However the samples are cut, the Hessian is that of all of them; no run sees more than `together`."""
    network, data = small(), batches()
    expected, seen, run = curvature(network, data, steps=12, together=10**6), list[int](), Objective._of
    monkeypatch.setattr(Objective, "_of", lambda self, batch, at: seen.append(len(batch)) or run(self, batch, at))
    for together in (1, 2, 3, 5):
        objective = Objective(network, data, double=True)
        found, start = objective.hessian_at(together=together), torch.ones(objective.size, dtype=torch.float64)
        whole = objective.hessian_at(together=10)(start)
        seen.clear()
        assert torch.allclose(found(start), whole, rtol=1e-12, atol=1e-13)
        assert max(seen) == together
        assert sum(seen) == 10
        one = curvature(network, data, steps=12, together=together)
        assert one.largest == pytest.approx(expected.largest, rel=1e-9)
        assert one.least == pytest.approx(expected.least, rel=1e-6, abs=1e-9)
    with pytest.raises(InputError, match="together"):
        curvature(network, data, together=0)
