"""Ensembles as rows: a sampler is asked for what matters to it alone, and what it spent is said."""

from __future__ import annotations

from foresee.papers import Workshop
from foresee.papers.nesbs.rows import ENSEMBLES, apart, asked, errors, others, spent


def test_only_what_matters_is_asked():
    assert asked(ENSEMBLES, "deep:ENAS") == {"size": 3}
    assert asked(ENSEMBLES, "svgd_rd") == {"size": 3, "iterations": 5}
    assert asked(ENSEMBLES, "nes_rs") == {"size": 3, "pool": 4}
    assert asked({**ENSEMBLES, "pool": 0}, "nes_re") == {"size": 3, "pool": None}, "as many as the budget trains"


def test_rows_of_ours_are_left_out_where_some_rows_are_asked_for():
    assert others(Workshop(), ENSEMBLES) == {
        "uniform at equal budget": "uniform",
        "nes-rs at equal budget": "nes_rs",
        "svgd-rd, training-free by naswot": "svgd_rd:naswot",
    }
    assert not others(Workshop(rows=("nes-rs",)), ENSEMBLES)


def test_what_was_spent():
    budget = {"networks": 3, "epochs": 60, "supernet_epochs": 20, "seconds": {"supernet": 1.5, "members": 2.0}}
    found = {cell.column: cell.estimate.value for cell in spent("row", {0: {"budget": budget}})}
    assert found == {"networks trained": 3.0, "epochs of all trainings": 80.0, "seconds": 3.5}


def test_differences_are_of_the_seeds_that_both_have():
    one, other = (
        {seed: {"test": {"error": error}} for seed, error in many.items()}
        for many in ({0: 0.5, 2: 0.25}, {2: 0.5, 3: 0.1})
    )
    assert apart(one, other) == [-25.0]
    assert errors(one) == [50.0, 25.0]
