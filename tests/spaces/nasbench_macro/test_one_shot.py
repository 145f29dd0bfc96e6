"""The one-shot network of NAS-Bench-Macro: paths equal inherited networks, mixtures are sums, weights are shared."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.nasbench_macro import Architecture, NASBenchMacro
from foresee.spaces.one_shot import straight_through
from foresee.task import Task

TASK = Task((3, 8, 8), 3)
SPACE = NASBenchMacro(channels=2, head=4)
SOME = [SPACE.parse(text) for text in ("00000000", "12012012", "02100221")]


def made():
    torch.manual_seed(0)
    return SPACE.one_shot(TASK)


def batch(count=4):
    return torch.randn(count, *TASK.inputs, generator=generator(0, "inputs"))


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("one", SOME, ids=str)
def test_a_path_is_the_inherited_network(one, mode):
    one_shot = made()
    one_shot(batch())  # running statistics move
    getattr(one_shot, mode)()
    alone = one_shot.inherit(one)
    assert alone.training is one_shot.training
    for mine, other in zip(one_shot.select(one).stages(batch()), alone.stages(batch()), strict=True):
        assert torch.equal(mine, other)
    assert torch.equal(one_shot(batch()), alone(batch()))
    assert torch.equal(one_shot.pre_gap(batch()), alone.pre_gap(batch()))
    built = SPACE.build(one, TASK).train(one_shot.training)
    built.load_state_dict(alone.state_dict())
    assert torch.equal(built(batch()), alone(batch()))


def test_inherited_parameters_are_the_same_tensors():
    one_shot = made()
    mine = {tensor.data_ptr() for tensor in (*one_shot.parameters(), *one_shot.buffers())}
    theirs = [tensor.data_ptr() for tensor in one_shot.inherit(SOME[1]).parameters()]
    assert set(theirs) <= mine
    assert len(set(theirs)) == len(theirs)


def test_derive_finds_the_path():
    one_shot = made()
    for number in range(20):
        one = SPACE.sample(stream(number))
        assert one_shot.derive(one_shot.path(one)) == one


def test_only_what_has_a_weight_is_computed():
    one_shot, seen = made(), []
    for layer, mixed in enumerate(one_shot.network.layers):
        for op, option in mixed.options.items():
            option.register_forward_hook(lambda *_, name=(layer, op): seen.append(name))
    one_shot.select(SOME[1])(batch())
    assert seen == list(enumerate(SOME[1].ops))
    seen.clear()
    one_shot.mix(one_shot.uniform())(batch())
    assert len(seen) == len(set(seen)) == 24


def test_a_mixture_by_hand():
    one_shot = made().eval()
    weights = {**one_shot.path(SOME[0]), "2": torch.tensor([0.5, 0.0, 0.25])}
    maps = one_shot.mix(weights).stages(batch())
    wide = one_shot.network.layers[1].options["e6k5"]
    torch.testing.assert_close(maps[2], 0.5 * maps[1] + 0.25 * wide(maps[1]))


def test_a_copy_reads_its_own_weights():
    one_shot = made().eval()
    other = copy.deepcopy(one_shot.select(SOME[0]))
    one_shot.select(SOME[1])
    assert torch.equal(other(batch()), one_shot.inherit(SOME[0])(batch()))


@pytest.mark.parametrize("how", ["mixture", "straight_through"])
def test_differentiable_twice_in_the_logits(how):
    one_shot = made().double()
    x, y = batch().double(), torch.tensor([0, 1, 2, 0])
    logits = {choice.name: torch.randn(3, generator=generator(1, choice.name)).double() for choice in one_shot.choices}
    for vector in logits.values():
        vector.requires_grad_()
    if how == "mixture":
        one_shot.mix({name: torch.softmax(vector, 0) for name, vector in logits.items()})
    else:
        one_shot.mix(straight_through(logits, generator=generator(3, "gumbel")))
    loss = F.cross_entropy(one_shot(x), y)
    grads = torch.autograd.grad(loss, list(one_shot.parameters()), create_graph=True, allow_unused=True)
    squared = sum(grad.square().sum() for grad in grads if grad is not None)
    found = torch.autograd.grad(squared, list(logits.values()))
    assert all(bool(grad.any()) for grad in found)


def test_options_and_refusals():
    assert SPACE.one_shot(TASK, channels=4).network.layers[0].options["e3k3"].widen[0].in_channels == 4
    with pytest.raises(InputError, match=r"weights of 3: shape \(2, 3\), expected one vector"):
        made().mix({**made().uniform(), "3": torch.zeros(2, 3)})
    with pytest.raises(InputError, match="operation of layer 8"):
        Architecture((*("identity",) * 7, "none"))
