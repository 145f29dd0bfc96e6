"""Where cells lie among all of their space."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from foresee.errors import InputError
from foresee.insight.distributions import Distribution, connected, distribution
from foresee.insight.topology import shapes
from foresee.spaces import get


def test_all_of_nasbench201():
    """Every one of the 15,625 cells, and the best known place of one."""
    space = get("nasbench201")
    found = distribution(space)
    assert found.whole
    assert found.total == 15_625
    assert {depth for _, depth in found.counts} == {0, 1, 2, 3}
    assert max(width for width, _ in found.counts) == 2
    # widest: both inner nodes read the input alone and are read; the edge past them is free
    assert sum(n for (width, _), n in found.counts.items() if width == 2) == 4 * 4 * 4 * 4 * 5
    wide = space.parse("|nor_conv_3x3~0|+|nor_conv_3x3~0|none~1|+|none~0|nor_conv_3x3~1|nor_conv_3x3~2|")
    place = found.place(shapes(space, wide)[0])
    assert place.wider == 0
    assert place.narrower == 1 - 1280 / 15_625
    assert str(place).startswith("wider than 91.8% of all cells and narrower than 0.0%")
    assert place.to_json()["wider"] == 0


def test_where_all_are_alike_the_place_says_so():
    space = get("mobile")  # chains of as many stages each
    found = distribution(space, sample=20)
    assert len(found.counts) == 1
    assert str(found.place(shapes(space, space.named["MnasNet_A1"])[0])) == "as wide as all cells, as deep as all cells"


def test_a_sample_of_darts_approaches_all_connections():
    space = get("darts")
    whole = distribution(space)
    assert whole.whole
    assert whole.total == 180
    assert max(whole.counts) == (4.0, 2)
    assert min(whole.counts, key=lambda one: (one[0], -one[1])) == (1.5, 5)
    drawn = Counter()
    rng = random.Random(0)
    for _ in range(1500):
        one = shapes(space, space.sample(rng))[0]
        drawn[one.width, one.depth] += 1
    for pair, count in whole.counts.items():
        assert abs(drawn[pair] / 1500 - count / 180) < 0.05


def test_named_cells_are_among_the_widest():
    """Observation 1 of the thesis, as a number: at most so many of all cells are as wide and as shallow."""
    space = get("darts")
    where = distribution(space)
    for name in ("DARTS_V1", "DARTS_V2", "SNAS"):
        assert where.place(shapes(space, space.named[name])[0]).as_wide_and_shallow < 0.1


def test_repeats_samples_and_json():
    assert connected(2, repeated=True).total == 4 * 9
    with pytest.raises(InputError, match="too many"):
        connected(6, repeated=True)
    space = get("nasbench201")
    drawn = distribution(space, listed=10, sample=50, seed=1)
    assert not drawn.whole
    assert drawn.total == 50
    assert drawn == distribution(space, listed=10, sample=50, seed=1)
    assert Distribution.from_json(drawn.to_json()) == drawn
    with pytest.raises(InputError, match="cell 3"):
        distribution(space, cell=3)
