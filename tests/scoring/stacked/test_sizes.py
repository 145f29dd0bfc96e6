from __future__ import annotations

import math

import pytest
import torch
from tests.stacking import GENOTYPES, GROUNDS, MACRO, TOKENS, WIDTHS

from foresee.scoring.stacked.sizes import Sizes
from foresee.scoring.stacked.skeletons import skeleton_of
from foresee.spaces.darts.space import DARTS
from foresee.spaces.nasbench201.space import NASBench201
from foresee.task import Task


@pytest.mark.parametrize("name", GROUNDS)
def test_weights_and_shapes_are_those_of_the_networks(name):
    ground = GROUNDS[name]
    sizes = Sizes(ground.skeleton)
    for one in ground.cells(3):
        network = ground.alone(one)
        (ops,) = ground.chosen([one])
        assert sizes.weights(ops) == sum(p.numel() for p in network.parameters() if p.ndim > 1)
        with torch.no_grad():
            stages = [as_map(one) for one in network.stages(torch.zeros(2, *ground.task.inputs))]
        assert sizes.last[1:] == tuple(stages[-1].shape[2:])
        assert sizes.last[0] == {WIDTHS: 8, TOKENS: 25}.get(ground, stages[-1].shape[1])  # the widest
        assert sizes.largest_of(ops) >= max(math.prod(stage.shape[1:]) for stage in stages)


def as_map(stage):
    """Tokens as a map of one column."""
    return stage.mT[..., None] if stage.ndim == 3 else stage


def test_what_cells_hold_is_counted_by_their_operations():
    sizes = Sizes(skeleton_of(NASBench201(channels=4, cells=2), Task(inputs=(3, 8, 8), outputs=5)))
    maps = 4 * 64 * 2 + 8 * 16 * 2 + 16 * 4 * 2
    none, skip, conv = ("none",), ("skip_connect",), ("nor_conv_3x3",)
    assert sizes.held(none * 6) == 4 * maps
    assert sizes.held(skip * 2 + none * 4) == (4 + 2 * 2) * maps
    assert sizes.held(conv * 1 + none * 5) == (4 + 4) * maps


def test_maps_that_are_widened_inside_a_layer_count():
    sizes = Sizes(MACRO.skeleton)
    assert sizes.largest == 18 * 17 * 17
    nothing, first, last = (["identity"] * 8 for _ in range(3))
    first[0], last[7] = "e6k5", "e6k5"
    reads, gives = 17 * 17, 9 * 9
    widened = 3 * 18 * reads + 4 * 18 * gives + 2 * 6 * gives  # the gate's place too
    assert sizes.held(first) - sizes.held(nothing) == widened - 2 * 6 * gives  # an identity that halves is a layer too
    kept = 24 * 3 * 3
    assert sizes.held(last) - sizes.held(nothing) == (6 * 3 + 6 * 4 + 2 + 1 - 1) * kept  # and the sum; not the identity


def test_a_cell_that_reads_two_maps_holds_what_it_makes_of_them_and_what_it_joins():
    assert Sizes(GENOTYPES.skeleton).largest == 4 * 4 * 9 * 9
    sizes = Sizes(skeleton_of(DARTS(channels=4, layers=1), GENOTYPES.task))  # a cell that reduces
    reads, large, small = 12 * 9 * 9, 8 * 9 * 9, 8 * 5 * 5
    assert sizes.held([""] * 16) == (4 + 4) * small + 2 * (reads + 2 * large)
    pool, skip, conv = (
        sizes.held([""] * 8 + [f"{op} of {source}"] + [""] * 7) - sizes.held([""] * 16)
        for op, source in (("max_pool_3x3", 0), ("skip_connect", 1), ("dil_conv_5x5", 0))
    )
    assert pool == 2 * small  # and once more in the sum
    assert conv == large + 4 * small
    assert skip == large + small // 2 + large + small // 2 + 2 * small + small  # both halves, one of a shifted map


def test_how_wide_a_network_is_counts_where_that_is_chosen():
    sizes = Sizes(WIDTHS.skeleton)
    (wide,), (narrow,), (uneven,) = (
        WIDTHS.chosen([WIDTHS.space.parse(text)]) for text in ("8:8:8:8:8", "1:1:1:1:1", "2:3:1:1:1")
    )
    assert (sizes.last, sizes.largest) == ((8, 3, 3), 0)
    assert sizes.largest_of(wide) == 8 * 81
    assert sizes.largest_of(uneven) == 2 * 81
    assert sizes.largest_of(narrow) == 8 * 81 // 6  # the map that is filled up, beside one with its patches
    given = 2 * (8 * (81 + 25 + 25 + 9) + 5)
    fixed, head = 5 * 3 + 1 + 1, 2 * 9 + 1 + 5  # ReLUs, convolutions, norms, a skip, and what comes of them
    cells = (2 + fixed) * 81 + (1 + fixed) * 25 + (1 + fixed) * 9
    reductions = 2 * 81 + 8 * 25 + 2 * 25 + 8 * 9
    assert sizes.held(narrow) == given + cells + reductions + head


def test_what_each_token_heeds_of_each_counts_beside_the_tokens():
    sizes = Sizes(TOKENS.skeleton)
    few, many, deep = (
        TOKENS.chosen([TOKENS.space.parse(text)])[0]
        for text in ("(1, 1.5, 1, 16)", "(1, 1.5, 3, 16)", "(2, 1.5, 3.5, 1, 2, 16)")
    )
    wide, tokens = 6, 10
    assert sizes.held(many) - sizes.held(few) == 2 * (3 * wide * tokens + wide * tokens + tokens**2)
    nothing = 2 * 16 * tokens  # a half that is not there is read all the same
    attention = (16 + 16 + 3 * 2 * wide + 2 * wide + 16 + 16) * tokens + 2 * tokens**2
    hidden = (16 + 16 + 56 + 56 + 16 + 16) * tokens
    assert sizes.held(deep) - sizes.held(few) == attention + hidden - nothing
    assert sizes.largest_of(deep) == 56 * tokens
    square = Sizes(skeleton_of(TOKENS.space, Task(inputs=(3, 64, 64), outputs=5)))
    assert square.largest_of(many) == 3 * 257**2
