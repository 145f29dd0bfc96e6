"""PlainNet strings, and what super-blocks are made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.plainnet.architecture import (
    BASIC,
    BOTTLENECK,
    CONVS,
    INVERTED,
    KINDS,
    Architecture,
    Block,
    Conv,
    chained,
    parse,
    rounded,
    units,
)
from foresee.spaces.plainnet.space import split

NUMBERS = st.integers(1, 300)


@st.composite
def blocks(draw):
    kind = draw(st.sampled_from(sorted(KINDS)))
    bottleneck = 0 if kind in CONVS else draw(NUMBERS)
    return Block(kind, draw(NUMBERS), draw(NUMBERS), draw(st.integers(1, 2)), bottleneck, draw(st.integers(1, 9)))


@examples(40)
@given(st.lists(blocks(), min_size=1, max_size=6))
def test_text_round_trip(made):
    one = chained(made)
    assert parse(str(one)) == one
    assert parse(" " + str(one).replace(")", ") ").replace(",", ", ")) == one
    assert one.layers == sum(block.layers for block in made)
    assert [block.outputs for block in one.blocks] == [block.outputs for block in made]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no blocks"),
        ("SuperConvK3BNRELU(3,8,1,1)?", r"block 1: '\?' is no block"),
        ("SuperConvK3BNRELU(3,8,1,1)SuperResK3K3(8,16,1", "block 1: 'SuperResK3K3.8,16,1' is no block"),
        (
            "SuperConvK3BNRELU(3,8,1,1)SuperResK3K4(8,16,1,8,1)",
            "type of block 1 'SuperResK3K4': did you mean SuperResK3K3",
        ),
        ("SuperConvK3BNRELU(3,8,1,1,1)", "block 0, SuperConvK3BNRELU: 5 numbers, expected 4"),
        ("SuperResK3K3(8,16,1,1)", "4 numbers, expected 5: inputs, outputs, stride, bottleneck, layers"),
        ("SuperConvK3BNRELU(3,8,1,x)", "layers 'x'"),
        ("SuperConvK3BNRELU(3,-8,1,1)", "outputs '-8'"),
        ("SuperConvK3BNRELU(3,8,0,1)", "stride '0'"),
        ("SuperConvK3BNRELU(3,8,1,99999999999)", "layers '99999999999'"),
        (
            "SuperConvK3BNRELU(3,8,1,1)SuperResK3K3(16,16,1,8,1)",
            "block 1, SuperResK3K3.16,16,1,8,1.: reads 16 channels, but block 0 gives 8",
        ),
    ],
)
def test_precise_errors(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)


def test_wrong_values():
    with pytest.raises(UnknownNameError, match="block type"):
        Block("SuperResK9K9", 8, 8, 1, 8, 1)
    with pytest.raises(InputError, match="bottleneck 0"):
        Block("SuperResK3K3", 8, 8, 1, 0, 1)
    with pytest.raises(InputError, match="no blocks"):
        Architecture(())


def test_types():
    assert INVERTED[:5] == tuple(f"SuperResIDWE{e}K{k}" for e, k in ((1, 3), (2, 3), (4, 3), (6, 3), (1, 5)))
    assert BASIC == ("SuperResK3K3", "SuperResK5K5", "SuperResK7K7")
    assert BOTTLENECK == ("SuperResK1K3K1", "SuperResK1K5K1", "SuperResK1K7K1")
    assert len(KINDS) == 2 + 12 + 6


def test_convolutions_are_units_without_bridge():
    made = units(Block("SuperConvK3BNRELU", 3, 8, 2, 0, 2))
    assert [unit.convs for unit in made] == [(Conv(3, 8, 3, 2),), (Conv(8, 8, 3),)]
    assert not any(unit.residual or unit.projected for unit in made)


def test_basic_units():
    made = units(Block("SuperResK5K5", 16, 16, 2, 24, 2))
    assert [unit.convs for unit in made] == [
        (Conv(16, 24, 5, 2), Conv(24, 16, 5)),
        (Conv(16, 24, 5), Conv(24, 16, 5)),
    ]
    assert [unit.projected for unit in made] == [True, False]
    assert made[0].projection == Conv(16, 16, 1, 2)


def test_the_first_unit_is_projected_even_where_the_shape_stays():
    made = units(Block("SuperResK1K7K1", 16, 16, 1, 8, 2))
    assert [unit.projected for unit in made] == [True, False, False, False]
    assert made[3].convs == (Conv(16, 8, 1), Conv(8, 8, 7), Conv(8, 16, 1))


def test_a_bottleneck_layer_is_two_units_of_which_the_first_is_strided():
    made = units(Block("SuperResK1K3K1", 8, 16, 2, 24, 1))
    assert [unit.convs[1].stride for unit in made] == [2, 1]
    assert [unit.convs[0].inputs for unit in made] == [8, 16]


def test_an_inverted_layer_goes_to_the_bottleneck_first():
    made = units(Block("SuperResIDWE4K7", 8, 24, 2, 16, 2))
    assert made[0].convs == (Conv(8, 64, 1), Conv(64, 64, 7, 2, 64), Conv(64, 16, 1))
    assert made[1].convs == (Conv(16, 96, 1), Conv(96, 96, 7, 1, 96), Conv(96, 24, 1))
    assert made[2].convs[0] == Conv(24, 64, 1)
    assert [unit.projected for unit in made] == [True, True, True, True]
    equal = units(Block("SuperResIDWE4K7", 8, 24, 2, 24, 2))
    assert [unit.projected for unit in equal] == [True, False, False, False]


def test_hidden_widths_are_multiples_of_eight():
    assert units(Block("SuperResIDWE1K3", 8, 12, 1, 3, 1))[0].convs[0].outputs == 8
    assert [rounded(width) for width in (1, 11, 13, 256.1)] == [8, 8, 16, 256]


def test_splitting_keeps_channels_stride_and_layers():
    for layers in range(1, 10):
        block = Block("SuperResK3K3", 8, 16, 2, 24, layers)
        parts = split(block)
        assert sum(part.layers for part in parts) == layers
        assert (parts[0].inputs, parts[0].stride, parts[-1].outputs) == (8, 2, 16)
        assert [part.layers for part in parts] == ([layers] if layers < 6 else [3, layers - 3])
