"""The model of the better and the others beside the sum it is written as."""

from __future__ import annotations

import math
import random

import numpy as np
from tests.searchers.driving import convolutions

from foresee.searchers.promising import BANDWIDTH, Promising
from foresee.spaces import get


def seen(space, many, seed=0):
    rng = random.Random(seed)
    return [space.sample(rng) for _ in range(many)]


def test_densities_are_the_mean_of_the_kernels():
    space = get("autoformer_tiny")
    drawn = seen(space, 60)
    model = Promising(space, drawn, [float(one.depth) for one in drawn])
    sizes = [len(choice.options) for choice in space.choices]
    rng = random.Random(1)
    points = [[rng.randrange(size) for size in sizes] for _ in range(5)]
    for point, found in zip(points, model.log_density(points, model.others), strict=True):
        total = 0.0
        for picks in model.others:
            product = 1.0
            for pick, at, size in zip(picks, point, sizes, strict=True):
                if size == 1:
                    continue
                if pick is None:
                    product *= 1 / size
                else:
                    product *= 1 - BANDWIDTH if pick == at else BANDWIDTH / (size - 1)
            total += product
        assert math.isclose(found, math.log(total / len(model.others)), rel_tol=1e-9)


def test_the_better_ones_are_a_share_and_never_too_few():
    space = get("nasbench201")
    drawn = seen(space, 100)
    merits = [convolutions(one) for one in drawn]
    model = Promising(space, drawn, merits)
    assert (len(model.better), len(model.others)) == (15, 85)
    least = min(convolutions(space.assemble(picks)) for picks in model.better)
    assert least >= max(convolutions(space.assemble(picks)) for picks in model.others)
    few = Promising(space, drawn[: Promising.needed(space)], merits[: Promising.needed(space)])
    assert (len(few.better), len(few.others)) == (7, 7)


def test_draws_are_better_than_chance():
    space = get("nasbench201")
    drawn = seen(space, 100)
    model = Promising(space, drawn, [convolutions(one) for one in drawn])
    rng = random.Random(2)
    found = [convolutions(model.draw(rng)) for _ in range(30)]
    assert np.mean(found) > np.mean([convolutions(one) for one in drawn]) + 1.5
    assert len(set(found)) > 1
