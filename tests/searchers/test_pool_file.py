"""Pools of files: read safely, let in within the limits, nobody twice."""

from __future__ import annotations

import pytest

from foresee.budgets import Limits
from foresee.errors import InfeasibleError, InputError
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import pool_file
from foresee.searchers.pool import drawn
from foresee.searchers.pool_file import admitted, part, read
from foresee.searchers.problem import Problem

SMALL = {"channels": 2, "cells": 1}


def problem(seed=0, **limits):
    scorer = Scorer("nasbench201", ScoringSettings(proxies=("params",), seed=seed), space_settings=SMALL)
    return Problem(scorer, Limits.from_json(limits))


def test_of_texts_those_that_may_be_searched_are_let_in_once():
    asked = problem(params={"max": 2500})
    texts = [str(one) for one in drawn(problem(), 20, seed=0)]
    fine = [i for i, text in enumerate(texts) if asked.costs(asked.space.parse(text))["params"] <= 2500]
    assert 0 < len(fine) < 20
    assert admitted(asked, [*texts, *texts], "here") == fine
    with pytest.raises(InfeasibleError, match=r"here: no architecture of 20 meets params"):
        admitted(problem(params={"max": 1}), texts, "here")


def test_a_file_is_read_and_what_is_no_number_is_none(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("snip, architecture,other\n 1.5,a,x\n,b,y\ninf,c,z\nnan,d,\n")
    assert read(path, ["snip"]) == (["a", "b", "c", "d"], {"snip": [1.5, None, None, None]})
    with pytest.raises(InputError, match="row 2: other is 'x'"):
        read(path, ["other"])


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "pool.csv"
    path.write_text("architecture\nx\n")
    monkeypatch.setattr(pool_file, "MOST_BYTES", 4)
    with pytest.raises(InputError, match="too large for a pool"):
        read(path, [])
    monkeypatch.undo()
    with pytest.raises(InputError, match="directory"):
        read(tmp_path, [])


def test_a_part_takes_the_same_places_of_all_columns():
    assert part({"a": [1, 2, 3], "b": "xyz"}, [2, 0]) == {"a": [3, 1], "b": ["z", "x"]}
