"""The one-shot searchers at the smallest size that does all they do."""

from __future__ import annotations

from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers.base import make
from foresee.searchers.problem import Problem

TINY = {"epochs": 2, "batches": 2, "batch": 4}
#: what each needs beside that
SETTINGS = {
    "darts_1st": TINY,
    "darts_2nd": {**TINY, "batches": 1},
    "snas": TINY,
    "gdas": TINY,
    "pc_darts": {**TINY, "partial": 2, "warmup": 1},
    "enas": {**TINY, "controller_steps": 2, "hidden": 4, "draws": 3, "followed": 1, "restart": 1},
    "setn": {**TINY, "draws": 3, "followed": 1},
    "rsps": {**TINY, "draws": 3, "followed": 2, "looks": 2, "again": 0},
}
#: by space, its settings and those of its one-shot network
SPACES = {
    "nasbench201": ({"channels": 2, "cells": 1}, {}),
    "nasbench1shot1_s2": ({"channels": 4}, {"channels": 2, "cells": 3}),
    "darts": ({"channels": 4, "layers": 3}, {"channels": 2, "layers": 3}),
}


def problem(space="nasbench201", *, seed=3, evaluations=1, space_settings=None, **settings):
    own = SPACES[space][0] if space in SPACES else {}
    plain = {"proxies": ("params",), "data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "seed": seed}
    scorer = Scorer(space, ScoringSettings(**{**plain, **settings}), space_settings=space_settings or own)
    return Problem(scorer, evaluations=evaluations)


def searcher(name, space="nasbench201", *, said=None, **changes):
    """A searcher of that size on a space."""
    form = {"one_shot": SPACES[space][1]} if space in SPACES else {}
    return make(name, problem(space, **changes), {**SETTINGS[name], **form, **(said or {})})


def done(one, steps=None):
    """So many steps of a searcher, all by default, and what each gave."""
    outcomes = []
    for number in range(one.steps_before(0) if steps is None else steps):
        outcomes.append(one.step(number))
        one.advance(number, outcomes[-1])
    return outcomes
