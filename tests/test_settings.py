"""Settings of any kind: plain form and back, flat parts, what is wrong and where."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from foresee.errors import InputError, UnknownNameError
from foresee.runs.toml import dumps
from foresee.settings import Settings, name, names, needed, part, setting, sizes, table, whole


@dataclass(frozen=True)
class Dough(Settings):
    flour: str = setting("wheat", name("a kind of flour"))
    grams: int | None = setting(None, whole(least=1))
    folds: tuple[int, ...] = setting((2, 3), sizes("a list of numbers of folds"))


@dataclass(frozen=True)
class Baking(Settings):
    oven: str = needed(name("an oven"))
    dough: Dough = part(Dough)  # noqa: RUF009
    guests: tuple[str, ...] = setting((), names())
    spices: Mapping[str, Any] = setting({}, table())


def test_parts_are_written_flat_and_read_back():
    made = Baking.of(oven="stone", flour="rye", folds=[1], spices={"salt": {"grams": 2}})
    assert made == Baking("stone", Dough("rye", folds=(1,)), spices={"salt": {"grams": 2}})
    plain = made.to_json()
    assert plain == {
        "oven": "stone", "flour": "rye", "folds": [1], "guests": [], "spices": {"salt": {"grams": 2}}
    }  # fmt: skip
    assert Baking.from_json(plain) == made
    assert Baking.from_json(tomllib.loads(dumps(plain))) == made


@pytest.mark.parametrize(
    ("plain", "error", "words"),
    [
        ({"flour": "rye"}, InputError, "here: oven is missing"),
        ({"oven": "stone", "flower": "rye"}, UnknownNameError, "setting in here 'flower': did you mean flour"),
        ({"oven": 3}, InputError, "here: oven = 3: expected an oven"),
        ({"oven": "stone", "grams": 0}, InputError, "grams = 0: at least 1 is needed"),
        ({"oven": "stone", "grams": 1.5}, InputError, "expected a whole number"),
        ({"oven": "stone", "grams": True}, InputError, "expected a whole number"),
        ({"oven": "stone", "folds": 3}, InputError, "expected a list of numbers of folds"),
        ({"oven": "stone", "guests": [1]}, InputError, "expected a list of names"),
        ({"oven": "stone", "spices": []}, InputError, "expected a table"),
    ],
)
def test_what_is_wrong_is_named(plain, error, words):
    with pytest.raises(error, match=words):
        Baking.from_json(plain, where="here")


def test_an_unknown_name_in_python_is_named_too():
    with pytest.raises(UnknownNameError, match="did you mean flour"):
        Baking.of(oven="stone", flor="rye")


def test_two_instances_do_not_share_their_tables():
    first, second = Baking("a"), Baking("b")
    assert first.spices is not second.spices
    assert replace(first, oven="b") == second


def test_differences_go_into_parts_and_tables():
    made = Baking.of(oven="stone", grams=5)
    assert made.differences({"oven": "stone", "grams": 5}) == []
    other = {"oven": "gas", "spices": {"salt": 1}}
    assert made.differences(other) == [
        "grams: 5 here, unset in the run",
        "oven: stone here, gas in the run",
        "spices.salt: unset here, 1 in the run",
    ]
