"""A pool: drawn under a seed of its own, scored in steps that can be stored."""

from __future__ import annotations

import json

from tests.searchers.driving import drive, made, problem

from foresee.searchers.pool import AT_ONCE, Pool, drawn


def filled(pool, stop=None):
    outcomes = []
    for number in range(pool.steps if stop is None else stop):
        outcomes.append(json.loads(json.dumps(pool.step(number))))
        pool.advance(outcomes[-1])
    return outcomes


def test_the_pool_is_drawn_under_a_seed_of_its_own():
    pool = Pool(problem(), 120, "macs")
    filled(pool)
    members = drawn(pool.problem, 120, pool.problem.seed)
    assert pool.members == members
    assert pool.merits == [pool.problem.costs(one)["macs"] for one in members]
    assert pool.steps == -(-120 // AT_ONCE)
    searched, _ = drive(made("random", 50))
    assert [proposal.architecture for proposal in searched] != members[:50]


def test_a_pool_that_was_stopped_goes_on_as_it_would_have():
    whole, resumed = Pool(problem(), 120), Pool(problem(), 120)
    outcomes = filled(whole)
    resumed.advance(outcomes[0])  # as stored
    for number in (1, 2):
        resumed.advance(resumed.step(number))
    assert (resumed.members, resumed.merits) == (whole.members, whole.merits)


def test_steps_change_nothing_by_themselves():
    pool = Pool(problem(), 60)
    assert pool.step(0) == pool.step(0)
    assert pool.members == []


def test_members_are_within_the_limits_and_end_with_the_space():
    pool = Pool(problem(limits={"params": {"max": 1300}}), 200, "params")
    filled(pool)
    assert max(pool.merits) <= 1300
    identities = {pool.problem.space.canonical(one) for one in pool.members}
    assert len(identities) == len(pool.members) < 200  # there are no more


def test_what_has_no_score_comes_last():
    pool = Pool(problem(), 3)
    pool.members, pool.merits = ["a", "b", "c", "d"], [1.0, None, 2.0, 2.0]
    assert pool.ranked == ["c", "d", "a", "b"]


def test_a_pool_depends_on_its_own_seed_and_a_longer_one_begins_with_a_shorter():
    some = drawn(problem(seed=1), 12, seed=7)
    assert some == drawn(problem(seed=2), 12, seed=7) != drawn(problem(seed=2), 12, seed=8)
    assert drawn(problem(), 20, seed=7)[:12] == some
