"""Which picks moved the score: found where there is an effect, silent where there is too little to say."""

from __future__ import annotations

import math
import random

from foresee.report.importance import FEW, grouped, importance


def made_up(many, seed=0):
    """The score goes with the depth alone; the activation does nothing; the rate is asked of deep ones only."""
    rng = random.Random(seed)
    found = []
    for _ in range(many):
        depth = rng.randint(1, 3)
        picks = {"depth": depth, "act": rng.choice(["relu", "gelu"]), "fixed": 1}
        if depth > 1:
            picks["rate"] = rng.random()
        found.append((picks, 10.0 * depth + rng.gauss(0, 1)))
    return found


def test_the_pick_that_matters_comes_first():
    found = importance(made_up(60))
    assert found[0].name == "depth"
    assert {one.name for one in found} == {"depth", "act", "rate"}  # what never differs says nothing
    depth, act, rate = (next(one for one in found if one.name == name) for name in ("depth", "act", "rate"))
    assert depth.sure
    assert depth.share.value > 0.8
    assert depth.share.low > 0.6
    assert not act.sure
    assert [value.text for value in depth.values] == ["3", "2", "1"]
    assert 29 < depth.values[0].mean.value < 31
    assert rate.asked == sum("rate" in picks for picks, _ in made_up(60)) < 60


def test_less_is_better_turns_the_order_of_answers():
    depth = importance(made_up(60), sign=-1.0)[0]
    assert [value.text for value in depth.values] == ["1", "2", "3"]


def test_few_candidates_say_nothing():
    assert importance(made_up(FEW - 1)) == []
    found = importance([({"a": number, "b": f"v{number}"}, float(number)) for number in range(FEW)])
    lonely = next(one for one in found if one.name == "b")
    assert math.isnan(lonely.share.value)
    assert lonely.note == "10 candidates with 10 answers are too few to say"


def test_equal_scores_say_so():
    [one] = importance([({"a": number % 2}, 1.0) for number in range(20)])
    assert one.note == "all scores are equal"
    assert not one.sure


def test_many_numbers_are_put_into_ranges():
    texts = grouped([float(number) for number in range(40)])
    assert len(set(texts)) == 4
    assert texts[0] == "0 to 9"
    assert grouped([1, "a", 2.5, None]) == ["1", "a", "2.5", "null"]
    assert len(set(grouped([1] * 30 + list(range(10))))) >= 2
    assert len(set(grouped([10**400, float("nan"), float("inf"), *range(9)]))) == 12  # no axis holds these
    assert len(grouped(["x" * 999])[0]) == 40
