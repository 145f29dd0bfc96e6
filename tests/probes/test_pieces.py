from __future__ import annotations

import pytest
import torch

from foresee.data import Synthetic
from foresee.probes.pieces import together
from foresee.scoring import score
from foresee.seeds import stream
from foresee.spaces.nasrec import NASRecSmall, Network
from foresee.spaces.nasrec.layers import Joined, Split
from foresee.task import Task

SPACE, TASK = NASRecSmall(blocks=3, dense_widths=[16, 32], sparse_widths=[16]), Task((3,), 1, (5, 7))


def whole_and_in_pieces(architecture):
    """The same network twice: with matrices as they are, and with those over several inputs in pieces."""
    whole, pieces = Network(architecture, TASK), Network(architecture, TASK, Split)
    pieces.load_state_dict(whole.state_dict(), strict=False)
    modules = dict(pieces.named_modules())
    for name, module in whole.named_modules():
        if isinstance(module, Joined):
            sizes = [one.in_features for one in modules[name].pieces]
            for own, part in zip(modules[name].pieces, module.linear.weight.split(sizes, 1), strict=True):
                own.weight.data.copy_(part.data)
            if module.linear.bias is not None:
                modules[name].bias.data.copy_(module.linear.bias.data)
    return whole, pieces


@pytest.mark.parametrize(
    "proxy", ["zico", "sigeo", "sigeo:literal", "sigeo:ctr", "sigeo:released_cv", "sigeo:released_ctr"]
)
def test_a_layer_in_pieces_counts_as_one(proxy):
    batches = Synthetic(TASK).batches(4, 16, seed=1)
    several = 0
    for number in range(3):
        torch.manual_seed(number)
        whole, pieces = (one.double() for one in whole_and_in_pieces(SPACE.sample(stream(number))))
        assert torch.allclose(*(one(*(part.double() if part.is_floating_point() else part for part in batches[0].parts))
                                for one in (whole, pieces)))  # fmt: skip
        several += len(list(pieces.parameters())) > len(list(whole.parameters()))
        found, wanted = score(pieces, batches, proxy), score(whole, batches, proxy)
        assert found.ok
        assert found.value == pytest.approx(wanted.value, rel=1e-6)
    assert several


def test_layers_that_are_whole_stay_alone():
    whole, pieces = whole_and_in_pieces(SPACE.sample(stream(0)))
    names = [name for name, _ in whole.named_parameters()]
    assert together(whole, names) == [[name] for name in names]
    grouped = together(pieces, [name for name, _ in pieces.named_parameters()])
    assert any(len(group) > 1 for group in grouped)
