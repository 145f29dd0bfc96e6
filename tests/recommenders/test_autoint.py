"""Interacting layers against torch's attention."""

from __future__ import annotations

import math

import torch
from torch import nn

from foresee.recommenders.autoint import AutoInt, Interacting
from foresee.task import Task


def test_as_the_attention_of_torch() -> None:
    inputs, width, heads = 6, 3, 2
    layer = Interacting(inputs, width, heads)
    vectors = torch.randn(4, 5, inputs)
    theirs = nn.MultiheadAttention(heads * width, heads, bias=False, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.eye(heads * width).repeat(3, 1))
        theirs.out_proj.weight.copy_(torch.eye(heads * width))
    # torch divides scores by the root of a head's width, the paper does not
    query = math.sqrt(width) * layer.query(vectors)
    expected, _ = theirs(query, layer.key(vectors), layer.value(vectors))
    assert torch.allclose(layer.attended(vectors), expected, atol=1e-5)
    assert torch.allclose(layer(vectors), torch.relu(expected + layer.kept(vectors)), atol=1e-5)


def test_the_plus_can_be_left_out() -> None:
    task = Task((1,), 1, vocabularies=(3,))
    alone = AutoInt(task, deep=())
    assert alone.deep is None
    assert alone(torch.zeros(2, 1), torch.zeros(2, 1).long()).shape == (2, 1)
