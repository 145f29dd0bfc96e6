from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.probes.independence import independence

RANDOM = examples(20)


def slow(matrix):
    """From the eigenvalues of the correlation matrix of the rows that are not constant."""
    alive = matrix[np.ptp(matrix, axis=1) > 0]
    values = np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(alive)))
    return values.sum() ** 2 / (values**2).sum() / len(matrix)


def drawn(seed, rows, columns):
    generator = torch.Generator().manual_seed(seed)
    mixed = torch.randn(rows, rows, generator=generator, dtype=torch.float64)
    return mixed @ torch.randn(rows, columns, generator=generator, dtype=torch.float64)


@RANDOM
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 9), columns=st.integers(2, 30), dead=st.booleans())
def test_it_is_the_participation_ratio_of_the_correlations(seed, rows, columns, dead):
    maps = drawn(seed, rows, columns)
    if dead and rows > 1:
        maps[0] = 3.0
    assert float(independence(maps)) == pytest.approx(slow(maps.numpy()), rel=1e-9)
    assert float(independence(maps.float())) == pytest.approx(slow(maps.numpy()), rel=1e-3)


@RANDOM
@given(
    seed=st.integers(0, 10**6), rows=st.integers(1, 6), copies=st.integers(2, 4), factor=st.sampled_from([1e-25, 1e6])
)
def test_copies_scales_and_shifts_are_nothing_new(seed, rows, copies, factor):
    maps = drawn(seed, rows, 20)
    share = float(independence(maps))
    assert float(independence(maps.repeat(copies, 1))) * copies == pytest.approx(share, rel=1e-9)
    assert float(independence(maps.float() * factor)) == pytest.approx(share, rel=1e-3)
    assert float(independence(maps * -2 + 5)) == pytest.approx(share, rel=1e-9)
    assert 1 / rows - 1e-9 <= share <= 1 + 1e-9


def test_no_more_rows_are_independent_than_there_are_columns():
    maps = torch.randn(200, 9, generator=torch.Generator().manual_seed(0))
    assert 7 < 200 * float(independence(maps)) <= 8


def test_evenly_spaced_rows_speak_for_all():
    maps = drawn(1, 40, 200) + 5 * drawn(2, 1, 200)
    half = float(independence(maps[::2], rows=40))
    assert half == pytest.approx(float(independence(maps)), rel=0.2)
    assert float(independence(maps[::2])) > 1.2 * half


def test_nothing_to_compare():
    assert independence(torch.ones(3, 5)) == 0
    assert independence(torch.randn(3, 1)) == 0
    assert independence(torch.tensor([[1.0, float("nan")], [0.0, 1.0]])).isnan()
    assert independence(torch.tensor([[1.0, float("inf")], [0.0, 1.0]])).isnan()
    assert independence(torch.randn(4, 2, 3, 7)).shape == (4, 2)


def test_it_can_be_differentiated_where_a_row_is_dead():
    maps = drawn(3, 4, 9)
    maps[1] = 0.0
    independence(maps.requires_grad_()).backward()
    assert maps.grad.isfinite().all()
