"""Who is first under fresh seeds, from plain numbers."""

from __future__ import annotations

import pytest

from foresee.runs.finals import finals, fresh


def told(scores, reason="nan (0/0)"):
    """Events of fresh scores: by candidate, one value per seed; None is a failure."""
    return fresh(
        [
            (candidate, {"number": number, "value": value, "reason": reason if value is None else ""})
            for candidate, values in scores.items()
            for number, value in enumerate(values)
        ]
    )


def test_a_clear_lead_is_ahead_and_a_noisy_one_is_not_told_apart():
    clear = finals([1, 2], 4, told({1: [5.0, 6.0, 7.0, 8.0], 2: [4.0, 5.1, 5.9, 7.0]}))
    assert [one.candidate for one in clear.ranked] == [1, 2]
    assert (clear.verdict, clear.moved) == ("ahead", False)
    assert clear.lead.value == pytest.approx(1.0)
    noisy = finals([1, 2], 4, told({1: [5.0, 9.0, 4.0, 8.0], 2: [6.0, 4.0, 7.0, 5.0]}))
    assert noisy.verdict == "not told apart"
    assert noisy.lead.low < 0 < noisy.lead.high


def test_pairs_tell_apart_what_single_intervals_do_not():
    """Seeds that are good for both cancel: the intervals of the means overlap widely, that of the lead is above 0."""
    found = finals([1, 2], 4, told({1: [10.0, 20.0, 30.0, 40.0], 2: [9.0, 19.1, 29.0, 38.9]}))
    assert found.ranked[0].mean.low < found.ranked[1].mean.value
    assert found.ahead


def test_the_mean_ranks_not_the_search():
    found = finals([1, 2, 3], 2, told({1: [1.0, 1.1], 2: [3.0, 3.1], 3: [2.0, 2.1]}))
    assert [one.candidate for one in found.ranked] == [2, 3, 1]
    assert found.moved
    assert found.chosen == (1, 2, 3)


def test_where_less_is_better_the_least_mean_is_first_and_its_lead_is_positive():
    found = finals([1, 2], 3, told({1: [3.0, 3.1, 3.2], 2: [1.0, 1.2, 1.1]}), sign=-1.0)
    assert found.ranked[0].candidate == 2
    assert found.ahead


def test_one_that_fails_under_a_seed_comes_last_with_its_reason():
    found = finals([1, 2], 3, told({1: [9.0, None, 9.0], 2: [1.0, 1.0, 1.0]}))
    assert [one.candidate for one in found.ranked] == [2, 1]
    assert found.ranked[1].reason == "under 1 of 3 seeds: nan (0/0)"
    assert (found.lead, found.verdict) == (None, "")
    assert finals([1], 3, told({1: [9.0, None, 9.0]})) is None


def test_nothing_is_decided_while_a_score_is_missing():
    scores = {1: [5.0, 6.0], 2: [4.0]}
    assert finals([1, 2], 2, told(scores)) is None
    assert finals([1], 2, told(scores)).ranked[0].candidate == 1
    assert finals([], 2, told(scores)) is None


def test_events_that_make_no_sense_are_left_out():
    good = {"number": 0, "value": 1.0, "reason": ""}
    odd = [
        (None, good),
        (1, {}),
        (1, {**good, "number": "0"}),
        (1, {**good, "value": "high"}),
        (1, {**good, "value": None}),
    ]
    assert fresh(odd) == {}
    assert list(fresh([*odd, (1, good)])) == [(1, 0)]
