"""The tree of choices of an own space, its size, and when picks are asked."""

from __future__ import annotations

from torch import nn

from foresee.spaces import own
from foresee.spaces.own.tree import tree_of


def nested(pick):
    depth = pick.int("depth", 1, 4)
    for number in range(depth):
        pick.sub(f"block{number}")("width", [4, 8])
    if pick("norm", [False, True]) and pick("kind", ["batch", "group", None]) == "group":
        pick("groups", [2, 4])
    return nn.Linear(4, 2)


def test_conditions_are_found():
    tree = tree_of(own(nested))
    found = {one.name: (one.answers, one.when) for one in tree.choices}
    assert found == {
        "depth": ("1 to 4", ""),
        "block0.width": ("4, 8", ""),
        "norm": ("false, true", ""),
        "kind": ("batch, group, null", "when norm is true"),
        "groups": ("2, 4", "when kind is group"),
        "block1.width": ("4, 8", "when depth is 2 to 4"),
        "block2.width": ("4, 8", "when depth is 3 or 4"),
        "block3.width": ("4, 8", "when depth is 4"),
    }
    assert tree.size_in_words == f"{30 * 5} architectures, all of them listed"


def test_a_large_space_is_estimated_and_the_truth_is_inside():
    def wide(pick):
        for number in range(pick.int("depth", 1, 4)):
            pick.int(f"width{number}", 1, 10)
        return nn.Linear(1, 1)

    tree = tree_of(own(wide))
    assert not tree.whole
    assert tree.size.low <= 11_110 <= tree.size.high
    assert tree.size_in_words.startswith("about ")
    assert "estimated from 300 random ways" in tree.size_in_words


def test_rejected_and_failing_ways_are_counted():
    def strict(pick):
        first, second = pick("first", [1, 2, 3, 4]), pick("second", [1, 2, 3, 4])
        if first > second:
            pick.reject("order")
        if first == second:
            raise RuntimeError("equal")
        return nn.Linear(1, 1)

    tree = tree_of(own(strict))
    assert (tree.rejected, tree.failed) == (6 / 16, 4 / 16)
    assert tree.size.value == 10


def test_real_numbers_have_no_end():
    def net(pick):
        if pick("deep", [False, True]) or pick("wide", [False, True]):
            pick.log("rate", 0.01, 0.5)
        return nn.Linear(1, pick("width", list(range(1, 20))))

    tree = tree_of(own(net))
    assert tree.size_in_words == "without end: a pick may be any real number"
    rate, width = (next(one for one in tree.choices if one.name == name) for name in ("rate", "width"))
    assert rate.answers == "0.01 to 0.5, any real number, even in the logarithm"
    assert 0.6 < rate.share < 0.9  # two picks decide together: no single one is named
    assert rate.when.startswith("asked in 7")
    assert width.answers == "1, 2, 3, 4, 5, 6, 7, 8, … 19 answers"
