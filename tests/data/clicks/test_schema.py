"""Schemas: the named ones, files, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.data.clicks.schema import Schema, known, schema
from foresee.errors import InputError, UnknownNameError

SMALL: dict[str, Any] = {"label": "y", "numeric": ("a", "b"), "categories": ("c",)}


@pytest.mark.parametrize(
    ("name", "numbers", "categories", "columns"), [("criteo", 13, 26, 40), ("avazu", 1, 23, 24), ("kdd2012", 3, 10, 14)]
)
def test_the_named_ones_have_the_published_features(name: str, numbers: int, categories: int, columns: int) -> None:
    found = schema(name)
    assert (len(found.numeric), len(found.categories)) == (numbers, categories)
    assert found.columns is not None
    assert len(found.columns) == columns
    assert found.name == name
    assert name in known()


@pytest.mark.parametrize("name", known())
def test_text_forms_go_round(name: str, tmp_path: Path) -> None:
    found = schema(name, split={"by": "random", "seed": 3})
    assert Schema.from_json(found.to_json()) == found
    (tmp_path / f"{name}.toml").write_text(found.to_toml())
    again = schema(tmp_path / f"{name}.toml")
    assert again == found
    assert again.fingerprint == found.fingerprint


TEXT = st.text(min_size=1, max_size=8)


@given(st.lists(TEXT, min_size=4, max_size=6, unique=True), st.lists(TEXT, min_size=1, max_size=3), st.booleans())
def test_any_schema_goes_round(names: list[str], positive: list[str], hashed: bool) -> None:
    label, *rest = names
    try:
        found = Schema(
            label=label, positive=tuple(positive), numeric=rest[:1], categories=rest[1:], buckets=7 if hashed else None
        )
    except InputError:
        assert any(one[0] in "<>" for one in positive)
        return
    import tomllib

    assert Schema.from_json(tomllib.loads(found.to_toml())) == found
    assert found.fingerprint == Schema.from_json(found.to_json()).fingerprint


def test_a_file_may_begin_as_another(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "criteo"\nleast = 10\n[split]\nby = "order"\n')
    found = schema(str(tmp_path / "mine.toml"))
    assert found.numeric == schema("criteo").numeric
    assert (found.least, found.name, found.split["by"]) == (10, "mine", "order")


def test_the_fingerprint_is_of_what_matters() -> None:
    first = Schema(**SMALL)
    assert first.fingerprint == Schema(**SMALL, name="other").fingerprint
    assert first.fingerprint != Schema(**SMALL, least=3).fingerprint
    assert first.fingerprint == Schema(**SMALL, split={}).fingerprint


@pytest.mark.parametrize(
    ("positive", "negative", "text", "means"),
    [
        (("1",), (), "1", True),
        (("1",), (), " 1.0 ", True),
        (("1",), (), "0", False),
        (("1",), (), "2", None),
        (("1",), (), "", None),
        ((">50K",), (), ">50K", True),
        ((">50K",), (), "<=50K", False),
        ((">50K",), ("<=50K",), "unknown", None),
        ((">0",), (), "3", True),
        ((">0",), (), "0", False),
        ((">0",), (), "many", None),
        (("<2",), (), "1", True),
        (("yes", "y"), ("no",), "y", True),
    ],
)
def test_answers(positive: tuple[str, ...], negative: tuple[str, ...], text: str, means: bool | None) -> None:
    assert Schema(**SMALL, positive=positive, negative=negative).answer(text) is means


def test_sources_are_read_once() -> None:
    found = schema("avazu", split={"by": "column", "column": "fold"})
    assert found.sources[0] == "click"
    assert found.sources.count("hour") == 1
    assert "fold" in found.sources
    assert "hour_of_day" not in found.sources


def test_a_split_by_column_knows_the_usual_words() -> None:
    split = Schema(**SMALL, split={"by": "column", "column": "s"}).split
    assert "dev" in split["values"]["val"]
    assert "train" in split["values"]["train"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": ""}, "label is empty"),
        ({"label": "a"}, "'a' is named twice"),
        ({"numeric": (), "categories": ()}, "at least one column"),
        ({"numeric": "a"}, "expected a list of columns"),
        ({"positive": ()}, "positive is empty"),
        ({"negative": ("1.0",)}, "means yes and no"),
        ({"positive": (">0", "5")}, "stands alone"),
        ({"log": ("c",)}, "unknown numeric column in log"),
        ({"log": "all"}, "counts"),
        ({"columns": ("y", "a", "b")}, "not in columns"),
        ({"columns": ("y", "a", "a", "b", "c")}, "stands there twice"),
        ({"decimal_commas": ("c",)}, "unknown numeric column in decimal_commas"),
        ({"optional": ("d",)}, "unknown column in optional"),
        ({"delimiter": ",,"}, "one character"),
        ({"fill": "median"}, "mean, zero"),
        ({"least": 0}, "at least 1"),
        ({"buckets": 0}, "at least 1"),
        ({"rows": 2.5}, "whole number"),
        ({"derived": {"h": {"from": "t"}}}, "from, take and format"),
        ({"derived": {"c": {"from": "t", "take": "second", "format": "iso"}}}, "unknown part of a time"),
        ({"derived": {"h": {"from": "t", "take": "hour", "format": "iso"}}}, "neither among"),
        ({"split": {"by": "luck"}}, "unknown split"),
        ({"split": {"by": "time"}}, "time = ..."),
        ({"split": {"by": "random", "train": 0.5, "val": 0.1}}, "sum up to 1"),
        ({"split": {"by": "random", "train": 0.0, "val": 1.0}}, "sum up to 1"),
        ({"split": {"by": "order", "seed": 1}}, "unknown value of a split"),
        ({"split": {"by": "random", "seed": "x"}}, "whole number"),
        ({"split": {"by": "column"}}, "needs its name"),
        ({"split": {"by": "column", "column": "s", "values": {"val": ["v"]}}}, "lists of the column's values"),
        ({"split": {"by": "column", "column": "s", "values": {"train": ["v"], "val": ["v"]}}}, "twice"),
    ],
)
def test_what_is_senseless_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Schema(**{**SMALL, **changes})


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean criteo"):
        schema("critoe")
    with pytest.raises(UnknownNameError, match="did you mean least"):
        schema("criteo", leest=3)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        schema(tmp_path / "no.toml")
    (tmp_path / "bad.toml").write_text("label = ")
    with pytest.raises(InputError, match="not valid TOML"):
        schema(tmp_path / "bad.toml")
    (tmp_path / "odd.toml").write_text('label = "y"\nnumerics = ["a"]')
    with pytest.raises(UnknownNameError, match="did you mean numeric"):
        schema(tmp_path / "odd.toml")
    (tmp_path / "less.toml").write_text('numeric = ["a"]')
    with pytest.raises(InputError, match="label is missing"):
        schema(tmp_path / "less.toml")
