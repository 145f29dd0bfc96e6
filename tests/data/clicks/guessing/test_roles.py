from __future__ import annotations

import random

import pytest

from foresee.data.clicks.guessing.evidence import Column
from foresee.data.clicks.guessing.labels import Label
from foresee.data.clicks.guessing.roles import roles
from foresee.data.clicks.guessing.sampling import Sample

rng = random.Random(0)
CLICKS = [str(int(rng.random() < 0.3)) for _ in range(300)]


def role(name, values, *, whole=True):
    sample = Sample(("click", name), (tuple(CLICKS), tuple(values)), ",", True, whole)
    columns = [Column(one, some) for one, some in zip(sample.names, sample.columns, strict=True)]
    (_, found), warnings = roles(columns, Label("click", ("1",), ("0",), "said"), sample)
    return found, warnings


@pytest.mark.parametrize(
    ("name", "values", "whole", "expected"),
    [
        ("x", ["same"] * 300, True, "left out"),
        ("x", ["same"] * 300, False, "category"),
        ("x", [""] * 300, False, "left out"),
        ("row", [str(k) for k in range(300)], True, "left out"),
        ("price", [str(k * k % 307) for k in range(300)], True, "number"),
        ("user_id", [f"u{k}" for k in range(300)], True, "left out"),
        ("user_id", [f"u{k}" for k in range(300)], False, "category"),  # of a long file, another in every row seen
        ("uuid", [f"u{k}" for k in range(300)], False, "left out"),
        ("zip", [f"{rng.randrange(500):05}" for _ in range(300)], True, "category"),
        ("text", [f"{k} {'long text ' * 9}" for k in range(150)] * 2, True, "category"),
        ("x", [f"{rng.random():.3f}" for _ in range(300)], True, "number"),
        ("part", [rng.choice(["train", "val", "test"]) for _ in range(300)], True, "split"),
        ("split", [rng.choice(["train", "late"]) for _ in range(300)], True, "left out"),
    ],
)
def test_roles(name, values, whole, expected):
    found, _ = role(name, values, whole=whole)
    assert found.role == expected, found.reason
    assert found.reason


def test_what_is_left_out_for_a_doubtful_reason_is_said():
    assert role("split", ["train", "late"] * 150)[1]
    assert role("price", ["1,50", "2,75", "3.25"] * 100)[1]
    assert not role("price", ["1,50", "2,75", "1.003,25"] * 100)[1]
    assert not role("row", [str(k) for k in range(300)])[1]
