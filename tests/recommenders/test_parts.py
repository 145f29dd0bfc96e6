"""Parts of recommenders against the obvious."""

from __future__ import annotations

import torch
from torch import nn

from foresee.recommenders.parts import Fields, Linear, Tables, layers
from foresee.task import Task

TASK = Task((2,), 1, vocabularies=(3, 4))


def test_one_table_for_all_is_a_table_for_each() -> None:
    tables = Tables((3, 4), 5)
    each = [nn.Embedding.from_pretrained(rows) for rows in tables.table.weight.detach().split([3, 4])]
    sparse = torch.tensor([[0, 3], [2, 0]])
    assert torch.equal(tables(sparse), torch.stack([one(sparse[:, at]) for at, one in enumerate(each)], 1))
    assert "first" not in tables.state_dict()


def test_a_number_scales_its_vector() -> None:
    fields = Fields(TASK, 5)
    dense, sparse = torch.tensor([[2.0, -3.0]]), torch.tensor([[1, 2]])
    found = fields(dense, sparse)
    assert found.shape == (1, 4, 5)
    assert torch.equal(found[0, 0], 2 * fields.embedded[0])
    assert torch.equal(found[0, 1], -3 * fields.embedded[1])
    assert torch.equal(found[0, 3], fields.tables.table.weight[3 + 2])


def test_the_linear_part_is_a_sum_over_what_is_there() -> None:
    linear = Linear(TASK)
    nn.init.normal_(linear.tables.table.weight)
    nn.init.normal_(linear.embedded)
    dense, sparse = torch.tensor([[2.0, -3.0]]), torch.tensor([[1, 2]])
    hot = torch.tensor([[0.0, 1, 0, 0, 0, 1, 0]])
    slow = dense @ linear.embedded + linear.bias + hot @ linear.tables.table.weight
    assert torch.allclose(linear(dense, sparse), slow)


def test_layers_with_and_without_dropout() -> None:
    assert [type(one).__name__ for one in layers(3, (4, 5), 0.1)] == ["Linear", "ReLU", "Dropout"] * 2
    assert [type(one).__name__ for one in layers(3, (4,))] == ["Linear", "ReLU"]
