"""Picks: what may be asked, and how answers are drawn and told apart."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from torch import nn

from foresee.errors import InputError
from foresee.spaces import own
from foresee.spaces.own import Interval, Listed


def test_one_and_true_and_one_point_zero_are_three_choices():
    def net(pick):
        return nn.Linear(1, 1 + len(str(pick("x", [1, True, 1.0, "1", None]))))

    space = own(net)
    assert [str(picks) for picks in space.enumerate()] == [f'{{"x":{v}}}' for v in ("1", "true", "1.0", '"1"', "null")]
    assert len(set(space.enumerate())) == space.size == 5
    assert type(space.parse('{"x":true}').values["x"]) is bool


def test_picks_are_drawn_as_asked():
    rng = random.Random(0)
    grid = Listed(range(4, 65, 4))
    assert {grid.draw(rng) for _ in range(500)} == set(range(4, 65, 4))
    logs = Counter(Listed(range(1, 1001), log=True).draw(rng) for _ in range(3000))
    assert 0.2 < sum(count for value, count in logs.items() if value <= 10) / 3000 < 0.55
    assert min(logs) >= 1
    assert max(logs) <= 1000
    rates = [Interval(1e-4, 1.0, log=True).draw(rng) for _ in range(2000)]
    assert 0.4 < sum(rate < 1e-2 for rate in rates) / 2000 < 0.6
    assert all(1e-4 <= rate <= 1.0 for rate in rates)
    assert abs(sum(Interval(0.0, 2.0).draw(rng) for _ in range(2000)) / 2000 - 1.0) < 0.1


def test_ranges_and_parts():
    asked = {}

    def net(pick):
        part = pick.sub("encoder")
        asked["width"] = part.log("width", 8, 512)
        asked["rate"] = part.sub("drop").log("rate", 1e-4, 0.5)
        asked["depth"] = pick.int("depth", 2, 8, step=3)
        return nn.Identity()

    space = own(net)
    picks = space.sample(random.Random(3))
    assert list(picks.values) == ["encoder.width", "encoder.drop.rate", "depth"]
    assert [type(value) for value in picks.values.values()] == [int, float, int]
    assert [str(answers) for answers in picks.answers.values()] == [
        "a whole number from 8 to 512", "a real number from 0.0001 to 0.5", "a whole number from 2 to 8 in steps of 3",
    ]  # fmt: skip
    space.parse(str(picks))
    assert asked["rate"] == picks.values["encoder.drop.rate"]  # to the last bit through the text


def test_the_long_name_of_a_whole_number_stays():
    def net(pick, ask):
        return nn.Linear(1, ask(pick)("n", 1, 9, step=2))

    short, long = own(lambda pick: net(pick, lambda one: one.int)), own(lambda pick: net(pick, lambda one: one.integer))
    assert list(short.enumerate()) == list(long.enumerate())


@pytest.mark.parametrize(
    ("asks", "message"),
    [
        (lambda pick: [pick("a", [1, 2]), pick("a", [1, 2])], "pick 'a' is asked twice"),
        (lambda pick: [pick("a", [1, 2]), pick("a", [3])], "pick 'a' is asked again, now for one of 3"),
        (lambda pick: [pick("a", [1]), pick.integer("a", 1, 3)], "asked again, now for a whole number from 1 to 3"),
        (lambda pick: pick("a", []), "at least one plain value"),
        (lambda pick: pick("a", "abc"), "expected a list"),
        (lambda pick: pick("a", {1, 2}), "expected a list"),
        (lambda pick: pick("a", [nn.ReLU]), "expected a finite str, int, float, bool or None"),
        (lambda pick: pick("a", [(1, 2)]), "choice .1, 2."),
        (lambda pick: pick("a", [float("nan")]), "choice nan"),
        (lambda pick: pick("a", [1, 2, 1]), "the same value twice"),
        (lambda pick: pick("", [1]), "needs a name"),
        (lambda pick: pick(3, [1]), "needs a name"),
        (lambda pick: pick.integer("a", 3, 1), "no whole number from 3 to 1"),
        (lambda pick: pick.integer("a", 1, 3.5), "no whole number"),
        (lambda pick: pick.integer("a", 0, 8, log=True), "log needs low of at least 1"),
        (lambda pick: pick.number("a", 1, 1), "expected a range of numbers"),
        (lambda pick: pick.number("a", 0, 1, log=True), "expected a range of numbers"),
        (lambda pick: pick.number("a", 0, float("inf")), "expected a range of numbers"),
        (lambda pick: pick.log("a", 0, 8), "log needs low of at least 1"),
        (lambda pick: pick.log("a", 0.0, 8), "expected a range of numbers"),
        (lambda pick: pick.sub(""), "a part needs a name"),
        (lambda pick: [pick("a.b", [1, 2]), pick.sub("a")("b", [1, 2])], "pick 'a.b' is asked twice"),
    ],
)
def test_wrong_picks_say_so(asks, message):
    with pytest.raises(InputError, match=message):
        own(lambda pick: asks(pick) and nn.Identity()).sample(random.Random(0))
