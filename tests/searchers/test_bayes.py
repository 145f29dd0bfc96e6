"""Bayesian optimisation: near the top in few trials, the same each time, and honest about values that do not exist."""

from __future__ import annotations

import math
import sys

import pytest
import torch

from foresee.errors import InputError, MissingExtraError, UnknownNameError
from foresee.searchers.bayes import DEVIATIONS, Trials, maximise, most_promising, spread, surrogate

BOX = [[-2.0, 0.0], [2.0, 3.0]]


def hill(point):
    """Greatest, 1, at (0.5, 2)."""
    return math.exp(-float((point[0] - 0.5) ** 2 + (point[1] - 2.0) ** 2))


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("botorch")
    return maximise(hill, BOX, trials=16, seed=3)


def test_a_hill_is_climbed_in_few_trials(found):
    assert found.points.shape == (16, 2)
    assert found.values == tuple(map(hill, found.points))
    assert max(found.values) > 0.97
    assert torch.equal(found.best, found.points[found.values.index(max(found.values))])
    random = maximise(hill, BOX, trials=16, seed=3, method="random")
    assert sum(found.values[5:]) > sum(random.values[5:]) + 1, "the model steers"


def test_a_trial_lies_within_the_bounds_and_is_never_repeated(found):
    lows, highs = torch.tensor(BOX, dtype=torch.float64)
    assert ((found.points >= lows) & (found.points <= highs)).all()
    assert len(found.points.unique(dim=0)) == 16


def test_the_seed_decides_and_the_global_generator_is_left_alone(found):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    again = maximise(hill, BOX, trials=16, seed=3)
    assert torch.equal(again.points, found.points)
    assert torch.equal(before, torch.get_rng_state())
    assert not torch.equal(maximise(hill, BOX, trials=5, seed=4, method="random").points, found.points[:5])


def test_the_first_quarter_needs_no_model_and_random_trials_need_no_extra(found, monkeypatch):
    for library in ("botorch", "gpytorch"):
        monkeypatch.setitem(sys.modules, library, None)
    random = maximise(hill, BOX, trials=16, seed=3, method="random")
    assert torch.equal(random.points[:5], found.points[:5])
    assert torch.equal(random.points, spread(BOX, 2048, 3)[:16])
    with pytest.raises(MissingExtraError, match=r"foresee\[bayes\]"):
        maximise(hill, BOX, trials=16, seed=3)


def test_values_that_do_not_exist_are_not_shown_to_the_model():
    pytest.importorskip("botorch")

    def holed(point):
        return math.nan if point[0] < 0 else hill(point)

    points = spread(BOX, 40, 0)
    tried, values = points[:12], [holed(point) for point in points[:12]]
    known = [i for i, value in enumerate(values) if not math.isnan(value)]
    assert 2 <= len(known) < 12
    alone = most_promising(tried[known], [values[i] for i in known], points[12:])
    assert most_promising(tried, values, points[12:]) == alone
    assert holed(maximise(holed, BOX, trials=10, candidates=64).best) > 0
    nowhere = maximise(lambda point: math.nan, BOX, trials=6, candidates=16)
    assert torch.equal(nowhere.points, spread(BOX, 16, 0)[:6])
    assert torch.equal(nowhere.best, nowhere.points[0])


def test_the_most_promising_is_the_top_between_what_was_seen():
    pytest.importorskip("botorch")
    seen, candidates = (
        torch.tensor(x, dtype=torch.float64)[:, None] for x in ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.1, 0.5, 0.9])
    )
    assert most_promising(seen, (-((seen[:, 0] - 0.5) ** 2)).tolist(), candidates) == 1
    assert most_promising(seen, ((seen[:, 0] - 0.45) ** 3).tolist(), candidates) == 2


def test_a_model_is_sure_of_what_it_saw_and_says_what_is_to_be_gained():
    pytest.importorskip("botorch")
    points = spread(BOX, 24, 1)
    values = [hill(point) for point in points]
    model = surrogate(points, values, torch.tensor(BOX, dtype=torch.float64))
    mean, deviation = model.predict(points)
    assert mean.tolist() == pytest.approx(values, abs=0.1)
    corner = torch.tensor([[-2.0, 0.0], [0.5, 2.0]], dtype=torch.float64)
    assert deviation.mean() < model.predict(corner)[1][0]
    upper = model.gain(corner, "ucb")
    assert torch.equal(upper, model.predict(corner)[0] + DEVIATIONS * model.predict(corner)[1])
    assert model.gain(points).argmax() in torch.tensor(values).topk(6).indices
    assert surrogate(points[:1], values[:1]) is None
    with pytest.raises(UnknownNameError, match="acquisition"):
        model.gain(points, "pi")


def test_as_many_trials_as_candidates_try_all_of_them():
    found = maximise(hill, BOX, trials=8, candidates=8, method="random")
    assert torch.equal(found.points, spread(BOX, 8, 0))
    assert maximise(hill, BOX, trials=0).values == ()


def test_mistakes_are_named():
    with pytest.raises(UnknownNameError, match="bayes"):
        maximise(hill, BOX, method="bayse")
    for trials in (-1, 65):
        with pytest.raises(InputError, match="at most 64"):
            maximise(hill, BOX, trials=trials, candidates=64)
    for wrong in ([0.0, 1.0], [[0.0]], [[], []]):
        with pytest.raises(InputError, match="the lows and the highs"):
            maximise(hill, wrong)
    for wrong in ([[1.0], [0.0]], [[0.0], [math.inf]], [[math.nan], [1.0]]):
        with pytest.raises(InputError, match="expected finite lows"):
            maximise(hill, wrong)
    with pytest.raises(InputError, match="no best point"):
        Trials(torch.empty(0, 1), ()).best  # noqa: B018
