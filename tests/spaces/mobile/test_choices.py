"""What is decided in a mobile network, and texts that cannot be decided so."""

from __future__ import annotations

import pytest

from foresee.errors import InputError
from foresee.spaces.mobile import Mobile
from foresee.spaces.mobile.choices import assembled, decisions, picks_of, variant_count, variants

FRAME = {"widths": (4, 8), "strides": (1, 2), "stem": 4, "first": 4, "head": 8}


def test_names():
    by_stage = Mobile(**FRAME, squeeze=["no", "free"]).choices
    assert [one.name for one in by_stage] == [
        "1.layers", "1.expansion", "1.kernel", "2.layers", "2.expansion", "2.kernel", "2.squeeze"
    ]  # fmt: skip
    by_layer = Mobile(**FRAME, each="layer", layers=(1, 2), squeeze="no").choices
    assert [one.name for one in by_layer][:5] == [
        "1.layers", "1.1.expansion", "1.1.kernel", "1.2.expansion", "1.2.kernel"
    ]  # fmt: skip
    assert (by_stage[1].options, by_stage[-1].options) == (("3", "6"), ("no", "yes"))


def test_what_is_not_there_is_not_decided():
    space = Mobile(**FRAME, each="layer", layers=(1, 2), squeeze="no")
    one = space.parse("e6k3:e3k5+e6k3")
    assert picks_of(space.form, one) == (0, 1, 0, None, None, 1, 0, 1, 1, 0)
    assert assembled(space.form, [0, 1, 0, 1, 1, 1, 0, 1, 1, 0]) == one
    assert len(decisions(space.form)) == 10


@pytest.mark.parametrize("each", ["stage", "layer"])
@pytest.mark.parametrize("squeeze", ["yes", "free"])
def test_variants_are_counted(each, squeeze):
    form = Mobile(**FRAME, each=each, squeeze=squeeze, layers=(1, 3)).form
    listed = list(variants(form, 0))
    assert len(set(listed)) == len(listed) == variant_count(form, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e6k3", "1 stages, expected 2"),
        ("e6k3:e4k3", "stage 2: expansion 4, expected one of 3, 6"),
        ("e6k3:e6k7", "stage 2: kernel 7, expected one of 3, 5"),
        ("e6k3x9:e6k3", "stage 1: 9 layers, expected one of 1, 2, 3, 4"),
        ("e6k3+e3k3:e6k3", "stage 1: layers that differ"),
    ],
)
def test_texts_outside_the_space_name_the_stage(text, message):
    with pytest.raises(InputError, match=message):
        Mobile(**FRAME).parse(text)


def test_gates_that_are_not_free():
    space = Mobile(**FRAME, squeeze=["yes", "no"])
    assert str(space.parse("e6k3s:e3k3")) == "e6k3s:e3k3"
    with pytest.raises(InputError, match="stage 1: e6k3, and this stage has squeeze-and-excitation: write an s"):
        space.parse("e6k3:e3k3")
    with pytest.raises(InputError, match="stage 2: e3k3s, and this stage has none: leave out the s"):
        space.parse("e6k3s:e3k3s")
