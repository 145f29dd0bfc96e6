"""Fronts beside slow obvious versions: domination pair by pair, volumes as counted unit cubes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError, UnknownNameError
from foresee.statistics import crowding, filled, front, hypervolume, knee, successive_fronts

WAYS = st.sampled_from(["higher", "lower"])


@st.composite
def clouds(draw, most=4, least=0):
    """Points with few different values, so that there are ties and copies, and a direction for each objective."""
    objectives = draw(st.integers(1, most))
    value = st.integers(0, 4).map(float)
    points = draw(st.lists(st.tuples(*[value] * objectives), min_size=least, max_size=14))
    return points, draw(st.lists(WAYS, min_size=objectives, max_size=objectives))


def merits(points, ways):
    return [tuple(x if way == "higher" else -x for x, way in zip(point, ways, strict=True)) for point in points]


def dominates(one, other):
    return all(a >= b for a, b in zip(one, other, strict=True)) and one != other


def undominated(points):
    return {i for i, one in enumerate(points) if not any(dominates(other, one) for other in points)}


# -- fronts -------------------------------------------------------------------------------------------------------------
@examples(150)
@given(clouds())
def test_the_front_is_what_nothing_dominates_copies_included(cloud):
    points, ways = cloud
    found = front(points, ways).tolist()
    turned = merits(points, ways)
    assert set(found) == undominated(turned)
    assert found == sorted(found, key=lambda i: ([-x for x in turned[i]], i)), "best first, copies as they come"


@examples(80)
@given(clouds())
def test_distinct_names_the_first_of_equal_points(cloud):
    points, ways = cloud
    whole = front(points, ways).tolist()
    assert front(points, ways, distinct=True).tolist() == [i for i in whole if points.index(points[i]) == i]


@examples(100)
@given(clouds())
def test_successive_fronts_peel_the_points(cloud):
    points, ways = cloud
    left = dict(enumerate(merits(points, ways)))
    for found in successive_fronts(points, ways):
        assert found.tolist()
        slow = {i for i, one in left.items() if not any(dominates(other, one) for other in left.values())}
        assert set(found.tolist()) == slow
        left = {i: one for i, one in left.items() if i not in slow}
    assert not left


def test_infinities_are_ordinary_values_of_a_front():
    assert front([[math.inf, 0.0], [1.0, 1.0], [-math.inf, 1.0]]).tolist() == [0, 1]


def test_higher_is_meant_where_nothing_is_said():
    assert front([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]).tolist() == [1, 0]


# -- crowding -----------------------------------------------------------------------------------------------------------
def slow_crowding(points):
    first = [points.index(one) == i for i, one in enumerate(points)]
    unlike = [one for one, counts in zip(points, first, strict=True) if counts]
    found = []
    for one, counts in zip(points, first, strict=True):
        total = 0.0 if counts and len(unlike) > 1 else math.inf if counts else 0.0
        for k in range(len(one) if counts else 0):
            column = [other[k] for other in unlike]
            above, below = [x for x in column if x > one[k]], [x for x in column if x < one[k]]
            if above and below:
                total += (min(above) - max(below)) / (max(column) - min(column))
            elif above or below:
                total = math.inf
        found.append(total)
    return found


@examples(150)
@given(clouds(least=1))
@example(([(1.0, 2.0)] * 3, ["higher"] * 2))
def test_crowding_is_the_gap_between_neighbours(cloud):
    points, ways = cloud
    assert crowding(points).tolist() == pytest.approx(slow_crowding(points))
    chosen = [points[i] for i in front(points, ways)]
    assert crowding(chosen).tolist() == pytest.approx(slow_crowding(chosen))


@examples(40)
@given(st.lists(st.integers(0, 50), min_size=3, max_size=12, unique=True))
def test_crowding_of_a_plain_front_is_that_of_the_textbook(steps):
    """Two objectives, no copies: sorted by one of them, the ends infinite, both gaps between the neighbours added."""
    steps = sorted(steps)
    points = np.array([(x, -(x**2)) for x in steps], float)
    reach = np.ptp(points, axis=0)
    inner = ((np.abs(points[2:] - points[:-2])) / reach).sum(axis=1)
    order = np.random.default_rng(len(steps)).permutation(len(steps))
    assert crowding(points[order]).tolist() == pytest.approx(np.array([math.inf, *inner, math.inf])[order].tolist())


# -- volumes ------------------------------------------------------------------------------------------------------------
@examples(150)
@given(clouds(), st.data())
def test_the_volume_is_the_number_of_unit_cubes_dominated(cloud, data):
    points, ways = cloud
    reference = data.draw(st.tuples(*[st.integers(-1, 3).map(float)] * len(ways)))
    turned, [worst] = merits(points, ways), merits([reference], ways)
    cubes = itertools.product(*[range(math.floor(low), 5) for low in worst])
    slow = sum(any(all(c + 1 <= x for c, x in zip(cube, point, strict=True)) for point in turned) for cube in cubes)
    assert hypervolume(points, reference, ways) == pytest.approx(slow)


@examples(40)
@given(st.lists(st.tuples(*[st.floats(0.1, 10)] * 3), min_size=1, max_size=7))
def test_the_volume_is_that_of_inclusion_and_exclusion(points):
    slow = 0.0
    for size in range(1, len(points) + 1):
        for some in itertools.combinations(points, size):
            slow += (-1) ** (size + 1) * math.prod(min(sides) for sides in zip(*some, strict=True))
    assert hypervolume(points, [0.0, 0.0, 0.0]) == pytest.approx(slow)


def test_what_is_not_better_than_the_reference_adds_nothing():
    assert hypervolume([[3.0, 0.0], [0.0, 3.0]], [0.0, 0.0]) == 0.0
    assert hypervolume([[2.0, 1.0], [2.0, 1.0]], [0.0, 0.0]) == 2.0
    assert hypervolume([[2.0, 1.0]], [3.0, 0.0], ["lower", "higher"]) == 1.0


# -- what comes in ------------------------------------------------------------------------------------------------------
def test_no_points():
    assert front([]).tolist() == []
    assert front([], ["lower", "higher"], distinct=True).tolist() == []
    assert successive_fronts(np.empty((0, 3))) == []
    assert crowding([]).tolist() == []
    assert hypervolume([], [0.0, 0.0], ["lower", "higher"]) == 0.0


def test_what_is_refused():
    for wrong in ([1.0, 2.0], [[[1.0]]], [[], []]):
        with pytest.raises(InputError, match="expected \\(points, objectives\\)"):
            front(wrong)
    with pytest.raises(InputError, match="leave out what has failed"):
        successive_fronts([[1.0, math.nan]])
    with pytest.raises(InputError, match="1 directions for 2 objectives"):
        front([[1.0, 2.0]], ["lower"])
    with pytest.raises(UnknownNameError, match="lower"):
        front([[1.0]], ["less"])
    with pytest.raises(InputError, match="finite"):
        crowding([[1.0, math.inf]])
    with pytest.raises(InputError, match="finite"):
        hypervolume([[1.0, math.inf]], [0.0, 0.0])
    with pytest.raises(InputError, match="reference of 1 numbers for 2 objectives"):
        hypervolume([[1.0, 2.0]], [0.0])


# -- how a front is filled, and its knee ----------------------------------------------------------------------------------
@examples(60)
@given(
    st.integers(1, 3).flatmap(lambda many: st.lists(st.tuples(*[st.integers(0, 5)] * many), min_size=1, max_size=12))
)
def test_filled_is_the_volume_of_the_first_few_in_the_box_of_all(points):
    values = np.array(points, dtype=float)
    low, high = values.min(axis=0), values.max(axis=0)
    told = high > low
    found = filled(points)
    if not told.any():
        assert (found == 1).all()
        return
    box = np.prod((high - low)[told])
    expected = [hypervolume(values[: many + 1][:, told], low[told]) / box for many in range(len(values))]
    assert found == pytest.approx(expected)


def test_filled_by_throwing_points_into_the_box():
    """Three objectives beside a count of random points that something dominates."""
    rng = np.random.default_rng(0)
    values = rng.random((30, 3))
    low, high = values.min(axis=0), values.max(axis=0)
    thrown = low + (high - low) * rng.random((20000, 3))
    share = (values[:, None] >= thrown).all(axis=-1).any(axis=0).mean()
    assert filled(values)[-1] == pytest.approx(share, abs=0.015)
    assert filled(-values, ["lower"] * 3)[-1] == pytest.approx(filled(values)[-1])


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_the_knee_is_furthest_from_the_line_between_the_ends(points):
    values = np.array(points, dtype=float)
    at = knee(points)
    places = front(points)
    assert at in places
    ends = values[places].min(axis=0), values[places].max(axis=0)
    extent = ends[1] - ends[0]
    if (extent == 0).any():  # a front of one point, and its copies
        assert at == places[0]
        return
    scaled = (values[places] - ends[0]) / extent
    first, last = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    way = (last - first) / np.linalg.norm(last - first)
    signed = [(one - first)[0] * -way[1] + (one - first)[1] * way[0] for one in scaled]
    distance = dict(zip(places.tolist(), (-np.array(signed)).tolist(), strict=True))
    assert distance[at] == pytest.approx(max(distance.values()))


def test_no_points_have_no_knee_and_fill_nothing():
    assert filled([]).tolist() == []
    with pytest.raises(InputError, match="there is no knee of none"):
        knee([])
