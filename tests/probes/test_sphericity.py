from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.properties import examples

from foresee.probes import sphericity as room
from foresee.probes.sphericity import Sphericities, sphericity

maps = hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 7)), elements=st.integers(-9, 9).map(float))


@example(rows=7, columns=8, seed=8)  # an eigenvalue near 0
@given(rows=st.integers(1, 12), columns=st.integers(2, 14), seed=st.integers(0, 10**6))
@examples(60)
def test_sphericity_is_the_geometric_over_the_arithmetic_mean_of_eigenvalues(rows, columns, seed):
    array = np.random.default_rng(seed).normal(size=(rows, columns))
    rank = min(rows, columns - 1)
    values = np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(array)))[-rank:]
    # what float32 cannot tell from 0 is added
    expected = np.exp(np.log(values / values.mean() + np.finfo(np.float32).eps).mean())
    assert float(sphericity(torch.from_numpy(array))) == pytest.approx(expected, rel=1e-6)


@given(maps)
@examples(50)
def test_sphericity_is_between_0_and_1_and_blind_to_scale_shift_and_order(array):
    found = float(sphericity(torch.from_numpy(array)))
    assert 0 <= found <= 1 + 1e-6
    changed = np.ascontiguousarray(array[::-1]) * 3 + 5
    assert float(sphericity(torch.from_numpy(changed))) == pytest.approx(found, rel=1e-6, abs=1e-9)


def test_rows_that_depend_on_each_other_have_almost_no_sphericity():
    rows = torch.randn(3, 50, generator=torch.Generator().manual_seed(1))
    assert float(sphericity(torch.stack([rows[0], rows[1], rows[0] - rows[1]]))) < 0.01
    assert float(sphericity(torch.cat([rows, torch.zeros(1, 50)]))) < 0.05
    assert float(sphericity(rows[:, :1])) == 0


@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (4, 4)])
def test_it_broadcasts_over_leading_axes(shape):
    stack = torch.randn(2, 3, *shape, dtype=torch.float64)
    together = sphericity(stack)
    assert together.shape == (2, 3)
    alone = torch.stack([torch.stack([sphericity(one) for one in row]) for row in stack])
    assert torch.allclose(together, alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (3, 3)])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_what_is_not_finite_gives_nan_for_its_own_map_only(shape, bad):
    stack = torch.randn(2, *shape)
    stack[0, -1, -1] = bad
    assert sphericity(stack).isnan().tolist() == [True, False]


@pytest.mark.parametrize("held", [0, 1 << 26])
def test_together_each_is_what_it_is_alone(held, monkeypatch):
    monkeypatch.setattr(room, "HELD", held)
    torch.manual_seed(1)
    spoiled = torch.randn(2, 4, 30)
    spoiled[1, 2, 3] = torch.nan
    ones = [torch.randn(2, 4, 30), torch.randn(3, 6, 5), torch.randn(2, 4, 30), spoiled, torch.zeros(2, 4, 30)]
    ones += [torch.randn(1, 4, 1), torch.randn(2, 4, 31).double(), torch.randn(3, 6, 5)]
    spectra = Sphericities()
    later = [spectra.add(one) for one in ones]
    spectra.settle()
    for one, found in zip(ones, later, strict=True):
        assert torch.equal(found.mean, sphericity(one).mean()) or found.mean.isnan() == one.isnan().any()
        assert found.of is None


def test_nothing_waits_longer_than_there_is_room(monkeypatch):
    monkeypatch.setattr(room, "HELD", 3 * 16 * 8)
    spectra = Sphericities()
    later = [spectra.add(torch.randn(1, 4, 30)) for _ in range(5)]
    assert [one.of is None for one in later] == [True] * 4 + [False]
