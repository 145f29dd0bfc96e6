from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.nasbench1shot1 import (
    ChoiceBlocks,
    NASBench1Shot1,
    NASBench1Shot1S1,
    NASBench1Shot1S2,
    NASBench1Shot1S3,
    PathNetwork,
)
from foresee.spaces.nasbench101 import Architecture
from foresee.spaces.one_shot import straight_through
from foresee.spaces.weighing import live
from foresee.task import Task

SPACES = [NASBench1Shot1S1(), NASBench1Shot1S2(), NASBench1Shot1S3(), NASBench1Shot1S3(loose_ends="trimmed")]
IDS = ["s1", "s2", "s3", "s3_trimmed"]
TASK = Task((3, 8, 8), 5)


def make(space: NASBench1Shot1, seed: int = 0, **options: Any) -> ChoiceBlocks:
    torch.manual_seed(seed)
    one_shot = space.one_shot(TASK, **({"channels": 4, "cells": 3} | options)).double()
    for module in one_shot.modules():  # norms that do something, and statistics that matter
        if isinstance(module, nn.BatchNorm2d) and module.affine:
            nn.init.normal_(module.weight, 1.0, 0.2)
            nn.init.normal_(module.bias, 0.0, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return one_shot


def batch(seed: int = 0) -> Tensor:
    return torch.randn(3, *TASK.inputs, generator=generator(seed, "x"), dtype=torch.float64)


# -- what it is -----------------------------------------------------------------------------------------------------------
def test_choices():
    """Operations of all nodes; inputs from node 3 on in the first space, from node 2 in the others, and the output's."""
    names = [[choice.name for choice in make(space).choices] for space in SPACES[:3]]
    assert names[0] == ["op_1", "op_2", "op_3", "op_4", "inputs_3", "inputs_4", "inputs_output"]
    assert names[1] == ["op_1", "op_2", "op_3", "op_4", "inputs_2", "inputs_3", "inputs_4", "inputs_output"]
    assert len(names[2]) == 5 + 5
    sizes = {choice.name: len(choice.options) for choice in make(SPACES[0]).choices}
    assert sizes["op_1"] == 3
    assert sizes["inputs_3"] == 3
    assert sizes["inputs_output"] == 5


def test_shapes_of_the_published_network():
    """16 channels, 9 cells, width 16 x nodes; pooling with padding makes 32, 17, 9, and statistics of the last batch."""
    task = Task((3, 32, 32), 10)
    networks = [NASBench1Shot1S1().one_shot(task, variant=v).eval() for v in ("published", "corrected")]
    x = torch.zeros(1, 3, 32, 32)
    path = {name: live(one) for name, one in networks[0].path(NASBench1Shot1S1().sample(stream(0))).items()}
    maps = [[tuple(m.shape[1:]) for m in n.network.stages(x, path)] for n in networks]
    assert maps[0] == [(16, 32, 32), *[(64, 32, 32)] * 3, *[(128, 17, 17)] * 3, *[(256, 9, 9)] * 3]
    assert maps[1] == [(16, 32, 32), *[(64, 32, 32)] * 3, *[(128, 16, 16)] * 3, *[(256, 8, 8)] * 3]
    momenta = [{m.momentum for m in n.network.cells.modules() if isinstance(m, nn.BatchNorm2d)} for n in networks]
    assert momenta == [{0.997}, {0.003}]
    assert not networks[0].network.last[2].affine
    assert networks[0].network.classifier.in_features == 64


def test_a_cell_by_hand():
    """Weighted inputs into a weighted block; the output joins the weighted blocks and adds the weighted input."""
    one_shot = make(SPACES[0]).eval()
    logits = one_shot.logits(1.0, generator(0))
    weights = {name: torch.softmax(vector, -1).detach().double() for name, vector in logits.items()}
    cell, x = one_shot.network.cells[1], torch.randn(2, 16, 4, 4, dtype=torch.float64)

    def block(node: int, total: Tensor) -> Tensor:
        options = cell.blocks[str(node)].options
        return sum(weights[f"op_{node}"][i] * op(total) for i, op in enumerate(options.values()))

    projected = {v: cell.projections[str(v)](x) for v in range(1, 6)}
    one = block(1, projected[1])
    two = block(2, projected[2] + one)
    w = weights["inputs_3"]
    three = block(3, w[0] * projected[3] + w[1] * one + w[2] * two)
    w = weights["inputs_4"]
    four = block(4, w[0] * projected[4] + w[1] * one + w[2] * two + w[3] * three)
    w = weights["inputs_output"]
    expected = torch.cat([w[1] * one, w[2] * two, w[3] * three, w[4] * four], 1) + w[0] * projected[5]
    found = cell(x, {name: live(vector) for name, vector in weights.items()})
    torch.testing.assert_close(found, expected)
    assert list(cell.blocks["1"].options) == ["maxpool3x3", "conv3x3", "conv1x1"]


@pytest.mark.parametrize("wrong", [{"cells": 2}, {"channels": 0}, {"partial": 3}, {"variant": "x"}])
def test_bad_options(wrong: dict[str, Any]):
    with pytest.raises(InputError):
        make(SPACES[0], **wrong)


# -- paths ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("space", SPACES, ids=IDS)
@pytest.mark.parametrize("options", [{}, {"partial": 2, "variant": "published"}], ids=["plain", "partial"])
def test_a_path_is_its_stand_alone_network(space: NASBench1Shot1, options: dict[str, Any]):
    one_shot = make(space, **options)
    for number in range(2):
        cell = space.sample(stream(number, "path"))
        alone = one_shot.inherit(cell)
        assert isinstance(alone, PathNetwork)
        for mode in (False, True):
            twin = copy.deepcopy(one_shot).train(mode)  # train mode moves running statistics, which are shared
            expected = twin.select(cell)(batch())
            torch.testing.assert_close(alone.train(mode)(batch()), expected, rtol=0, atol=0)
            moved = twin.state_dict()
            assert all(torch.equal(value, moved[name]) for name, value in alone.state_dict().items())


def test_inherited_weights_lie_in_the_same_storage():
    space, one_shot = SPACES[1], make(SPACES[1])
    cell = space.sample(stream(3))
    alone = one_shot.inherit(cell)
    source = dict([*one_shot.named_parameters(), *one_shot.named_buffers()])
    for name, tensor in [*alone.named_parameters(), *alone.named_buffers()]:
        assert tensor.data_ptr() == source[name].data_ptr(), name
    before = one_shot.select(cell).eval()(batch())
    with torch.no_grad():
        for parameter in alone.parameters():
            parameter.mul_(1.5)
    after = one_shot(batch())
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, alone.eval()(batch()), rtol=0, atol=0)
    assert alone.training is False
    assert one_shot.training is False
    alone.train()
    assert one_shot.training is False


@pytest.mark.parametrize("space", SPACES, ids=IDS)
def test_stand_alone_networks_hold_only_what_they_use(space: NASBench1Shot1):
    one_shot = make(space).float()
    for number in range(4):
        cell = space.sample(stream(number, "alone"))
        alone = one_shot.inherit(cell).train()
        alone(batch().float()).square().sum().backward()
        assert all(parameter.grad is not None for parameter in alone.parameters())
        used = len(cell.pruned.ops)
        assert all(len(c.blocks) == used for c in alone.network.cells)
        assert alone.stages(batch().float())[0].shape == (3, 4, 8, 8)
        assert alone.pre_gap(batch().float()).shape == (3, 16, 2, 2)


@pytest.mark.parametrize("space", SPACES, ids=IDS)
def test_derive_inverts_path(space: NASBench1Shot1):
    one_shot = make(space)
    for number in range(50):
        cell = space.sample(stream(number))
        assert one_shot.derive(one_shot.path(cell)) == cell


def test_derive_takes_the_greatest():
    one_shot = make(SPACES[0])
    weights = one_shot.uniform()
    weights["op_2"] = torch.tensor([0.1, 0.2, 0.7])
    weights["inputs_4"] = torch.tensor([0.1, 0.4, 0.2, 0.3])
    weights["inputs_output"] = torch.tensor([0.0, 0.1, 0.3, 0.2, 0.4])
    assert str(one_shot.derive(weights)) == "maxpool3x3@0+conv1x1@0,1+maxpool3x3@0,1+maxpool3x3@1,3+output@2,4"


def test_foreign_cells_are_refused():
    with pytest.raises(InputError, match="expected 4"):
        make(SPACES[0]).select(Architecture.parse("conv3x3@0+output@1"))


def test_what_has_no_weight_is_not_computed():
    """One operation per block in use, one projection per edge from the input, none for loose ends."""
    space, one_shot = SPACES[0], make(SPACES[0])
    cell = space.parse("conv3x3@0+conv1x1@0,1+maxpool3x3@0,2+conv3x3@2,3+output@0,3")  # node 4 is a loose end
    calls: Counter[str] = Counter()
    for name, module in one_shot.network.cells[0].named_modules():
        if (name.count(".") == 1 and name.startswith("projections")) or name.count(".") == 3:
            module.register_forward_hook(lambda *_, name=name: calls.update([name]))
    one_shot.select(cell)(batch())
    options = {"blocks.1.options.conv3x3", "blocks.2.options.conv1x1", "blocks.3.options.maxpool3x3"}
    assert {name for name in calls if name.startswith("blocks")} == options
    assert {name for name in calls if name.startswith("proj")} == {f"projections.{v}" for v in (1, 2, 3, 5)}
    assert set(calls.values()) == {1}
    calls.clear()
    one_shot.mix(one_shot.uniform())(batch())
    assert len(calls) == 4 * 3 + 5


# -- gradients ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["mixture", "straight_through", "draw"])
def test_twice_differentiable_in_the_logits(how: str):
    one_shot = make(SPACES[1])
    logits = {
        name: vector.detach().double().requires_grad_() for name, vector in one_shot.logits(0.1, generator(0)).items()
    }
    if how == "mixture":
        weights = {name: torch.softmax(vector, -1) for name, vector in logits.items()}
    else:
        pick = straight_through if how == "straight_through" else one_shot.draw
        weights = pick(logits, generator=generator(1))
    loss = one_shot.mix(weights)(batch()).square().sum()
    gradients = torch.autograd.grad(loss, list(one_shot.parameters()), create_graph=True, allow_unused=True)
    trace = sum(g.square().sum() for g in gradients if g is not None)
    second = torch.autograd.grad(trace, list(logits.values()), allow_unused=True)
    reached = {name: g for name, g in zip(logits, second, strict=True) if g is not None}
    assert all(bool(g.isfinite().all()) for g in reached.values())
    assert "inputs_output" in reached
    assert bool(reached["inputs_output"].any())
    if how == "mixture":
        assert all(bool(reached[name].any()) for name in logits)


def test_second_derivative_against_differences():
    one_shot = make(SPACES[0]).eval()
    logits = {name: vector.detach().double() for name, vector in one_shot.logits(0.3, generator(0)).items()}
    place = torch.tensor([1.0, 0.0, 0.0]).double()

    def trace(step: Tensor) -> Tensor:
        """Squared norm of the gradient, with one logit moved by a step."""
        moved = logits | {"op_3": logits["op_3"] + step * place}
        loss = one_shot.mix({name: torch.softmax(v, -1) for name, v in moved.items()})(batch()).square().sum()
        gradients = torch.autograd.grad(loss, list(one_shot.parameters()), create_graph=True)
        return sum(g.square().sum() for g in gradients)

    zero = torch.zeros((), dtype=torch.float64, requires_grad=True)
    (exact,) = torch.autograd.grad(trace(zero), [zero])
    step = torch.tensor(1e-5, dtype=torch.float64)
    numeric = (trace(step) - trace(-step)).detach() / (2 * step)
    torch.testing.assert_close(exact, numeric, rtol=1e-4, atol=1e-8)


def test_draws_are_whole_architectures():
    """As many inputs as each vertex reads, values 0 and 1; frequent where the logits are large."""
    one_shot = make(SPACES[1])
    logits = one_shot.logits()
    with torch.no_grad():
        logits["inputs_output"][2] = 3.0
    often = torch.zeros(5)
    for number in range(200):
        drawn = one_shot.draw(logits, generator=generator(number))
        assert all(set(vector.detach().tolist()) <= {0.0, 1.0} for vector in drawn.values())
        assert drawn["inputs_output"].sum() == 3
        assert drawn["inputs_3"].sum() == 2
        assert drawn["op_1"].sum() == 1
        cell = one_shot.derive(drawn)
        assert all(torch.equal(a.detach(), drawn[n].detach()) for n, a in one_shot.path(cell).items())
        often += drawn["inputs_output"].detach()
    assert often.argmax() == 2
    assert often[2] > 180
