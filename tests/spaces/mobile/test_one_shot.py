"""The one-shot network of mobile networks: paths equal inherited networks, weights are views, mixtures by hand."""

from __future__ import annotations

import copy

import pytest
import torch
from tests.one_shots import CASES
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.mobile.sliced import SlicedDepthwise, centre
from foresee.spaces.one_shot import straight_through

NAMES = ("mobile", "mobile_by_layer")


def made(name):
    return CASES[name].space(), CASES[name].one_shot()


def batch(count=4):
    return torch.randn(count, 3, 8, 8, generator=generator(0, "inputs"))


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_the_inherited_network(name, mode):
    space, one_shot = made(name)
    one_shot(batch())  # running statistics move
    getattr(one_shot, mode)()
    for number in range(4):
        one = space.sample(stream(number))
        alone = one_shot.inherit(one)
        assert alone.training is one_shot.training
        for mine, other in zip(one_shot.select(one).stages(batch()), alone.stages(batch()), strict=True):
            assert torch.equal(mine, other)
        assert torch.equal(one_shot(batch()), alone(batch()))
        assert torch.equal(one_shot.pre_gap(batch()), alone.pre_gap(batch()))
        built = space.build(one, CASES[name].task).train(one_shot.training)
        built.load_state_dict(alone.state_dict())
        torch.testing.assert_close(built(batch()), alone(batch()))


@pytest.mark.parametrize("name", NAMES)
def test_inherited_parameters_are_views(name):
    space, one_shot = made(name)
    alone = one_shot.inherit(space.sample(stream(1)))
    storages = {tensor.untyped_storage().data_ptr() for tensor in (*one_shot.parameters(), *one_shot.buffers())}
    assert {tensor.untyped_storage().data_ptr() for tensor in alone.parameters()} <= storages
    before = {name: tensor.clone() for name, tensor in alone.named_parameters()}
    with torch.no_grad():
        for parameter in one_shot.parameters():
            parameter.add_(1.0)
    for name, parameter in alone.named_parameters():
        torch.testing.assert_close(parameter, before[name] + 1.0)


def test_training_an_inherited_network_trains_the_one_shot():
    space, one_shot = made("mobile_by_layer")
    one = space.sample(stream(3))
    alone = one_shot.inherit(one)
    optimiser = torch.optim.SGD(alone.parameters(), lr=0.1)
    F.cross_entropy(alone(batch()), torch.tensor([0, 1, 2, 0])).backward()
    optimiser.step()
    one_shot.eval()
    assert torch.equal(one_shot.select(one)(batch()), alone.eval()(batch()))


@pytest.mark.parametrize("name", NAMES)
def test_derive_finds_the_path(name):
    space, one_shot = made(name)
    for number in range(20):
        one = space.sample(stream(number))
        assert one_shot.derive(one_shot.path(one)) == one


@pytest.mark.parametrize("name", NAMES)
def test_a_straight_through_draw_is_its_path(name):
    _, one_shot = made(name)
    one_shot.eval()
    for seed in range(4):
        drawn = straight_through(one_shot.logits(1.0, generator(seed, "logits")), generator=generator(seed, "gumbel"))
        alone = one_shot.inherit(one_shot.derive(drawn))
        torch.testing.assert_close(one_shot.mix(drawn)(batch()), alone(batch()), rtol=1e-4, atol=1e-5)
        chosen = one_shot.mix(drawn, gradient="chosen")(batch())
        torch.testing.assert_close(chosen, alone(batch()), rtol=1e-4, atol=1e-5)


def test_channels_and_layers_that_nothing_uses_are_not_computed():
    space, one_shot = made("mobile")
    seen = {}
    for name, module in one_shot.network.blocks.named_modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(lambda m, args, out, name=name: seen.update({name: out.shape[1]}))
    one_shot.select(space.parse("e3k3:e6k5x2"))(batch())
    assert (seen["0.0.look.0"], seen["1.0.look.0"], seen["1.1.look.0"]) == (16, 24, 48)
    assert not any(name.startswith("0.1.") for name in seen)
    assert not any("squeeze" in name for name in seen)


def test_kernels_are_summed_which_is_the_sum_of_what_they_give():
    conv = SlicedDepthwise(6, 6, 5, stride=2, padding=2, groups=6, bias=False)
    x, half = torch.randn(2, 4, 7, 7), torch.tensor(0.5)
    apart = [F.conv2d(x, centre(conv.weight[:4], kernel), None, 2, kernel // 2, groups=4) for kernel in (3, 5)]
    torch.testing.assert_close(conv(x, [(3, half), (5, half)]), 0.5 * apart[0] + 0.5 * apart[1])


def test_a_mixture_by_hand():
    """A layer that is reached with weight 0.25, gated with weight 0.75, of the greater expansion with weight 0.5."""
    space, one_shot = made("mobile")
    one_shot.eval()
    weights = one_shot.path(space.parse("e3k3x2:e3k3"))
    weights["1.layers"], weights["1.squeeze"] = torch.tensor([0.75, 0.25]), torch.tensor([0.25, 0.75])
    weights["1.expansion"] = torch.tensor([0.5, 0.5])
    maps = one_shot.mix(weights).stages(batch())
    layer, x = one_shot.network.blocks[0][1], maps[2]
    hidden = layer.widen[2](layer.widen[1](layer.widen[0](x, 24)))
    conv = F.conv2d(hidden, centre(layer.look[0].weight, 3), None, 1, 1, groups=24)
    scale = torch.tensor([1.0] * 16 + [0.5] * 8)[:, None, None]
    seen = layer.look[2](layer.look[1](conv)) * scale
    factors = layer.squeeze.gate(layer.squeeze.expand(torch.relu(layer.squeeze.reduce(layer.squeeze.pool(seen)))))
    out = layer.narrow[1](layer.narrow[0](seen * (0.75 * factors + 0.25), 4))
    torch.testing.assert_close(maps[3], x + 0.25 * out)


@pytest.mark.parametrize("how", ["mixture", "straight_through"])
@pytest.mark.parametrize("name", NAMES)
def test_differentiable_twice_in_the_logits(name, how):
    _, one_shot = made(name)
    one_shot = one_shot.double()
    x, y = batch().double(), torch.tensor([0, 1, 2, 0])
    logits = {
        choice.name: torch.randn(len(choice.options), generator=generator(1, choice.name)).double().requires_grad_()
        for choice in one_shot.choices
    }
    if how == "mixture":
        one_shot.mix({name: torch.softmax(vector, 0) for name, vector in logits.items()})
    else:
        one_shot.mix(straight_through(logits, generator=generator(3, "gumbel")))
    loss = F.cross_entropy(one_shot(x), y)
    grads = torch.autograd.grad(loss, list(one_shot.parameters()), create_graph=True, allow_unused=True)
    squared = sum(grad.square().sum() for grad in grads if grad is not None)
    found = torch.autograd.grad(squared, list(logits.values()), allow_unused=True)
    assert all(grad is not None and bool(grad.isfinite().all()) for grad in found)
    # what is decided about a layer that is not drawn changes nothing, but whether it is drawn does
    telling = [name for name in logits if how == "mixture" or name.endswith("layers")]
    assert all(bool(grad.any()) for name, grad in zip(logits, found, strict=True) if name in telling)


def test_a_copy_reads_its_own_weights():
    space, one_shot = made("mobile")
    one, two = space.parse("e3k3:e6k5x2"), space.parse("e6k5sx2:e3k3")
    other = copy.deepcopy(one_shot.eval().select(one))
    one_shot.select(two)
    assert torch.equal(other(batch()), one_shot.inherit(one)(batch()))


def test_options_and_refusals():
    space, one_shot = made("mobile")
    assert space.one_shot(CASES["mobile"].task, stem=8).network.stem[0].out_channels == 8
    from foresee.spaces.mobile import Mobile

    with pytest.raises(InputError, match="stage 1: expansion 4, expected one of 3, 6"):
        one_shot.inherit(Mobile(widths=(4, 8), expansions=(4,)).parse("e4k3:e4k3"))
    with pytest.raises(InputError, match=r"weights of 1\.kernel: shape \(2, 2\), expected one vector"):
        one_shot.mix({**one_shot.uniform(), "1.kernel": torch.zeros(2, 2)})
