"""RobNets: published counts, codes on edges, identity, and shapes of cells."""

from __future__ import annotations

import random

import pytest
import torch

from foresee import spaces
from foresee.errors import InputError
from foresee.seeds import stream
from foresee.spaces.darts import depth, width
from foresee.spaces.darts.cells import EDGES
from foresee.spaces.darts.network import Place
from foresee.spaces.robnet import Architecture, BuiltCell, Cell, RobNet
from foresee.task import Task
from foresee.testing import SpaceSuite


def swapped(cell: Cell) -> Cell:
    """The cell with nodes 2 and 3 exchanged, where nothing leads from 2 to 3."""
    codes = dict(zip(EDGES, cell.codes, strict=True))
    assert codes[2, 3] == "00"
    new = {2: 3, 3: 2}
    moved = {(new.get(a, a), new.get(b, b)): code for (a, b), code in codes.items() if (a, b) != (2, 3)}
    return Cell(tuple(moved.get(edge, "00") for edge in EDGES))


class TestSuite(SpaceSuite):
    task = Task((3, 8, 8), 4)
    samples = 10
    counted = 1
    trained = 4

    def space(self):
        return RobNet(channels=4, layers=4)

    def equivalents(self, architecture):
        free = [cell.codes[EDGES.index((2, 3))] == "00" for cell in architecture.cells]
        pairs = zip(architecture.cells, free, strict=True)
        yield Architecture(tuple(swapped(cell) if can else cell for cell, can in pairs))
        if len(architecture.cells) == 1:
            yield Architecture(architecture.cells * 4)


class TestSharedSuite(SpaceSuite):
    task = Task((3, 8, 8), 4)
    samples = 10
    counted = 1
    trained = 1

    def space(self):
        return RobNet(channels=4, layers=2, shared=True, network="imagenet")


@pytest.mark.parametrize(("name", "params"), [("RobNet_free", 5_439_790), ("RobNet_large", 6_842_710)])
def test_published_counts(name, params):
    space = RobNet()
    assert space.counts(space.named[name], Task((3, 32, 32), 10)).params == params
    with torch.device("meta"):
        network = space.build(space.named[name], Task((3, 32, 32), 10))
    assert sum(parameter.numel() for parameter in network.parameters()) == params


def test_named_need_their_layers():
    assert set(RobNet().named) == {"RobNet_free", "RobNet_large"}
    assert len(RobNet().named["RobNet_free"].cells) == 20
    assert set(RobNet(layers=8).named) == {"RobNet_large"}
    with pytest.raises(InputError, match="20 cells: expected 1 or 8"):
        RobNet(layers=8).build(RobNet().named["RobNet_free"], Task())


def test_text_lists_codes():
    text = str(RobNet().named["RobNet_large"])
    assert text.startswith("[['11', '11', '11', '11', '11', '01', '11', '01', '10', ")
    assert RobNet().parse(text) == RobNet().named["RobNet_large"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("'01'", "'02'"), r"cell 0, code on edge 0->4 '02'"),
        (("['11', ", "["), "cell 0: 13 codes"),
        (("]]", "], 3]"), "2 cells: expected 1 or 20"),
        (("[[", "["), "at character|unmatched"),
    ],
)
def test_wrong_texts_are_refused_precisely(change, message):
    text = str(RobNet().named["RobNet_large"])
    with pytest.raises(InputError, match=message):
        RobNet().parse(text.replace(change[0], change[1], 1))


def test_wrong_rows():
    with pytest.raises(InputError, match="cell 1: 3, expected a list"):
        RobNet(layers=2).parse(str([["00"] * 14, 3]))


def test_a_cell_is_wired_as_written():
    codes = dict.fromkeys(EDGES, "00") | {
        (0, 2): "11",
        (1, 2): "01",
        (2, 4): "10",
        (4, 5): "01",
        (1, 5): "10",
    }
    cell = BuiltCell(Cell(tuple(codes[edge] for edge in EDGES)), Place("reduce", (5, 6), 4, False, 2, False)).eval()
    before, last = torch.randn(2, 5, 6, 6), torch.randn(2, 6, 6, 6)
    zero, one = cell.preprocess[0](before), cell.preprocess[1](last)
    both = cell.edges["0->2"]
    two = both.main(zero) + both.shortcut(zero) + cell.edges["1->2"](one)
    five = cell.edges["1->5"](one) + cell.edges["4->5"](two)
    expected = torch.cat([two, torch.zeros_like(two), two, five], 1)
    torch.testing.assert_close(cell(before, last), expected)


def test_norms_in_cells_have_no_scale():
    network = RobNet(channels=4, layers=2).build(RobNet(layers=2).sample(stream(0)), Task())
    assert all(parameter.ndim == 4 for parameter in network.cells.parameters())


def test_idle_parts_are_named():
    """No edge reads input 0, or none reads input 1: then readers and whole cells are idle."""
    task = Task((3, 8, 8), 2)
    for silent in (0, 1):
        codes = tuple("00" if source == silent else "11" for source, _ in EDGES)
        space = RobNet(channels=2, layers=4, shared=True)
        one = Architecture((Cell(codes),))
        network = space.build(one, task)
        network(torch.randn(2, 3, 8, 8)).square().sum().backward()
        without = {name for name, parameter in network.named_parameters() if parameter.grad is None}
        named = space.unused_parameters(one)
        covered = {n for n, _ in network.named_parameters() if any(n.startswith(f"{place}.") for place in named)}
        assert covered == without
        assert without


def test_width_and_depth_apply():
    codes = dict.fromkeys(EDGES, "00") | {(0, 2): "11", (2, 3): "01", (0, 3): "10", (1, 3): "10"}
    cell = Cell(tuple(codes[edge] for edge in EDGES))
    assert width(cell) == pytest.approx(1 + 2 / 3)
    assert depth(cell) == 3
    assert depth(Cell(("00",) * 14)) == 0 == width(Cell(("00",) * 14))


def test_identity_tells_codes_apart():
    space = RobNet(layers=3)
    one = space.sample(stream(1))
    assert all(space.canonical(space.mutate(one, random.Random(seed))) != space.canonical(one) for seed in range(10))


def test_settings_travel():
    space = RobNet(channels=8, shared=True)
    assert spaces.get("robnet", **space.settings()).settings() == {"channels": 8, "shared": True}
    assert space.size == 4**14
    assert RobNet(layers=2).size == 4**28
    with pytest.raises(InputError, match="channels 0"):
        RobNet(channels=0)
