"""The NAS-Bench-201 one-shot network: its size and its options. What it computes is in `four_nodes/test_one_shot`."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import InputError
from foresee.seeds import generator
from foresee.spaces.nasbench201 import NASBench201
from foresee.task import Task

TASK = Task((3, 8, 8), 3)


def params(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_size_at_the_benchmarks_width():
    """73,306 without any edge; each edge holds one 3x3 and one 1x1 convolution."""
    space = NASBench201()
    with torch.device("meta"):
        one_shot = space.one_shot(Task())
    edge = (1_531_546 - 73_306) // 6 + (241_306 - 73_306) // 6
    assert params(one_shot) == 73_306 + 6 * edge
    reference = NASBench201(variant="reference")
    with torch.device("meta"):
        one_shot = reference.one_shot(Task())
    assert params(one_shot) == reference.counts(reference.named["ResNet"], Task()).params  # that variant holds them all


def test_partial_channels_pass_by():
    """Where nothing is chosen, half of each edge's channels still arrive, shuffled."""
    torch.manual_seed(0)
    one_shot = NASBench201(channels=4, cells=1).one_shot(TASK, partial=2)
    one_shot.select(one_shot.architecture(("none",) * 6))
    cell = one_shot.network.cells[0]
    x = torch.randn(2, 4, 3, 3, generator=generator(0, "x"))
    by = torch.zeros_like(x)
    by[:, 1::2] = x[:, 2:]  # channels (0, 1 | 2, 3) are written as 0, 2, 1, 3; the first two are zero
    torch.testing.assert_close(cell.edges[0](x, one_shot.edge_weights(0)), by)
    one_shot.mix(one_shot.uniform())
    assert cell.edges[0].options["nor_conv_3x3"][1].weight.shape == (2, 2, 3, 3)


@pytest.mark.parametrize("partial", [0, 3, 8, True, 1.0])
def test_partial_must_divide_the_channels(partial):
    with pytest.raises(InputError, match="expected a divisor of the 4 channels"):
        NASBench201(channels=4, cells=1).one_shot(TASK, partial=partial)


def test_width_depth_and_form_may_be_others_than_the_spaces():
    small = NASBench201(channels=4, cells=1, variant="reference")
    with torch.device("meta"):
        asked = NASBench201().one_shot(TASK, channels=4, cells=1, variant="reference")
        assert params(asked) == params(small.one_shot(TASK))
    with pytest.raises(InputError, match="cells 0"):
        NASBench201().one_shot(TASK, cells=0)
