"""Where a network stands: percentiles beside a slow obvious version, failures as statuses, who is cheap, who is drawn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from foresee.insight.explaining import explain
from foresee.insight.standing import FEW, Standing, cheap, drawn, looked_at, percentile, standings
from foresee.proxies.base import Score, get, names_of
from foresee.scoring.many import ScoreMatrix, scored
from foresee.spaces import get as space_of
from foresee.task import Task

numbers = st.floats(-5, 5).map(lambda value: round(value, 1))


@given(numbers, st.lists(numbers | st.just(float("nan")), max_size=30))
def test_percentiles_are_those_of_counting(mine: float, others: list[float]) -> None:
    known = [one for one in others if one == one]
    slow = 0.0
    for one in known:
        slow += 1.0 if one < mine else 0.5 if one == mine else 0.0
    found = percentile(mine, np.array(others))
    assert found is None if not known else found == pytest.approx(100 * slow / len(known))


def matrix(values: list[float], direction: str = "higher") -> ScoreMatrix:
    column = np.array(values)[:, None]
    reasons = Counter({"nan: the value is nan": int(np.isnan(column).sum())})
    return ScoreMatrix("p", direction, column, np.full(column.shape, "ok"), column, reasons)  # type: ignore[arg-type]


def test_failures_are_left_out_and_counted() -> None:
    [one] = standings([Score("p", 2.0)], {"p": matrix([1.0, float("nan"), 3.0])})
    assert (one.percentile, one.others, one.without, one.median) == (50.0, 2, 1, 2.0)
    assert "nan" in one.why


def test_lower_is_better_turns_the_place_and_not_the_numbers() -> None:
    [one] = standings([Score("p", 1.0, direction="lower")], {"p": matrix([1.5, 2.0, 3.0], "lower")})
    assert (one.percentile, one.median) == (100.0, 2.0)


def test_without_a_value_there_is_no_place() -> None:
    [one] = standings([Score("p", None, "nan", "the value is nan")], {"p": matrix([1.0, 2.0])})
    assert (one.percentile, one.status, one.others) == (None, "nan", 2)
    [none] = standings([Score("p", 1.0)], {"p": matrix([float("nan")])})
    assert (none.percentile, none.others, none.without) == (None, 0, 1)
    assert Standing.from_json(none.to_json()) == none


def test_cheap_is_what_proxies_declare() -> None:
    names = cheap()
    assert {"foresee", "synflow", "params", "dextr"} <= set(names)
    for name in names_of("every"):
        needs = get(name).needs
        assert (name in names) == (not needs.expensive and needs.batches * needs.batch <= FEW)
    assert "snip" in cheap(batch_size=16)
    assert "zico" not in cheap(batch_size=16)


def test_draws_are_the_seed_s_and_distinct() -> None:
    space = space_of("nasbench201")
    assert drawn(space, 20, 3) == drawn(space, 20, 3) != drawn(space, 20, 4)
    assert len(set(drawn(space, 20))) == 20
    assert drawn(space, 5) == drawn(space, 20)[:5]


def test_images_are_halved_and_nothing_else() -> None:
    assert looked_at(Task((3, 32, 32), 10)).inputs == (3, 16, 16)
    assert looked_at(Task((3, 32, 32), 10), full_size=True).inputs == (3, 32, 32)
    assert looked_at(Task((64,), 10)).inputs == (64,)
    assert looked_at(Task((3, 32, 32), 10), nn.Conv2d(3, 8, 7)).inputs == (3, 16, 16)
    assert looked_at(Task((3, 32, 32), 10), nn.Conv2d(3, 8, 16, stride=16)).inputs == (3, 32, 32)  # patches
    assert looked_at(Task((3, 224, 224), 10), nn.Conv2d(3, 8, 16, stride=16)).inputs == (3, 112, 112)
    assert looked_at(Task((128,), 2, tokens=100)).inputs == (128,)


def test_places_in_a_space_beside_scoring_everyone_by_hand() -> None:
    space = space_of("mlp")
    how = {"proxies": ["params", "synflow", "random"], "parts": ["proxies"]}
    found = explain((space, "mlp(24)"), samples=8, seed=1, **how)  # type: ignore[arg-type]
    texts = drawn(space, 8, 1)
    others = scored(space, texts, ["params", "synflow"], seed=1, data="digits", inputs=[3, 16, 16])
    mine = scored(space, ["mlp(24)"], ["params", "synflow"], seed=1, data="digits", inputs=[3, 16, 16])
    for name in ("params", "synflow"):
        place, values = found.standing(name), others[name].values[:, 0]
        assert place is not None
        assert place.value == pytest.approx(mine[name].values[0, 0])
        below = sum(value < place.value for value in values) + 0.5 * sum(value == place.value for value in values)
        assert place.percentile == pytest.approx(100 * below / len(values))
    assert "3x16x16, half of 3x32x32" in found.looked
