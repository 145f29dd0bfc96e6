"""A logistic regression beside the blocks: at first the whole network is that."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import InputError
from foresee.spaces.nasrec import NASRecSmall
from foresee.spaces.nasrec.first_order import FirstOrder
from foresee.task import Task

TASK = Task((2,), 1, vocabularies=(3, 4))
TEXT = "linear2d:16@0 linear3d:16@0"
WIDE, PLAIN = (NASRecSmall(blocks=1, dense_widths=(16,), sparse_widths=(16,), first_order=one) for one in (True, False))


def test_it_is_a_sum_over_numbers_and_values():
    part = FirstOrder(TASK)
    with torch.no_grad():
        for one in part.parameters():
            one.normal_()
        dense, sparse = torch.randn(5, 2), torch.tensor([[0, 3], [2, 0], [1, 1], [0, 0], [2, 3]])
        table = part.tables.table.weight
        slow = [
            part.bias + sum(x * w for x, w in zip(row, part.embedded, strict=True)) + table[a] + table[3 + b]
            for row, (a, b) in zip(dense, sparse.tolist(), strict=True)
        ]
        assert torch.allclose(part(dense, sparse), torch.stack(slow), atol=1e-6)


def test_at_first_the_network_is_the_regression_and_nothing_else():
    network = WIDE.build(WIDE.parse(TEXT), TASK)
    rows = torch.randn(4, 2), torch.zeros(4, 2).long()
    assert network(*rows).abs().max().item() == 0
    with torch.no_grad():
        network.first_order.bias.fill_(2.0)
    assert network(*rows).tolist() == [[2.0]] * 4


def test_its_weights_are_counted():
    one = PLAIN.parse(TEXT)
    network = WIDE.build(one, TASK)
    assert WIDE.counts(one, TASK).params == sum(p.numel() for p in network.parameters())
    assert WIDE.counts(one, TASK).params - PLAIN.counts(one, TASK).params == 2 + 7 + 1


def test_there_is_no_one_shot_network_of_it():
    with pytest.raises(InputError, match="leave first_order out of the search"):
        WIDE.one_shot(TASK)
