from __future__ import annotations

import itertools
import random
from collections import Counter

from foresee.spaces.nasbench101 import OPS, Architecture
from foresee.spaces.nasbench101.cell import in_use
from foresee.spaces.nasbench101.listing import Wiring, draw, wirings

#: cells by number of vertices; they add up to the published 423,624
PUBLISHED_TOTAL = 423_624


def by_brute_force(vertices: int) -> set[str]:
    """Hashes of all cells of so many vertices, by looking at every matrix and every labelling."""
    found = set()
    subsets = [
        list(itertools.chain.from_iterable(itertools.combinations(range(v), k) for k in range(v + 1)))
        for v in range(1, vertices)
    ]
    for parents in itertools.product(*subsets):
        if len(in_use(parents)) == vertices and sum(map(len, parents)) <= 9:
            for ops in itertools.product(OPS, repeat=vertices - 2):
                found.add(Architecture(ops, parents).hash)
    return found


def test_there_are_as_many_as_published():
    every, totals = wirings()
    assert totals[-1] == PUBLISHED_TOTAL
    sizes = Counter()
    for wiring in every:
        sizes[wiring.interior + 2] += wiring.cells
    assert sizes == {2: 1, 3: 6, 4: 84, 5: 2441, 6: 62010, 7: 359082}


def test_small_cells_against_brute_force():
    every, _ = wirings()
    for vertices in (2, 3, 4):
        cells = [cell for w in every if w.interior + 2 == vertices for cell in w.all_cells()]
        hashes = [cell.hash for cell in cells]
        assert len(set(hashes)) == len(hashes)
        assert set(hashes) == by_brute_force(vertices)


def test_listed_cells_are_normal_and_as_many_as_burnside_says():
    for wiring in wirings()[0][::211]:
        cells = list(wiring.all_cells())
        assert len(cells) == wiring.cells
        assert len({cell.hash for cell in cells}) == len(cells)
        assert all(cell.normal == cell for cell in cells)


def test_draws_are_uniform(monkeypatch):
    """On a wiring with two interchangeable vertices: six cells, each as likely."""
    fork = Wiring(((0,), (0,), (1, 2)), ((0, 1), (1, 0)))
    assert fork.cells == 6
    monkeypatch.setattr("foresee.spaces.nasbench101.listing.wirings", lambda: ((fork,), (6,)))
    rng = random.Random(0)
    seen = Counter(draw(rng).hash for _ in range(6000))
    assert len(seen) == 6
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 20.5  # chi-square, 5 degrees, 0.1 %
