from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.properties import examples

from foresee.proxies.spectra import for_each, inverse_condition, least_correlation

maps = hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 7)), elements=st.integers(-9, 9).map(float))


@given(maps)
@examples(50)
def test_inverse_condition_is_the_ratio_of_singular_values(array):
    values = np.linalg.svd(array, compute_uv=False)
    expected = values[-1] / values[0] if values[0] > 0 else 0.0
    assert float(inverse_condition(torch.from_numpy(array))) == pytest.approx(expected, abs=1e-12)


@given(maps)
@examples(50)
def test_least_correlation_is_that_of_the_correlation_matrix(array):
    with np.errstate(all="ignore"):
        R = np.atleast_2d(np.corrcoef(array) if array.shape[1] > 1 else np.full((len(array),) * 2, np.nan))
    expected = np.linalg.eigvalsh(np.nan_to_num(R, nan=0.0, posinf=0.0, neginf=0.0))[0]
    assert float(least_correlation(torch.from_numpy(array))) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("formula", [inverse_condition, least_correlation])
@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (4, 4)])
def test_formulas_broadcast_over_leading_axes(formula, shape):
    stack = torch.randn(2, 3, *shape, dtype=torch.float64)
    together = formula(stack)
    assert together.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            assert float(together[i, j]) == pytest.approx(float(formula(stack[i, j])), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("formula", [inverse_condition, least_correlation])
@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (3, 3)])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_what_is_not_finite_gives_nan_for_its_own_map_only(formula, shape, bad):
    stack = torch.randn(2, *shape)
    stack[0, -1, -1] = bad
    assert formula(stack).isnan().tolist() == [True, False]


def test_float32_maps_are_decomposed_in_float64():
    rows = torch.randn(1, 200, dtype=torch.float64)
    nearly = torch.cat([rows, rows + 1e-6 * torch.randn(1, 200, dtype=torch.float64)]).float()
    exact = np.linalg.svd(nearly.double().numpy(), compute_uv=False)
    assert float(inverse_condition(nearly)) == pytest.approx(exact[-1] / exact[0], rel=1e-8)


def test_a_constant_channel_has_no_correlation():
    assert float(least_correlation(torch.tensor([[0.1] * 7, [1.0, 2, 3, 4, 5, 6, 7]]))) == 0


def test_for_each_keeps_the_order():
    several = [torch.full((i % 3 + 1, 2), float(i)) for i in range(7)]
    assert for_each(lambda stack: stack[:, 0, 0], several).tolist() == list(range(7))


def test_equal_maps_go_through_once():
    asked = []

    def formula(stack):
        asked.append(len(stack))
        return stack.sum((-2, -1))

    one, other = torch.rand(3, 4), torch.rand(3, 4)
    alike = one.clone()
    alike[0, 0] += 1  # as in `one` but for one number
    several = [one, other, one.clone(), alike, one[:2], other]
    assert for_each(formula, several).tolist() == [float(each.sum()) for each in several]
    assert sorted(asked) == [1, 3]


def test_equal_maps_keep_their_own_gradients():
    several = [torch.ones(2, 3, requires_grad=True) for _ in range(2)]
    for_each(lambda stack: stack.sum((-2, -1)), several).sum().backward()
    assert all(torch.equal(each.grad, torch.ones(2, 3)) for each in several)


def test_a_map_that_is_not_finite_has_no_number_and_harms_no_other():
    for shape in ((3, 5), (4, 3)):
        good, bad = torch.rand(shape), [torch.rand(shape) for _ in range(3)]
        for one, number in zip(bad, (math.nan, math.inf, -math.inf), strict=True):
            one[1, 2] = number
        for formula in (inverse_condition, least_correlation):
            found = for_each(formula, [*bad, good, bad[0]])
            assert found.isnan().tolist() == [True, True, True, False, True]
            assert float(found[3]) == pytest.approx(float(formula(good)), rel=1e-9, abs=1e-12)
