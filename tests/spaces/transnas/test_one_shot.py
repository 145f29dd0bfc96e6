"""The micro space's one-shot network with every head; what it computes otherwise is in `four_nodes/test_one_shot`."""

from __future__ import annotations

import pytest
import torch

from foresee.seeds import generator, stream
from foresee.spaces.transnas import TransNASMicro
from foresee.task import Task


def test_size_at_the_benchmarks_width():
    """One skip, one 1x1 and one 3x3 convolution on every edge: the sum of the uniform cells over one stem and head."""
    space, task = TransNASMicro(), Task((3, 64, 64), 10)
    with torch.device("meta"):
        held = sum(parameter.numel() for parameter in space.one_shot(task).parameters())
    fixed, *uniform = (
        space.counts(space.parse(f"64-41414-{op}_{op}{op}_{op}{op}{op}"), task).params for op in range(4)
    )
    assert held == fixed + sum(count - fixed for count in uniform)


@pytest.mark.parametrize("head", ["regression", "jigsaw", "dense"])
def test_a_path_is_the_inherited_network_with_any_head(head):
    torch.manual_seed(0)
    space, task = TransNASMicro(channels=2, head=head), Task((3, 36, 36), 3)
    one_shot, one = space.one_shot(task), space.sample(stream(1))
    x = torch.randn(2, 3, 36, 36, generator=generator(0, "x"))
    assert torch.equal(one_shot.select(one)(x), one_shot.inherit(one)(x))


def test_weights_begin_as_in_stand_alone_networks():
    torch.manual_seed(0)
    weight = TransNASMicro(channels=16).one_shot(Task()).network.cells[1].edges[0].options["nor_conv_3x3"][1].weight
    assert weight.std().item() == pytest.approx((2 / (32 * 9)) ** 0.5, rel=0.05)


def test_the_width_may_be_another_than_the_spaces():
    narrow = TransNASMicro(channels=2, head="jigsaw")
    with torch.device("meta"):
        asked, own = (one.one_shot(Task((3, 36, 36), 3), channels=2) for one in (TransNASMicro(head="jigsaw"), narrow))
    assert [tensor.shape for tensor in asked.parameters()] == [tensor.shape for tensor in own.parameters()]
    assert [tensor.shape for tensor in own.parameters()] == [
        t.shape for t in narrow.one_shot(Task((3, 36, 36), 3)).parameters()
    ]
