"""The suite passes on our searchers, and fails on searchers that break one promise each."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from tests.searchers import stepping

from foresee.errors import RunError
from foresee.runs import engines
from foresee.runs.engines import processes
from foresee.searchers.base import searchers
from foresee.spaces.base import spaces
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


class TestSteps(SearcherSuite):
    searcher = "stepping"
    evaluations = 10
    interruptions = (1, 2, 4, 9)


# -- the suite can fail -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("searcher", "test"),
    [
        ("careless", "test_same_seed_same_run"),
        ("carelesswithnumpy", "test_same_seed_same_run"),
        ("carelesswithtorch", "test_same_seed_same_run"),
        ("entropic", "test_same_seed_same_run"),
        ("orphan", "test_limits_hold_and_nobody_comes_twice"),
        ("torn", "test_objectives"),
        ("misfit", "test_it_fits_its_space"),
        ("hasty", "test_every_engine_gives_the_same_run"),
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
    with pytest.raises((AssertionError, TypeError, RunError)):
        getattr(suite, test)()


@pytest.fixture(scope="module")
def ours():
    """The searchers of this project."""
    return [name for name in searchers if searchers[name].__module__.startswith("foresee.")]


def test_every_searcher_here_has_its_suite(ours):
    """Each in the test of its own file, which need not be imported now."""
    files = Path(__file__).parents[1].rglob("test_*.py")
    tested = {
        name for file in files for name in re.findall(r'^    searcher = "(\w+)"$', file.read_text(), re.MULTILINE)
    }
    assert set(ours) <= tested


def test_what_papers_set_is_said_of_settings_that_exist(ours):
    for name in ours:
        kind = searchers[name]
        assert set(kind.published) <= {"evaluations", *inspect.signature(kind).parameters}, name


@pytest.mark.slow
def test_processes_give_the_run_of_one(ours, monkeypatch):
    """Two worker processes, and each searcher that the suite's space is for."""
    monkeypatch.setattr(processes._Start, "method", processes._Start.method)
    engines.get_ready("foresee.scoring.ready")  # so that workers do not import torch one by one
    usual = {"best_of": {"pool": 20}, "genetic": {"population": 8, "mutations": 3, "crossovers": 3}}
    small = {"evolution": {"population": 6, "sample": 3}, "nsga2": {"population": 6}, "batch_evolution": {
        "population": 8, "sample": 4, "children": 4}}  # fmt: skip
    for name in ours:
        if searchers[name].fits(spaces["nasbench201"]) or name not in {*usual, *small, "reinforce", "local_search"}:
            continue
        chosen = {"searcher": name, "settings": {**usual, **small}.get(name, {}), "evaluations": 12}
        suite = type("Suite", (SearcherSuite,), chosen)()
        found = suite.whole(lambda work: engines.make("processes", work, 2)).essence
        assert found == suite.whole().essence, name
