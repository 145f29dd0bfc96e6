"""The networks: the frame, wiring of cells, auxiliary head, drop path; and what cannot be built."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError, UnsupportedError
from foresee.spaces.darts import DARTS, Cell, DropPath
from foresee.spaces.darts.cells import Architecture
from foresee.spaces.darts.named import NAMED
from foresee.spaces.darts.network import BuiltCell, Form, Place, places, reductions
from foresee.task import Task

TASK = Task((3, 16, 16), 7)
V2 = NAMED["DARTS_V2"]


def build(name="DARTS_V2", task=TASK, **settings):
    torch.manual_seed(0)
    return DARTS(**{"channels": 4, "layers": 4, **settings}).build(NAMED[name], task)


# -- the frame ----------------------------------------------------------------------------------------------------------
def test_where_reductions_and_widths_are():
    assert reductions(20) == (6, 13)
    assert reductions(8) == (2, 5)
    assert reductions(14) == (4, 9)
    where = places(Form(36, 20), lambda kind: 4)
    assert [layer for layer, place in enumerate(where) if place.kind == "reduce"] == [6, 13]
    assert [place.channels for place in where] == [36] * 6 + [72] * 7 + [144] * 7
    assert where[0].inputs == (108, 108)
    assert where[1].inputs == (108, 144)
    assert where[6].inputs == (144, 144)
    assert [layer for layer, place in enumerate(where) if place.halve] == [7, 14]
    assert [place.stride for place in where] == [2 if layer in (6, 13) else 1 for layer in range(20)]
    image = places(Form(48, 14, "imagenet"), lambda kind: 4)
    assert image[0].inputs == (48, 48)
    assert image[0].halve, "the stem's first part is twice as large"


def test_stages_and_sizes():
    network = build(layers=6)
    x = torch.randn(2, 3, 16, 16)
    maps = network.stages(x)
    assert [tuple(one.shape[1:]) for one in maps] == [
        (12, 16, 16), (16, 16, 16), (16, 16, 16), (32, 8, 8), (32, 8, 8), (64, 4, 4), (64, 4, 4)
    ]  # fmt: skip
    network.eval()
    assert torch.equal(network.pre_gap(x), network.stages(x)[-1])
    by_hand = network.pre_gap(x).mean((2, 3)) @ network.classifier.weight.T + network.classifier.bias
    torch.testing.assert_close(network(x), by_hand)


def test_imagenet_stem_divides_by_eight():
    network = build(network="imagenet", task=Task((3, 64, 64), 5))
    maps = network.stages(torch.randn(2, 3, 64, 64))
    assert [tuple(one.shape[1:]) for one in maps[:3]] == [(4, 16, 16), (4, 8, 8), (16, 8, 8)]


@pytest.mark.parametrize("network", ["cifar", "imagenet"])
@pytest.mark.parametrize("inputs", [(1, 1, 1), (2, 9, 14), (3, 33, 20)])
def test_any_image_size(network, inputs):
    one = build("ENAS", network=network, task=Task(inputs, 2)).eval()
    assert one(torch.randn(2, *inputs)).shape == (2, 2)


def test_only_images():
    with pytest.raises(InputError, match="channels x height x width"):
        build(task=Task((12,), 2))


# -- cells --------------------------------------------------------------------------------------------------------------
def test_a_cell_is_wired_as_written():
    cell = Cell((("sep_conv_3x3", 1), ("skip_connect", 0), ("max_pool_3x3", 2), ("dil_conv_3x3", 2)), (3, 2))
    place = Place("reduce", (5, 6), 4, False, 2, False)
    built = BuiltCell(cell, place, Form()).eval()
    before, last = torch.randn(2, 5, 8, 8), torch.randn(2, 6, 8, 8)
    zero, one = built.preprocess[0](before), built.preprocess[1](last)
    two = built.edges[0](one) + built.edges[1](zero)
    three = built.edges[2](two) + built.edges[3](two)
    assert torch.equal(built(before, last), torch.cat([three, two], 1))
    assert two.shape == three.shape == (2, 4, 4, 4), "edges from the inputs have the stride, others do not"


def test_hooks_see_every_operation_once():
    """Each leaf fires once a pass (ReLUs and all), and drop path is silent while it does nothing."""
    network = build()
    fired = []
    for name, module in network.named_modules():
        if not list(module.children()):
            module.register_forward_hook(lambda *_, name=name: fired.append(name))
    network(torch.randn(2, 3, 16, 16))
    silent = {name for name, module in network.named_modules() if isinstance(module, DropPath)}
    leaves = {name for name, module in network.named_modules() if not list(module.children())}
    assert len(fired) == len(set(fired))
    assert set(fired) == leaves - silent
    assert not any(getattr(module, "inplace", False) for module in network.modules())


# -- auxiliary head -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("network", "side"), [("cifar", 32), ("imagenet", 224)])
def test_auxiliary_head_is_there_for_training_only(network, side):
    task = Task((3, side, side), 7)
    one = build(network=network, task=task, auxiliary=True).eval()
    x = torch.randn(1, 3, side, side)
    logits, side_logits = one.forward_with_auxiliary(x)
    assert logits.shape == side_logits.shape == (1, 7)
    assert torch.equal(one(x), logits)
    assert not torch.allclose(logits, side_logits)
    tapped = one.stages(x)[len(one.stem) + reductions(4)[1]]
    assert torch.equal(one.auxiliary(tapped), side_logits)
    (logits.sum() + side_logits.sum()).backward()
    assert all(parameter.grad is not None for parameter in one.parameters())


def test_no_auxiliary_head():
    with pytest.raises(UnsupportedError, match="auxiliary=True"):
        build().forward_with_auxiliary(torch.randn(1, 3, 16, 16))
    with pytest.raises(InputError, match=r"28x28, expected at least 29x29"):
        build(task=Task((3, 28, 28), 2), auxiliary=True)
    build(task=Task((3, 29, 29), 2), auxiliary=True).forward_with_auxiliary(torch.randn(2, 3, 29, 29))
    with pytest.raises(InputError, match=r"expected at least 193x193"):
        build(task=Task((3, 192, 200), 2), auxiliary=True, network="imagenet")


# -- drop path ----------------------------------------------------------------------------------------------------------
def test_drop_path_drops_whole_samples_and_keeps_the_mean():
    torch.manual_seed(0)
    drop = DropPath(0.25).train()
    out = drop(torch.ones(4000, 2, 3, 3))
    per_sample = out.flatten(1)
    assert out.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert torch.equal(per_sample.amin(1), per_sample.amax(1))
    assert out.mean().item() == pytest.approx(1.0, abs=0.03)
    x = torch.randn(3, 2, 2, 2)
    assert drop.eval()(x) is x
    assert DropPath().train()(x) is x


def test_drop_path_spares_identity():
    """With nearly all paths dropped a cell of identities is what it was; one of pools is zero."""
    x = torch.randn(2, 4, 6, 6)
    for op, same in (("skip_connect", True), ("avg_pool_3x3", False)):
        cell = Cell(((op, 0), (op, 1)), (2,))
        built = BuiltCell(cell, Place("normal", (4, 4), 4, False, 1, False), Form(drop_path=1 - 1e-9))
        full = built.preprocess[0](x) + built.preprocess[1](x)
        assert torch.equal(built(x, x), full if same else torch.zeros_like(full))


def test_training_sets_the_probability():
    network = build(drop_path=0.2)
    drops = [module for module in network.modules() if isinstance(module, DropPath)]
    assert len(drops) == 4
    assert all(drop.probability == 0.2 for drop in drops)
    x = torch.randn(2, 3, 16, 16)
    outputs = []
    for probability in (0.0, 0.6):
        for drop in drops:
            drop.probability = probability
        outputs += [network(x), network(x)]
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[2], outputs[3])


# -- idle parts ---------------------------------------------------------------------------------------------------------
def no_gradient(space, architecture, task):
    network = space.build(architecture, task)
    network(torch.randn(2, *task.inputs)).square().sum().backward()
    return {name for name, parameter in network.named_parameters() if parameter.grad is None}


@pytest.mark.parametrize("network", ["cifar", "imagenet"])
@pytest.mark.parametrize("reads", [(0, 0), (1, 1)])
def test_idle_cells_are_named(network, reads):
    """Cells that read one of their inputs only: with input 0 every other cell is idle."""
    edges = tuple(("sep_conv_3x3", source) for source in (*reads, 0, 1))
    cell = Cell(edges, (2,))  # node 3 is idle too
    space = DARTS(channels=2, layers=5, network=network)
    architecture = Architecture(cell, cell)
    named = space.unused_parameters(architecture)
    without = no_gradient(space, architecture, Task((3, 16, 16), 2))
    assert without
    network_names = [name for name, _ in space.build(architecture, Task()).named_parameters()]
    covered = {name for name in network_names if any(f"{name}.".startswith(f"{place}.") for place in named)}
    assert covered == without
    assert ("cells.3" in named) is (reads == (0, 0))


def test_nothing_is_idle_inside_the_space():
    assert DARTS().unused_parameters(V2) == frozenset()
    assert DARTS(auxiliary=True).unused_parameters(V2) == {"auxiliary"}


def test_modules_are_plain():
    kinds = {type(module) for module in build().modules()}
    assert nn.ReLU in kinds
    assert nn.Conv2d in kinds
    assert nn.BatchNorm2d in kinds
