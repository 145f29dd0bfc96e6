"""A searcher asked and told by hand: no engine, no store, merits from a function."""

from __future__ import annotations

from foresee.budgets import Limits
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import Problem, Result
from foresee.searchers.base import make
from foresee.searchers.problem import objectives_of

LOOK = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 4}
SMALL = {"channels": 2, "cells": 1}


def convolutions(architecture) -> float:
    """A merit that is easily climbed: how many edges are 3x3 convolutions, and a little for 1x1."""
    return sum({"nor_conv_3x3": 1.0, "nor_conv_1x1": 0.1}.get(op, 0.0) for op in architecture.ops)


def problem(evaluations=50, space="nasbench201", seed=0, proxies=("params",), objectives=(), limits=None, measure=None):
    settings = ScoringSettings(proxies=proxies, seed=seed, **LOOK)
    scorer = Scorer(space, settings, space_settings=SMALL if space == "nasbench201" else {}, formulas=True)
    return Problem(
        scorer, Limits.from_json(limits or {}), objectives_of(objectives, scorer), evaluations, measure=measure
    )


def made(name, evaluations=50, *, settings=None, **asked):
    return make(name, problem(evaluations, **asked), settings or {})


def drive(searcher, merit=convolutions, evaluations=None, fails=lambda architecture: False):
    """Every candidate is told before the next is asked for; the proposals and what was told."""
    proposals, results, steps = [], [], 0
    for number in range(evaluations or searcher.problem.evaluations):
        assert searcher.told_before(number) <= number
        while steps < searcher.steps_before(number):
            searcher.advance(steps, searcher.step(steps))
            steps += 1
        asked = searcher.ask(1)
        if not asked:
            break
        (proposal,) = asked
        found = merit(proposal.architecture)
        merits = found if isinstance(found, tuple) else (found,)
        failed = fails(proposal.architecture)
        result = Result(
            proposal.id, proposal.architecture, () if failed else merits, reason="unlucky" if failed else ""
        )
        searcher.tell([result])
        proposals.append(proposal)
        results.append(result)
    return proposals, results
