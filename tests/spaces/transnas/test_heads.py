"""The heads of the tasks: shapes, siamese tiles, decoders, and their formulas."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import InputError
from foresee.spaces.counting import measure
from foresee.spaces.transnas import TransNASMacro, TransNASMicro, heads
from foresee.task import Task

CASES = [
    ("class", (3, 32, 32), 5, (2, 5)),
    ("regression", (1, 20, 24), 9, (2, 9)),
    ("jigsaw", (3, 50, 49), 11, (2, 11)),
    ("jigsaw", (9, 3, 16, 16), 11, (2, 11)),
    ("dense", (3, 64, 64), 17, (2, 17, 64, 64)),
    ("dense", (3, 37, 50), 3, (2, 3, 37, 50)),
]


@pytest.mark.parametrize(("head", "inputs", "outputs", "shape"), CASES, ids=str)
@pytest.mark.parametrize("kind", [TransNASMicro, TransNASMacro])
def test_forward_and_backward(kind, head, inputs, outputs, shape):
    space, task = kind(channels=2, head=head), Task(inputs, outputs)
    one = space.parse("64-41414-3_13_231" if kind is TransNASMicro else "64-24313-basic")
    network = space.build(one, task)
    out = network(torch.randn(2, *inputs))
    assert out.shape == shape
    out.square().sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
    assert space.counts(one, task) == measure(lambda: space.build(one, task), task)
    (last,) = list(network.head)[-1:]
    assert getattr(last, "out_features", getattr(last, "out_channels", None)) == outputs


def test_tiles_row_by_row():
    image = torch.arange(2 * 1 * 7 * 6).float().reshape(2, 1, 7, 6)
    tiles = heads.Tiles()(image)
    assert tiles.shape == (18, 1, 2, 2)
    for number in range(18):
        which, row, column = number // 9, number % 9 // 3, number % 3
        part = image[which, :, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        assert torch.equal(tiles[number], part)
    cut = tiles.reshape(2, 9, 1, 2, 2)
    assert torch.equal(heads.Tiles()(cut), tiles)


def test_jigsaw_is_siamese():
    """The permuted puzzle has the same features in another order, tile for tile."""
    torch.manual_seed(0)
    network = TransNASMicro(channels=2, head="jigsaw").build(
        TransNASMicro().parse("64-41414-3_13_231"), Task((9, 3, 16, 16), 4)
    )
    network.eval()
    x, order = torch.randn(1, 9, 3, 16, 16), torch.randperm(9)
    assert network.tiles(x).shape == (9, 3, 16, 16)
    torch.testing.assert_close(network.pre_gap(x[:, order]), network.pre_gap(x)[order])
    assert network.head[-1].in_features == 9 * 16


def test_the_decoder_narrows_to_the_stem():
    decoder = heads.Decoder(512, 32, 32, 17)
    widths = [m.out_channels for m in decoder if isinstance(m, torch.nn.Conv2d)]
    assert widths == [256, 128, 64, 32, 32, 17]


@pytest.mark.parametrize(
    ("head", "inputs", "message"),
    [
        ("class", (9, 3, 8, 8), "takes images: input shape 9x3x8x8"),
        ("dense", (20,), "takes images: input shape 20"),
        ("jigsaw", (20,), "takes images: input shape 20"),
        ("jigsaw", (4, 3, 8, 8), "4 tiles, expected 9"),
        ("jigsaw", (3, 2, 9), "image of 2x9, expected at least 3x3"),
    ],
)
def test_inputs_that_do_not_fit(head, inputs, message):
    space = TransNASMicro(channels=2, head=head)
    for use in (space.build, space.counts):
        with pytest.raises(InputError, match=message):
            use(space.parse("64-41414-0_00_000"), Task(inputs, 2))
