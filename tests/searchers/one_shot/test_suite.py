"""Every one-shot searcher passes the suite; on each space it fits; killed at any moment it ends as if never touched."""

from __future__ import annotations

import json

import pytest
from tests.killing import run_script
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import SETTINGS, done, searcher

from foresee.errors import RunError, UnsupportedError
from foresee.runs.store import Store
from foresee.searchers import run_search
from foresee.searchers.base import make, searchers
from foresee.searchers.one_shot.base import OneShotSearcher, all_settings
from foresee.testing import SearcherSuite
from foresee.testing.searchers import essence
from foresee.training import checkpoints


class Suite(SearcherSuite):
    """On a space whose one-shot network costs nothing."""

    space = two_edges.NAME
    space_settings = {}
    limits = {"params": {"max": 1000}}
    evaluations = 4
    interruptions = (1, 2)


class TestFirst(Suite):
    searcher = "darts_1st"
    settings = SETTINGS["darts_1st"]


class TestSecond(Suite):
    searcher = "darts_2nd"
    settings = SETTINGS["darts_2nd"]


class TestSNAS(Suite):
    searcher = "snas"
    settings = SETTINGS["snas"]


class TestGDAS(Suite):
    searcher = "gdas"
    settings = SETTINGS["gdas"]


class TestENAS(Suite):
    searcher = "enas"
    settings = SETTINGS["enas"]
    interruptions = (1, 3)


class TestSETN(Suite):
    searcher = "setn"
    settings = SETTINGS["setn"]
    interruptions = (1, 3)


class TestRSPS(Suite):
    searcher = "rsps"
    settings = SETTINGS["rsps"]
    interruptions = (1, 3)


class TestPartial(Suite):
    searcher = "pc_darts"
    settings = SETTINGS["pc_darts"]
    space = "nasbench201"
    space_settings = SearcherSuite.space_settings
    limits = SearcherSuite.limits
    evaluations = 8
    test_a_limit_that_nothing_meets_is_said = None  # seen above


SUITES = {one.searcher: one for one in Suite.__subclasses__()}


def test_all_of_them_are_tested():
    ours = {name for name in searchers if issubclass(searchers[name], OneShotSearcher)}
    assert ours == set(SETTINGS) == set(SUITES)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("space", ["nasbench1shot1_s2", "darts"])
def test_each_of_them_searches_each_space(name, space):
    one = searcher(name, space, said={"epochs": 2, "batches": 1, "batch": 2}, evaluations=2)
    outcomes = done(one)
    first, second = one.ask(2)
    assert first.identity != second.identity
    assert one.space.parse(str(first.architecture)) == first.architecture
    assert one.space.parse(outcomes[1]["architecture"])
    assert json.loads(json.dumps(outcomes)) == outcomes  # plain, as the store wants them


@pytest.mark.parametrize("name", SETTINGS)
def test_what_does_not_fit_is_refused_with_what_does(name):
    for space in ("mlp", "autoformer_tiny", "nasrec_small", "nasbench101"):
        assert searchers[name].fits(type(_space(space)))
    with pytest.raises(
        UnsupportedError, match=r"mlp has no one-shot network; it searches darts, nasbench1shot1_s1.*nasbench201"
    ):
        make(name, _problem_of("mlp"), {})


def _space(name):
    from foresee.spaces.base import spaces

    return object.__new__(spaces[name])


def _problem_of(space):
    from foresee.scoring import Scorer, ScoringSettings
    from foresee.searchers.problem import Problem

    return Problem(Scorer(space, ScoringSettings(proxies=("params",), data="synthetic")))


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_says_what_the_paper_took(name):
    kind = searchers[name]
    ours = {"batches", "one_shot", "followed", "looks", "again"}
    assert set(all_settings(kind)) - ours <= set(kind.published)
    assert set(kind.published) <= set(all_settings(kind))


# -- what is kept beside the run ----------------------------------------------------------------------------------------
def asked(name, **changes):
    return SUITES[name]().asked(**changes)


def told(folder):
    with Store.open(folder / "run.sqlite") as store:
        return essence(store.record(), store.get("searcher_state"))


SCRIPT = """
import json, sys
from foresee.runs.store import Store
from foresee.searchers import SearchSettings, run_search
from foresee.searchers.one_shot.kept import Kept
from tests.killing import at_moments, die, whole
from tests.searchers import two_edges

def die_before(thing, name, at):
    plain = getattr(thing, name)
    def dying(self, number, *rest, **more):
        if number == at:
            die()
        return plain(self, number, *rest, **more)
    setattr(thing, name, dying)

def search(folder, moment=None):
    if moment is not None:
        what, step = moment
        die_before(*{"trained": (Kept, "write", step + 1), "kept": (Store, "add_step", step)}[what])
    run_search(SearchSettings.from_json(cases[folder.rpartition("/")[2]]), out=folder, resume=True)

cases = json.loads(sys.argv[1])
for place, name in enumerate(cases):
    whole(search, f"whole/{name}")
    # both moments and both steps of every two searchers: no moment depends on which searcher it is
    first, second = ("trained", "kept") if place % 2 else ("kept", "trained")
    at_moments(search, name, [(first, 0), (second, 1)])
"""


@pytest.mark.slow
def test_killed_before_and_after_the_weights_are_kept(tmp_path):
    """SIGKILL when a step is trained but not kept, and when it is kept but not stored; in one step after the other."""
    run_script(SCRIPT, tmp_path, json.dumps({name: asked(name).to_json() for name in SETTINGS}))
    for name in SETTINGS:
        assert told(tmp_path / name) == told(tmp_path / "whole" / name), name
        ours, theirs = (checkpoints.read(one / name, "weights")[0] for one in (tmp_path, tmp_path / "whole"))
        assert ours.keys() == theirs.keys()
        assert all(bool((ours[key] == theirs[key]).all()) for key in ours), name


def stopped_after(steps, folder, name="darts_1st"):
    def stop(event):
        if event.kind == "step" and event.details["step"] == steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_search(asked(name), out=folder, observers=[stop])


@pytest.mark.parametrize("loss", ["gone", "torn", "of another search"])
def test_weights_that_are_lost_are_learned_again(tmp_path, loss):
    run_search(asked("darts_1st"), out=tmp_path / "whole")
    stopped_after(1, tmp_path / "hit")
    file = tmp_path / "hit" / "weights.safetensors"
    if loss == "gone":
        file.unlink()
    elif loss == "torn":
        file.write_bytes(file.read_bytes()[:-100])
    else:
        tensors, facts = checkpoints.read(tmp_path / "whole", "weights")
        checkpoints.write(tmp_path / "hit", "weights", tensors, {**facts, "of": "another", "steps": 1})
    run_search(asked("darts_1st"), out=tmp_path / "hit", resume=True)
    assert told(tmp_path / "hit") == told(tmp_path / "whole")


def test_weights_that_cannot_be_learned_again_end_the_run(tmp_path, monkeypatch):
    stopped_after(1, tmp_path)
    (tmp_path / "weights.json").unlink()
    kind = searchers["darts_1st"]
    plain = kind.learn
    monkeypatch.setattr(kind, "learn", lambda self, number: {**plain(self, number), "loss": 7.0})
    with pytest.raises(
        RunError, match="the weights of this run are gone, and learned again step 0 gives something else"
    ):
        run_search(asked("darts_1st"), out=tmp_path, resume=True)
