"""Text, configurations and validity of AutoFormer architectures."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.spaces.autoformer import Architecture, AutoFormerTiny
from foresee.spaces.autoformer.architecture import from_config, parse


@st.composite
def architectures(draw):
    depth = draw(st.integers(1, 16))
    ratios = st.sampled_from([0.5, 1.0, 3.0, 3.5, 4.0])
    mlp = draw(st.lists(ratios, min_size=depth, max_size=depth))
    heads = draw(st.lists(st.integers(1, 12), min_size=depth, max_size=depth))
    return Architecture(draw(st.integers(2, 700)), tuple(mlp), tuple(heads))


@examples(50)
@given(architectures())
def test_text_round_trip(one):
    assert parse(str(one)) == one
    assert parse(str(one).replace(" ", "").replace(".0", "")) == one
    depth, *numbers = json.loads(str(one).replace("(", "[").replace(")", "]"))
    assert (depth, numbers[-1], len(numbers)) == (one.depth, one.embed, 2 * one.depth + 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2, 3.5, 4, 3, 4, 192", "in parentheses"),
        ("(two, 3.5, 4, 3, 4, 192)", "depth: 'two'"),
        ("(0, 192)", "depth: '0'"),
        ("(2, 3.5, 4, 3, 192)", "5 numbers, but depth 2 needs 6"),
        ("(2, 3.5, x, 3, 4, 192)", "mlp ratio of layer 1: 'x'"),
        ("(2, nan, 4, 3, 4, 192)", "mlp ratio of layer 0: 'nan'"),
        ("(2, 3.5, -4, 3, 4, 192)", "mlp ratio of layer 1: '-4'"),
        ("(2, 3.5, 4, 3, 4.5, 192)", "heads of layer 1: '4.5'"),
        ("(2, 3.5, 4, 3, 4, wide)", "width: 'wide'"),
        ("(1, 0.01, 1, 20)", "makes no hidden layer"),
        ("(1, 1e308, 1, 20)", "makes no hidden layer"),
        (f"(1, 4.0, 1, {'9' * 400})", "width 9.*expected 1 to 2,147,483,647"),
        (f"(1, 4.0, {'9' * 400}, 20)", "layer 0: 9.* heads, expected 1 to"),
    ],
)
def test_precise_errors(text, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        parse(text)


def test_wrong_values():
    for wrong, message in (
        ((0, (4.0,), (3,)), "width 0"),
        ((8, (), ()), "one for each layer"),
        ((8, (4.0,), (3, 3)), "1 mlp ratios and 2 heads"),
        ((8, (4.0,), (0,)), "layer 0: 0 heads"),
    ):
        with pytest.raises(InputError, match=message):
            Architecture(*wrong)


def test_hidden_widths_are_cut_off():
    assert Architecture(15, (3.5, 4.0), (1, 1)).hidden == (52, 60)


def test_configurations():
    one = Architecture(192, (3.5, 4.0), (3, 4))
    plain = {"hidden_dim": 192, "mlp_ratio": [3.5, 4.0, 3.5], "depth": 2, "num_heads": [3, 4, 4]}
    assert from_config(plain) == one
    assert from_config({**plain, "embed_dim": 3, "hidden_dim": [192, 192]}) == one
    public = {"embed_dim": [192, 192], "mlp_ratio": [3.5, 4.0], "layer_num": 2, "num_heads": [3, 4]}
    assert from_config(public) == one
    for wrong, message in (
        ([], "expected an object"),
        ({**plain, "depth": 4}, "mlp_ratio .* a list of 4"),
        ({**plain, "depth": "deep"}, "depth: 'deep'"),
        ({**plain, "num_heads": 3}, "num_heads 3"),
        ({**plain, "num_heads": [3, None]}, "heads of layer 1: 'None'"),
        ({**plain, "hidden_dim": [192, 216]}, "one for all layers"),
        ({key: value for key, value in plain.items() if key != "hidden_dim"}, "no hidden_dim or embed_dim"),
    ):
        with pytest.raises(InputError, match=message):
            from_config(wrong)


def test_the_table_of_trained_networks(data_folder):
    path = data_folder / "nas" / "vit_gt_autoformer.json"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} in the data folder")
    rows = json.loads(path.read_text(encoding="utf-8"))
    read = [from_config(row["arch"]) for row in rows]
    assert len(read) == 100
    assert all(map(AutoFormerTiny().contains, read))
    assert [one.embed for one in read[:2]] == [192, 240]
