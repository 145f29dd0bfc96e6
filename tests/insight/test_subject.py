"""Which architecture is meant: by name, number, text, or itself."""

from __future__ import annotations

import pytest

from foresee.errors import InputError
from foresee.insight.subject import architecture_of
from foresee.spaces import get


def test_by_name_in_any_spelling() -> None:
    darts = get("darts")
    for text in ("DARTS_V2", "darts-v2", " darts_v2 "):
        assert architecture_of(darts, text) == (darts.named["DARTS_V2"], "DARTS_V2")


def test_by_number_as_the_space_lists_them() -> None:
    space = get("nasbench201")
    every = list(space.enumerate())
    assert architecture_of(space, "7") == (every[7], "nasbench201 number 7")
    assert architecture_of(space, 15_624)[0] == every[-1]
    with pytest.raises(InputError, match="0 to 15,624"):
        architecture_of(space, "15625")


def test_digits_are_a_text_where_the_space_writes_so() -> None:
    space = get("nasbench_macro")
    for text in ("00000120", "11202002"):  # not numbers 120 and 11,202,002
        assert architecture_of(space, text) == (space.parse(text), text)
    assert architecture_of(space, "120") == (list(space.enumerate())[120], "nasbench_macro number 120")


def test_a_published_text_gets_its_name() -> None:
    space = get("nasbench201")
    text = str(space.named["ResNet"])
    assert architecture_of(space, text)[1] == "ResNet"
    assert architecture_of(space, space.named["ResNet"])[1] == "ResNet"


def test_a_slip_is_answered_by_the_nearest_name() -> None:
    with pytest.raises(InputError, match="did you mean DARTS_V2"):
        architecture_of(get("darts"), "DRTS_V2")
    with pytest.raises(InputError, match="expected 3 joined"):
        architecture_of(get("nasbench201"), "zzzzzz")
