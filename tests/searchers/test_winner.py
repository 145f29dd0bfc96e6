"""A closer look at the winner: its layers are kept with the run, once."""

from __future__ import annotations

import pytest
from tests.searchers.test_search import go

LOOKED = {"proxies": ["foresee"], "batch_size": 4, "evaluations": 5, "searcher": "random", "searcher_settings": {}}


def layers(run):
    return [(event.candidate, event.details) for event in run.record.events if event.kind == "layers"]


def test_the_layers_of_the_winner_add_up_to_its_score():
    run = go(**LOOKED, finalists=0)
    ((candidate, details),) = layers(run)
    best = run.record.best
    assert candidate == best.id
    score = best.scores["foresee"]
    assert sum(details["layers"].values()) == pytest.approx(score.value)
    assert list(details["layers"]) == [
        name for name, _ in run.best.build().named_modules() if name in details["layers"]
    ]


def test_they_are_looked_at_once_and_again_where_another_wins(tmp_path):
    go(tmp_path / "r", **LOOKED)
    assert len(layers(go(tmp_path / "r", **LOOKED, resume=True))) == 1
    more = go(tmp_path / "r", **{**LOOKED, "evaluations": 21}, resume=True)
    found = [candidate for candidate, _ in layers(more)]
    assert found[-1] == more.record.best.id
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("change", [{"proxies": ["params"]}, {"proxy_settings": {"foresee": {"columns": 4}}}])
def test_other_scores_have_no_such_layers(change):
    assert layers(go(**{**LOOKED, **change})) == []
