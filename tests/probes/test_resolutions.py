from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.probes.resolutions import behind, joined, resolutions, spread, sums

SIZES = st.lists(st.integers(1, 5000), min_size=1, max_size=12)


def slow(sizes):
    """Sets of sizes, from the least: a size joins the last set where it is less than twice its largest."""
    maps = [size for size in sizes if size > 1]
    groups = []
    for size in sorted(set(maps)):
        if groups and size < 2 * groups[-1][-1]:
            groups[-1].append(size)
        else:
            groups.append([size])
    return [next((n for n, group in enumerate(groups) if size in group), 0) for size in sizes]


@given(sizes=SIZES)
@examples(60)
def test_resolutions(sizes):
    assert resolutions(torch.tensor(sizes)).tolist() == slow(sizes)
    assert resolutions(torch.tensor(sizes, dtype=torch.float64)).tolist() == slow(sizes)


@pytest.mark.parametrize("factor", [4, 9])
def test_a_larger_input_has_the_same_resolutions(factor):
    sizes = torch.tensor([256, 64, 64, 16, 4])
    assert torch.equal(resolutions(sizes), resolutions(sizes * factor))


@given(values=st.lists(st.floats(0, 1e6), min_size=1, max_size=8), data=st.data())
@examples(60)
def test_joined_is_over_all_pairs(values, data):
    at = torch.tensor(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    value = torch.tensor(values, dtype=torch.float64)
    whole = sums(value, at).tolist()
    assert float(joined(value, at)) == pytest.approx(math.fsum(math.sqrt(a * b) for a in whole for b in whole))
    several = joined(torch.stack([value, 2 * value]), at)  # an axis before is another network
    assert several.tolist() == pytest.approx([float(joined(value, at)), 2 * float(joined(value, at))])


@given(values=st.lists(st.floats(0, 1e6), min_size=1, max_size=8), data=st.data())
@examples(60)
def test_what_is_spread_is_the_sum_where_all_resolutions_have_as_much_and_less_elsewhere(values, data):
    at = torch.tensor(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    value = torch.tensor(values, dtype=torch.float64)
    many = int(at.max()) + 1
    assert sum(values) / many * (1 - 1e-9) <= float(spread(value, at)) <= sum(values) * (1 + 1e-9)
    even = torch.ones(many, dtype=torch.float64)
    assert float(spread(even, torch.arange(many))) == pytest.approx(many)


@given(data=st.data(), many=st.integers(1, 10))
@examples(60)
def test_layers_behind_by_counting(data, many):
    at = data.draw(st.lists(st.integers(0, 2), min_size=many, max_size=many))
    later = data.draw(st.permutations(range(many)))
    counted = data.draw(st.lists(st.booleans(), min_size=many, max_size=many))
    found = behind(torch.tensor(later), torch.tensor(at), torch.tensor(counted)).tolist()
    for one in range(many):
        after = [
            other for other in range(many) if at[other] == at[one] and later[other] <= later[one] and counted[other]
        ]
        assert found[one] == max(1, len(after))
