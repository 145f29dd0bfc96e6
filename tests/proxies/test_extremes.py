from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.properties import examples

from foresee.proxies import spectra
from foresee.proxies.extremes import ends, extremes, tridiagonal

maps = hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 7)), elements=st.integers(-9, 9).map(float))


@given(maps, st.sampled_from([0.0, 1e-12, 1e-9, 1e-6, 1e-3]), st.sampled_from([1e-150, 1.0, 1e100]))
@examples(60)
def test_near_rank_deficiency_a_ratio_is_within_1e_7_of_that_of_singular_values(array, apart, size):
    array[-1] = array[0] + apart * array[-1]  # the last row is nearly, or exactly, the first
    stack = torch.from_numpy(array * size)[None]
    found = spectra._inverse_condition_by_products(stack)
    assert float(found) == pytest.approx(float(spectra.inverse_condition(stack)), abs=1e-7)


@pytest.mark.parametrize("n", [1, 2, 3, 16, 40])
def test_both_ends_of_many_spectra_at_once(n):
    rows = torch.randn(30, n, n + 3, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
    rows[1] = 0.0
    rows[2, 0] = 0.0
    matrices = rows @ rows.mT
    values = torch.linalg.eigvalsh(matrices)
    least, greatest = extremes(matrices)
    scale = values[:, -1].clamp(min=1e-300)
    assert float(((least - values[:, 0]).abs() / scale).max()) < 1e-14
    assert float(((greatest - values[:, -1]).abs() / scale).max()) < 1e-14
    assert least[1] == greatest[1] == 0


def test_a_tridiagonal_matrix_has_the_eigenvalues_of_the_whole():
    rows = torch.randn(4, 7, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    matrices = rows @ rows.mT
    diagonal, beside = tridiagonal(matrices.clone())
    small = torch.diag_embed(diagonal.mT) + torch.diag_embed(beside.mT, 1) + torch.diag_embed(beside.mT, -1)
    torch.testing.assert_close(torch.linalg.eigvalsh(small), torch.linalg.eigvalsh(matrices))


def test_ends_of_a_diagonal_are_its_least_and_greatest():
    least, greatest = ends(torch.tensor([[0.25], [0.5], [0.0]], dtype=torch.float64), torch.zeros(2, 1).double())
    assert float(least) == pytest.approx(0, abs=1e-13)
    assert float(greatest) == pytest.approx(0.5)


def test_no_matrices_have_no_ends():
    least, greatest = extremes(torch.zeros(0, 3, 3))
    assert least.shape == greatest.shape == (0,)


def test_products_say_that_a_map_is_no_number():
    stack = torch.ones(2, 2, 3)
    stack[1, 0, 0] = torch.inf
    assert spectra._inverse_condition_by_products(stack.double()).isnan().tolist() == [False, True]
