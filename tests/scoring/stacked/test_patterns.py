from __future__ import annotations

import pytest
import torch
from tests.stacking import CELLS, CPU, SEED

from foresee.data import load
from foresee.probes.draws import Draws
from foresee.proxies.base import RankDeficientError, get
from foresee.proxies.patterns.naswot import agreements
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.patterns import StackedPatterns, positive_together
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.stacking import Stacker


def maps(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize("shape", [(2, 6, 5, 16, 16), (3, 7, 4, 20, 20), (1, 2, 3, 50, 50), (2, 4, 3, 1, 1)])
def test_counts_in_shares_are_exact(shape, halves):
    x = maps(*shape) + 1  # mostly positive: many units are counted
    wide = torch.nn.functional.pad(x, (0,) * 7 + (2,))[:, : shape[1]]  # as where a map was filled up
    expected = (x > 0).transpose(1, 2).flatten(2).double()
    for given in (x, wide):
        assert torch.equal(positive_together(given, halves=halves), expected @ expected.mT)


def test_agreements_are_summed_over_relus_and_those_that_do_the_same():
    seen, first, second = StackedPatterns(3), maps(3, 2, 4, 3, 3), maps(2, 5, 4, 2, 2)
    owners, times = torch.tensor([0, 2]), torch.tensor([1, 3])
    seen.relu(None, first, first)
    seen.relu(owners, second, second, times)
    seen.finish(torch.zeros(3, 4, 5))
    counted = [agreements((own > 0).transpose(0, 1).flatten(1)) for own in first]
    for place, own, count in zip(owners.tolist(), second, times.tolist(), strict=True):
        counted[place] = counted[place] + count * agreements((own > 0).transpose(0, 1).flatten(1))
    for place, expected in enumerate(counted):
        assert torch.equal(seen.measured(lambda K: (K,), place)[0], expected)


def test_a_formula_is_asked_once_for_all_of_a_stack():
    asked = []

    def formula(K):
        asked.append(tuple(K.shape))
        return (K.sum((-2, -1)),)

    seen, x = StackedPatterns(3), maps(3, 2, 4, 3, 3)
    seen.relu(None, x, x)
    seen.finish(torch.tensor([0.0, torch.nan, 0.0])[:, None, None])
    found = [seen.measured(formula, place)[0] for place in (0, 2)]
    assert asked == [(3, 4, 4)]
    assert [float(one) for one in found] == [
        float(agreements((x[place] > 0).transpose(0, 1).flatten(1)).sum()) for place in (0, 2)
    ]
    with pytest.raises(FloatingPointError, match="NaN or infinite"):
        seen.measured(formula, 1)


def test_a_singular_kernel_is_nobody_elses_affair():
    """Two equal samples: their patterns are equal in every cell; of a stack with one broken kernel the others have values."""
    proxy, ops = get("naswot"), [one.ops for one in CELLS.cells(2)]
    (batch,) = load("synthetic", inputs=CELLS.task.inputs, outputs=5).batches(1, 4, seed=0)
    stack = Stack(CELLS.skeleton, ops, [batch], 0, Stacker(CELLS.space, CELLS.task, CPU)._stream(SEED), CPU)
    stack.patterns._both[1] = 1.0
    seats = [Seat(stack, place) for place in range(len(ops))]
    for place, seat in enumerate(seats):
        seat.draws = Draws(0)
        if place == 1:
            with pytest.raises(RankDeficientError):
                proxy(seat)  # type: ignore[arg-type]
        elif "nor_conv_3x3" in ops[place] and "none" not in ops[place]:
            assert float(proxy(seat)) > 0  # type: ignore[arg-type]
