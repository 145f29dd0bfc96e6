"""The suite passes on our searchers, and fails on searchers that break one promise each."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.searchers import stepping

import foresee
from foresee.searchers.base import searchers
from foresee.testing import SearcherSuite


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    """The searchers of the tests, for as long as a test lasts."""
    searchers.names()
    known = dict(searchers._things)
    mine = [one for one in vars(stepping).values() if isinstance(one, type) and one.__module__ == stepping.__name__]
    monkeypatch.setattr(searchers, "_things", {**known, **{one.__name__.lower(): one for one in mine}})


class TestRandom(SearcherSuite):
    searcher = "random"


class TestRandomFollowsSeveral(SearcherSuite):
    searcher = "random"
    proxies = ("naswot", "grad_norm")
    objectives = ("naswot", "params")
    evaluations = 8


class TestEvolution(SearcherSuite):
    searcher = "evolution"
    settings = {"population": 8, "sample": 3}


class TestSteps(SearcherSuite):
    searcher = "stepping"
    evaluations = 10
    interruptions = (1, 2, 4, 9)


# -- the suite can fail -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("searcher", "test"),
    [
        ("careless", "test_same_seed_same_run"),
        ("smuggler", "test_limits_hold_and_nobody_comes_twice"),
        ("silent", "test_a_limit_that_nothing_meets_is_said"),
        ("hasty", "test_the_order_of_answers_does_not_matter"),
        ("fainthearted", "test_failures_are_survived"),
        ("forgetful", "test_interrupted_and_resumed_it_ends_the_same"),
        ("planner", "test_given_more_it_ends_as_if_asked_for_all_at_once"),
        ("secretive", "test_what_it_knows_is_plain"),
    ],
)
def test_a_broken_promise_is_found(searcher, test):
    suite = type("Suite", (SearcherSuite,), {"searcher": searcher, "evaluations": 16, "interruptions": (2,)})()
    with pytest.raises((AssertionError, TypeError)):
        getattr(suite, test)()


def test_every_searcher_here_has_its_suite():
    """Beside these here, in the test of its file."""
    for file in Path(foresee.searchers.__file__).parent.glob("*.py"):
        if find_spec(f"tests.searchers.test_{file.stem}"):
            import_module(f"tests.searchers.test_{file.stem}")
    tested = {one.searcher for one in SearcherSuite.__subclasses__()}
    assert {name for name in searchers if searchers[name].__module__.startswith("foresee.")} <= tested
