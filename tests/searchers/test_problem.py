"""What a searcher may ask: costs, scores by any proxy, a one-shot network, batches, measured values."""

from __future__ import annotations

import pytest
import torch

import foresee as fs
from foresee.budgets import Limits, params
from foresee.errors import UnknownNameError, UnsupportedError
from foresee.proxies.base import Score
from foresee.runs.record import Objective
from foresee.scoring import Scorer, ScoringSettings
from foresee.scoring.cache import Cache
from foresee.scoring.scorer import Job
from foresee.searchers.problem import Problem, objectives_of

SMALL = {"channels": 2, "cells": 1}
CELLS = (
    "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|",
    "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|",
)


def scorer(*proxies, **changes):
    look = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 8, "seed": 2, **changes}
    return Scorer("nasbench201", ScoringSettings(proxies=proxies or ("naswot",), **look), space_settings=SMALL)


def test_it_says_what_is_searched():
    problem = Problem(scorer(), Limits([params < 1000]), evaluations=7)
    assert problem.space.name == "nasbench201"
    assert problem.task == fs.Task((3, 8, 8), 4)
    assert (problem.device, problem.seed, problem.evaluations) == ("cpu", 2, 7)
    assert problem.data.name == "synthetic"
    assert problem.objectives == (Objective("naswot", "higher"),)
    assert problem.stream("x").random() == problem.stream("x").random()
    assert [len(batch) for batch in problem.batches(2, 5)] == [5, 5]


def test_scores_by_any_proxy_are_those_of_a_search():
    problem = Problem(scorer())
    cells = [problem.space.parse(text) for text in CELLS]
    found = problem.scores(cells, ["grad_norm", "params"])
    alone = problem.scores(cells[1:], ["grad_norm"])
    assert [list(one) for one in found] == [["grad_norm", "params"]] * 2
    assert found[1]["grad_norm"].value == alone[0]["grad_norm"].value
    assert problem.scores(cells[:1], seed=9) != problem.scores(cells[:1])
    [lost] = problem.scores(["nonsense"])
    assert lost["naswot"].status == "failed"
    assert "nonsense" in lost["naswot"].reason


def test_costs_are_found_once_and_recalled():
    problem = Problem(scorer())
    cell = problem.space.parse(CELLS[0])
    assert problem.costs(cell) is problem.costs(cell)
    other = Problem(scorer())
    other.recall({CELLS[0]: {"params": 5.0, "macs": 6.0}})
    assert other.costs(cell)["params"] == 5.0


def test_a_one_shot_network_depends_on_the_seed_alone():
    torch.manual_seed(0)
    first = Problem(scorer()).one_shot().state_dict()
    state = torch.get_rng_state()
    torch.manual_seed(1)
    second = Problem(scorer()).one_shot().state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)
    torch.manual_seed(0)
    assert torch.equal(torch.get_rng_state(), state)
    with pytest.raises(UnsupportedError, match="no one-shot"):
        Problem(Scorer("mlp", ScoringSettings(proxies=("params",), data="synthetic"))).one_shot()


def test_measured_values_come_through_the_problem():
    known = {CELLS[0]: 91.5}
    problem = Problem(scorer(), measure=lambda texts: [known.get(text) for text in texts])
    assert problem.measured(CELLS) == [91.5, None]
    with pytest.raises(UnsupportedError, match="none were handed over"):
        Problem(scorer()).measured(CELLS)


def test_what_objectives_mean():
    made = scorer("naswot", "params", "ntk_cond")
    assert objectives_of((), made) == (Objective("naswot", "higher"),)
    assert objectives_of(("params", "ntk_cond"), made) == (Objective("params", "lower"), Objective("ntk_cond", "lower"))
    assert objectives_of((), scorer("params")) == (Objective("params", "higher"),)  # as a proxy, more is better
    with pytest.raises(UnknownNameError, match="objective 'naswt': did you mean naswot"):
        objectives_of(("naswt",), made)


def test_values_and_what_is_missing():
    made = scorer("naswot")
    problem = Problem(made, objectives=objectives_of(("naswot", "params", "layers"), made))
    assert problem.recorded == ["params", "macs", "layers"]
    good, bad = Score("naswot", 3.0), Score("naswot", None, "nan", "the value is nan")
    assert problem.values(CELLS[0], {"naswot": good}, {"params": 7.0, "layers": 2.0}) == {
        "naswot": 3.0,
        "params": 7.0,
        "layers": 2.0,
    }
    values = {"naswot": 3.0, "params": 7.0, "layers": 2.0}
    assert problem.missing(values, {"naswot": good}) == ""
    del values["naswot"]
    assert problem.missing(values, {"naswot": bad}) == "naswot: nan (the value is nan)"


def test_what_was_measured_is_an_objective():
    made = scorer("params")
    objectives = objectives_of(("measured", "params"), made)
    assert objectives == (Objective("measured", "higher"), Objective("params", "lower"))
    with pytest.raises(UnsupportedError, match="none were handed over"):
        Problem(made, objectives=objectives)
    known = {CELLS[0]: 91.5}
    problem = Problem(made, objectives=objectives, measure=lambda texts: [known.get(text) for text in texts])
    assert problem.values(CELLS[0], {}, {"params": 7.0}) == {"measured": 91.5, "params": 7.0}
    values = problem.values(CELLS[1], {}, {"params": 7.0})
    assert values == {"params": 7.0}
    assert problem.missing(values, {}) == "nothing was measured of it"


def test_scores_are_kept_in_a_cache_and_taken_from_it(tmp_path):
    cells = [scorer().space.parse(text) for text in CELLS]
    asked = []

    def counting(texts, names, seed, space_settings):
        asked.append(list(texts))
        return scorer()(Job(tuple(texts), tuple(names), seed, tuple(space_settings.items())))

    with Cache(tmp_path / "scores.sqlite") as cache:
        first = Problem(scorer(), cache=cache, gather=counting).scores([*cells, cells[0]], ["grad_norm"])
        again = Problem(scorer(), cache=cache, gather=counting).scores(cells, ["grad_norm"])
        other = Problem(scorer(seed=3), cache=cache, gather=counting).scores(cells[:1], ["grad_norm"])
    assert asked == [list(CELLS), [CELLS[0]]]  # each once, and under another seed again
    assert [one["grad_norm"].value for one in first[:2]] == [one["grad_norm"].value for one in again]
    assert first[2] == first[0]
    assert other[0]["grad_norm"].value != first[0]["grad_norm"].value


def test_a_network_that_is_there_is_scored_like_one_that_is_built():
    problem = Problem(scorer("grad_norm"))
    candidate = problem.scorer.candidate(CELLS[1])
    [built] = problem.scores([candidate.architecture], ["naswot", "grad_norm"])
    found = problem.scores_of(candidate.build(), ["naswot", "grad_norm"])
    assert {name: one.value for name, one in found.items()} == {name: one.value for name, one in built.items()}
    assert list(problem.scores_of(candidate.build())) == ["grad_norm"]
    assert problem.scores_of(candidate.build(), seed=9)["grad_norm"].value != found["grad_norm"].value


def test_a_network_that_is_there_is_scored_on_batches_by_weights_that_are_said():
    problem = Problem(scorer("grad_norm"))
    network = problem.scorer.candidate(CELLS[1]).build()
    own = problem.scorer.batches(problem.scorer.proxy("grad_norm"), problem.seed)
    assert problem.scores_of(network, batches=own)["grad_norm"].value == problem.scores_of(network)["grad_norm"].value
    drawn = [problem.scores_of(network, seed=seed, batches=own, initialise="he")["grad_norm"] for seed in (1, 1, 2)]
    assert drawn[0].value == drawn[1].value != drawn[2].value


def test_a_network_that_fails_is_a_score_with_its_reason():
    class Broken(torch.nn.Module):
        def forward(self, x):
            raise RuntimeError("no luck")

    found = Problem(scorer("grad_norm")).scores_of(Broken())["grad_norm"]
    assert (found.status, found.value) == ("failed", None)
    assert "no luck" in found.reason


def test_a_one_shot_network_may_be_for_another_task():
    network = Problem(scorer()).one_shot(fs.Task((1, 5, 5), 3), channels=3)
    assert network(torch.zeros(2, 1, 5, 5)).shape == (2, 3)


def test_scores_under_other_settings_of_the_space_are_kept_apart(tmp_path):
    cell = scorer().space.parse(CELLS[0])
    wide = {"channels": 4}
    with Cache(tmp_path / "scores.sqlite") as cache:
        problem = Problem(scorer(), cache=cache)
        own, other = (problem.scores([cell], ["grad_norm"], space_settings=changed)[0] for changed in ({}, wide))
        assert own["grad_norm"].value != other["grad_norm"].value
        assert len(cache) == 2
        again = problem.scores([cell], ["grad_norm"], space_settings=wide)[0]
        assert again["grad_norm"].value == other["grad_norm"].value
        assert len(cache) == 2
