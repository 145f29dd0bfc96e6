"""Statements as plain values."""

from __future__ import annotations

import json
import math

import pytest

from foresee.errors import InputError
from foresee.insight.theory import Condition, Statement, Step


@pytest.mark.parametrize(
    ("relation", "measured", "bound", "holds"),
    [
        ("<=", 1.0, 2.0, True),
        ("<=", 2.0, 1.0, False),
        ("<=", 1.0 + 1e-12, 1.0, True),
        (">=", 2.0, 1.0, True),
        (">=", 1.0, 2.0, False),
        ("=", 1.0, 1.0 + 1e-12, True),
        ("=", 1.0, 1.1, False),
        ("<=", math.nan, 1.0, False),
        ("<=", 1.0, math.inf, True),
    ],
)
def test_a_step_holds_as_its_sides_stand(relation, measured, bound, holds):
    assert Step("step", measured, bound, relation).holds is holds


def test_a_statement_says_what_fails_and_what_is_not_so():
    found = Statement(
        "Theorem 0",
        "an example",
        (Step("first", 1.0, 2.0), Step("second", 3.0, 2.0, note="printed the wrong way round")),
        (Condition("small", False, 7.0),),
        {"beta": 1.5},
        ("a remark",),
    )
    assert not found.holds
    assert not found.applies
    assert [step.name for step in found.failing] == ["second"]
    assert found.step("fir").bound == 2.0
    words = str(found)
    for part in ("Theorem 0", "second: printed", "assumed: small (7), not so here", "beta = 1.5", "a remark"):
        assert part in words
    assert Statement.from_json(json.loads(json.dumps(found.to_json()))) == found
    with pytest.raises(InputError, match="no step third"):
        found.step("third")
    with pytest.raises(InputError, match="at least one step"):
        Statement("Theorem 0", "nothing", ())
