from __future__ import annotations

import random
from collections import Counter

import networkx
import pytest

from foresee.errors import InputError
from foresee.spaces.nasbench1shot1.wiring import LOOSE_ENDS, Wiring
from foresee.spaces.nasbench101 import Architecture

S1, S2, S3 = Wiring((1, 2, 2, 2, 2)), Wiring((1, 1, 2, 2, 3)), Wiring((1, 1, 1, 2, 2, 2))


@pytest.mark.parametrize(
    ("wiring", "kept", "listed"),
    [
        (S1, (180, 14_580), (49, 2_487)),
        (S2, (360, 29_160), (65, 3_609)),
        (S3, (5_400, 1_312_200), (234, 24_066)),
    ],
)
def test_published_counts(wiring: Wiring, kept: tuple[int, int], listed: tuple[int, int]):
    """Matrices and labelled cells with loose ends, and those that the public generator lists without."""
    for loose_ends, counts in (("kept", kept), ("listed", listed)):
        assert (len(wiring.matrices(loose_ends)), wiring.size(loose_ends)) == counts
    assert set(wiring.matrices("listed")) < set(wiring.matrices("trimmed"))


@pytest.mark.parametrize(("wiring", "counts"), [(S1, (66, 3_702)), (S2, (190, 12_474)), (S3, (876, 135_900))])
def test_trimmed_counts(wiring: Wiring, counts: tuple[int, int]):
    assert (len(wiring.matrices("trimmed")), wiring.size("trimmed")) == counts


@pytest.mark.parametrize("wiring", [S1, S2, S3])
def test_edges_stay_within_nasbench101(wiring: Wiring):
    assert sum(wiring.reads) == 9
    for parents in wiring.matrices("kept")[::50]:
        Architecture(("conv3x3",) * wiring.nodes, parents)


def test_trimmed_and_listed_against_networkx():
    """Loose ends have no way to the output; listed cells have a path through all that is in use."""
    for parents in S2.matrices("kept"):
        graph = networkx.DiGraph((p, v) for v, read in enumerate(parents, 1) for p in read)
        used = networkx.ancestors(graph, 5) | {5}
        trimmed = tuple(read if v in used else () for v, read in enumerate(parents, 1))
        assert trimmed in S2.matrices("trimmed")
        longest = len(networkx.dag_longest_path(graph.subgraph(used)))
        assert (trimmed in S2.matrices("listed")) == (longest == len(used))


@pytest.mark.parametrize("loose_ends", LOOSE_ENDS)
def test_draws_are_uniform(loose_ends: str):
    """Over the operations of the first node, which is always in use or a loose end, and over small sets."""
    tiny, rng = Wiring((1, 1, 1)), random.Random(0)
    cells = [cell for parents in tiny.matrices(loose_ends) for cell in tiny.labelled(parents)]
    assert len(set(cells)) == len(cells) == tiny.size(loose_ends)
    drawn = Counter(tiny.draw(loose_ends, rng) for _ in range(100 * len(cells)))
    assert drawn.keys() == set(cells)
    assert sum((drawn[cell] - 100) ** 2 / 100 for cell in cells) < 3 * len(cells)


def test_completing_keeps_what_is_in_use():
    rng = random.Random(0)
    for _ in range(50):
        cell = S3.draw("trimmed", rng)
        whole = S3.completed(cell, rng)
        S3.check(whole, "kept")
        assert S3.trimmed(whole) == cell


@pytest.mark.parametrize(
    ("loose_ends", "text", "message"),
    [
        ("kept", "conv3x3@0+conv3x3@0,1+output@1,2", "2 operations, expected 4"),
        (
            "kept",
            "conv3x3@0+conv3x3@0+conv3x3@0,2+conv3x3@0,3+output@0,4",
            "vertex 2: reads 1 vertices, expected 2",
        ),
        (
            "kept",
            "conv3x3@0+conv3x3@0,1+conv3x3@0,2+conv3x3@0,3+output@0",
            "output: reads 1 vertices, expected 2",
        ),
        (
            "kept",
            "conv3x3@0+conv3x3@0,1+conv1x1@-+conv1x1@-+output@0,2",
            "vertex 3: reads 0 vertices, expected 2",
        ),
        ("trimmed", "conv3x3@0+conv3x3@0,1+conv1x1@0,1+conv1x1@-+output@0,2", "vertex 3: nothing needs it"),
        ("trimmed", "conv3x3@0+conv3x3@0,1+conv3x3@-+conv1x1@-+output@0,2", "vertex 3: nothing needs it"),
        ("listed", "conv3x3@0+conv3x3@0,1+conv3x3@0,1+conv1x1@-+output@2,3", "not listed"),
    ],
)
def test_what_is_wrong_is_said(loose_ends: str, text: str, message: str):
    with pytest.raises(InputError, match=message):
        S1.check(Architecture.parse(text), loose_ends)
