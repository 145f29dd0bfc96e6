"""The one-shot network of the size space: paths equal inherited networks, views of weights, mixtures of widths."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.nats_size import Architecture, NATSSize
from foresee.spaces.one_shot import straight_through
from foresee.task import Task

TASK = Task((3, 8, 8), 3)
SPACE = NATSSize(step=1)
SOME = [Architecture(c) for c in ((2, 3, 3, 5, 5), (4, 8, 1, 1, 2), (8, 8, 8, 8, 8), (1, 2, 3, 4, 5))]


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
    theirs = alone.stages(batch())
    for mine, other in zip(one_shot.select(one).stages(batch()), theirs, strict=True):
        assert torch.equal(mine, other)
    assert torch.equal(one_shot(batch()), alone(batch()))


def test_inherited_parameters_are_views():
    one_shot, one = made(), SOME[0]
    alone = one_shot.inherit(one)
    storages = {tensor.untyped_storage().data_ptr() for tensor in (*one_shot.parameters(), *one_shot.buffers())}
    for tensor in (*alone.parameters(), *alone.buffers()):
        assert tensor.untyped_storage().data_ptr() in storages
    before = {name: tensor.clone() for name, tensor in alone.named_parameters()}
    with torch.no_grad():
        for parameter in one_shot.parameters():
            parameter.add_(1.0)
    for name, parameter in alone.named_parameters():
        torch.testing.assert_close(parameter, before[name] + 1.0)


def test_training_an_inherited_network_trains_the_one_shot():
    one_shot, one = made(), SOME[0]
    alone = one_shot.inherit(one)
    optimiser = torch.optim.SGD(alone.parameters(), lr=0.1)
    F.cross_entropy(alone(batch()), torch.tensor([0, 1, 2, 0])).backward()
    optimiser.step()
    one_shot.eval()
    assert torch.equal(one_shot.select(one)(batch()), alone.eval()(batch()))


def test_a_path_moves_the_statistics_of_its_channels_only():
    one_shot = made()
    norm = one_shot.cells[2].edges[0][2]
    one_shot.select(SOME[0])(batch())
    assert (norm.running_mean[:3] != 0).all()
    assert not norm.running_mean[3:].any()


def test_derive_finds_the_path():
    one_shot = made()
    for number in range(20):
        one = SPACE.sample(stream(number))
        assert one_shot.derive(one_shot.path(one)) == one


def test_channels_that_nothing_uses_are_not_computed():
    one_shot, seen = made(), {}
    for name, module in one_shot.named_modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(lambda m, args, out, name=name: seen.update({name: out.shape[1]}))
    one_shot.select(Architecture((2, 3, 3, 5, 4)))(batch())
    assert seen["stem.0"] == seen["cells.0.edges.5.1"] == 2
    assert seen["cells.1.shortcut.1"] == seen["cells.2.edges.0.1"] == 3
    assert seen["cells.4.edges.3.0"] == 4
    assert "cells.2.edges.3.0" not in seen  # equal widths: the skip is the identity
    seen.clear()
    one_shot.mix(one_shot.uniform())(batch())
    assert set(seen.values()) == {8}


def test_a_mixture_by_hand():
    """The stem's map under two widths: the first channels count with both weights, the others with one."""
    one_shot = made().eval()
    weights = one_shot.path(SOME[2])
    weights["c1"] = torch.tensor([0.0, 0.25, 0.0, 0.0, 0.75, 0.0, 0.0, 0.0])
    stem = one_shot.mix(weights).stages(batch())[0]
    full = one_shot.stem(batch(), 5)
    torch.testing.assert_close(stem, full * torch.tensor([1, 1, 0.75, 0.75, 0.75])[:, None, None])
    weights = one_shot.path(SOME[2])
    weights["c3"] = torch.tensor([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5])
    maps = one_shot.mix(weights).stages(batch())
    x, cell = maps[2], one_shot.cells[2]
    scale = torch.tensor([1.0] * 3 + [0.5] * 5)[:, None, None]
    one = scale * cell.edges[0](x, 8)
    two = scale * (cell.edges[1](x, 8) + cell.edges[2](one, 8))
    skip = 0.5 * x + 0.5 * cell.edges[3](x, 8)
    torch.testing.assert_close(maps[3], scale * (skip + cell.edges[4](one, 8) + cell.edges[5](two, 8)))


@pytest.mark.parametrize("how", ["mixture", "straight_through"])
def test_differentiable_twice_in_the_logits(how):
    one_shot = made().double()
    x, y = batch().double(), torch.tensor([0, 1, 2, 0])
    names = [choice.name for choice in one_shot.choices]
    vectors = [torch.randn(8, generator=generator(1, name)).double().requires_grad_() for name in names]

    def squared_norm(vectors):
        given = dict(zip(names, vectors, strict=True))
        if how == "mixture":
            one_shot.mix({name: torch.softmax(vector, 0) for name, vector in given.items()})
        else:
            one_shot.mix(straight_through(given, generator=generator(3, "gumbel")))
        loss = F.cross_entropy(one_shot(x), y)
        grads = torch.autograd.grad(loss, list(one_shot.parameters()), create_graph=True, allow_unused=True)
        return sum(grad.square().sum() for grad in grads if grad is not None)

    found = torch.autograd.grad(squared_norm(vectors), vectors)
    assert all(bool(grad.any()) for grad in found)
    if how == "mixture":
        direction = [torch.randn(8, generator=generator(2, name)).double() for name in names]
        step, values = 1e-5, []
        for sign in (1, -1):
            moved = [v.detach() + sign * step * d for v, d in zip(vectors, direction, strict=True)]
            values.append(squared_norm(moved).item())
        slope = sum((g * d).sum().item() for g, d in zip(found, direction, strict=True))
        assert slope == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4)


def test_straight_through_is_a_path():
    one_shot = made().eval()
    drawn = straight_through(one_shot.logits(1.0, generator(0, "logits")), generator=generator(1, "gumbel"))
    alone = one_shot.inherit(one_shot.derive(drawn))
    assert torch.equal(one_shot.mix(drawn)(batch()), alone(batch()))


def test_what_does_not_fit_is_refused():
    one_shot = made()
    with pytest.raises(InputError, match="block 2: 9, expected one of"):
        one_shot.inherit(Architecture((8, 9, 8, 8, 8)))
    with pytest.raises(InputError, match=r"weights of c3: .*, expected a vector with a weight above 0"):
        one_shot.mix({**one_shot.uniform(), "c3": torch.zeros(8)})
