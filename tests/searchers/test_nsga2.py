"""NSGA-II beside slow, obvious versions of what it does; its front on a problem whose front is known."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.searchers.driving import drive, made

from foresee.errors import InputError
from foresee.searchers import Result
from foresee.searchers.nsga2 import survivors
from foresee.statistics import hypervolume
from foresee.testing import SearcherSuite


class TestNSGA2(SearcherSuite):
    searcher = "nsga2"
    settings = {"population": 6}
    proxies = ("naswot",)
    objectives = ("naswot", "params")


# -- who survives -------------------------------------------------------------------------------------------------------
def dominates(one, other):
    return all(a >= b for a, b in zip(one, other, strict=True)) and one != other


def sorted_slowly(points):
    """Deb et al.'s fast non-dominated sort, as slow as its definition: peel off what nothing left dominates."""
    left, fronts = dict(enumerate(points)), []
    while left:
        front = [at for at, mine in left.items() if not any(dominates(other, mine) for other in left.values())]
        fronts.append(front)
        left = {at: point for at, point in left.items() if at not in front}
    return fronts


def distances_slowly(points):
    """The crowding distance of distinct points, objective by objective along the sorted front (Section III-B)."""
    total = [0.0] * len(points)
    for objective in range(len(points[0])):
        values = sorted({point[objective] for point in points})
        for at, point in enumerate(points):
            if len(values) == 1:
                continue
            place = values.index(point[objective])
            if place in (0, len(values) - 1):
                total[at] = math.inf
            else:
                total[at] += (values[place + 1] - values[place - 1]) / (values[-1] - values[0])
    return [math.inf] if len(points) == 1 else total


@examples(60)
@given(
    st.integers(1, 3).flatmap(
        lambda many: st.lists(st.tuples(*[st.integers(0, 6)] * many), min_size=1, max_size=14, unique=True)
    ),
    st.integers(1, 14),
)
def test_the_best_survive_by_front_and_then_by_loneliness(points, many):
    results = [Result(at, None, tuple(map(float, point))) for at, point in enumerate(points)]
    expected = []
    for number, front in enumerate(sorted_slowly(points)):
        far = distances_slowly([points[at] for at in front])
        expected += sorted(zip([number] * len(front), (-one for one in far), front, strict=True))
    found = survivors(results, many)
    assert [(one.front, -one.distance, one.result.id) for one in found] == [
        pytest.approx(one, rel=1e-12) for one in expected[:many]
    ]


def test_nobody_survives_of_nobody():
    assert survivors([], 4) == []


# -- the search ---------------------------------------------------------------------------------------------------------
def conflict(one):
    """More 3x3 convolutions against fewer convolutions: the front of the whole space is known."""
    three, one_by_one = one.ops.count("nor_conv_3x3"), one.ops.count("nor_conv_1x1")
    return three + 0.4 * one_by_one + 0.01 * one.ops.count("skip_connect"), -float(three + one_by_one)


def test_it_comes_nearer_to_the_front_of_the_space_than_random_draws():
    space = made("random").space
    best = hypervolume([conflict(one) for one in space.enumerate()], [0.0, -6.5])

    def reached(name, seed, **settings):
        searcher = made(name, 200, seed=seed, objectives=("params", "macs"), settings=settings)
        return hypervolume([result.merits for result in drive(searcher, conflict)[1]], [0.0, -6.5]) / best

    evolved = [reached("nsga2", seed, population=20) for seed in range(3)]
    drawn = [reached("random", seed) for seed in range(3)]
    assert min(evolved) > 0.95
    assert sum(evolved) > sum(drawn)


def test_parents_win_their_tournaments_and_generations_wait():
    searcher = made("nsga2", 60, settings={"population": 12}, objectives=("params", "macs"))
    proposals, results = drive(searcher, conflict)
    assert all(proposal.parent is None for proposal in proposals[:12])
    for begin in range(12, 60, 12):
        alive = {one.result.id for one in survivors(results[:begin], begin)}
        assert {p.parent for p in proposals[begin : begin + 12]} <= alive | {None}
        assert [searcher.told_before(begin + child) for child in (0, 11)] == [begin, begin]
    # fronts of the children's parents: better ones have more children than a uniform draw would give them
    fronts = {one.result.id: one.front for one in survivors(results[:24], 24)}
    drawn = [fronts[p.parent] for p in proposals[24:36] if p.parent in fronts]
    assert sum(drawn) / len(drawn) < sum(fronts.values()) / len(fronts)


def test_failures_never_survive():
    searcher = made("nsga2", 40, settings={"population": 8}, objectives=("params", "macs"))
    proposals, results = drive(searcher, conflict, fails=lambda one: one.ops[0] == "none")
    failed = {result.id for result in results if not result.merits}
    assert failed
    assert not failed & {proposal.parent for proposal in proposals}


@pytest.mark.parametrize(("name", "value"), [*product(("crossover", "mutation"), (-0.1, 1.1, True, "often"))])
def test_what_is_refused(name, value):
    with pytest.raises(InputError, match=f"nsga2.{name} = .*: expected a probability"):
        made("nsga2", settings={name: value})
