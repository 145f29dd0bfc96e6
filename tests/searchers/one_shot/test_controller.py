"""The controller: how likely it says its decisions are, and how likely they are."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from foresee.searchers.one_shot.controller import Controller
from foresee.searchers.supernet import Decision
from foresee.seeds import generator

TWO = (
    Decision("op", ("a", "b", "c"), (("op", 0), ("op", 1), ("op", 2))),
    Decision("inputs", ("0", "1", "2"), (("inputs", 0), ("inputs", 1), ("inputs", 2)), keep=2),
)


def controller(scale=1.0, **changes):
    made = Controller(TWO, **{"hidden": 8, "temperature": 1.0, "bound": 0.0, "generator": generator(1), **changes})
    with torch.no_grad():
        for parameter in made.parameters():
            parameter *= scale
    return made


def test_weights_are_drawn_between_a_tenth_by_the_generator_alone():
    before = torch.get_rng_state()
    one, other = controller(), controller()
    assert torch.equal(torch.get_rng_state(), before)
    for ours, theirs in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        assert ours.abs().max() <= 0.1
    assert torch.cat([one.flatten() for one in one.parameters()]).std().item() == pytest.approx(
        0.2 / math.sqrt(12), rel=0.1
    )


def test_what_it_says_is_likely_comes_as_often():
    """Drawn in turn without replacement: the logarithms it gives, against how often each outcome comes."""
    one = controller(30.0)
    numbers = generator(5)
    with torch.no_grad():
        drawn = [one(numbers) for _ in range(700)]
    counts = Counter(policy.picks for policy in drawn)
    likely = {policy.picks: policy.log_probability.exp().item() for policy in drawn}
    assert len(counts) > 4
    assert max(likely.values()) > 2 / 18  # not uniform
    assert sum(likely.values()) == pytest.approx(1, abs=0.05)  # nearly all outcomes came
    for picks, count in counts.items():
        assert len(set(picks[1])) == 2
        assert abs(count / 700 - likely[picks]) < 5 * math.sqrt(likely[picks] / 700)


def test_an_even_controller_has_the_entropy_of_even_chances():
    policy = controller(0.0)(generator(0))
    assert policy.entropy.item() == pytest.approx(2 * math.log(3) + math.log(2))
    assert policy.log_probability.item() == pytest.approx(-2 * math.log(3) - math.log(2))


def test_logits_are_bounded():
    wild = controller(1000.0, temperature=5.0, bound=2.5)
    policy = wild(generator(0))
    # no option is less likely than e^-2.5 over 2 e^2.5 + e^-2.5
    least = math.log(math.exp(-2.5) / (2 * math.exp(2.5) + math.exp(-2.5)))
    assert policy.log_probability.item() >= 3 * least - 1e-4


def test_reinforce_makes_it_prefer_what_is_rewarded():
    one, numbers = controller(), generator(2)
    teacher = torch.optim.Adam(one.parameters(), 0.05)
    for _ in range(60):
        policy = one(numbers)
        reward = float(policy.picks[0] == (1,)) + float(set(policy.picks[1]) == {0, 2})
        teacher.zero_grad()
        (-(reward - 1.0) * policy.log_probability).backward()
        teacher.step()
    with torch.no_grad():
        last = [one(numbers).picks for _ in range(20)]
    assert sum(picks[0] == (1,) and set(picks[1]) == {0, 2} for picks in last) > 15
