"""The AutoFormer supernet: paths are inherited networks, storage is shared, mixtures are masks, double backward."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.autoformer import Architecture, AutoFormerTiny
from foresee.spaces.autoformer.prefix import PrefixLinear, PrefixNorm
from foresee.spaces.one_shot import straight_through
from foresee.spaces.sliced import mask
from foresee.task import Task

TASK = Task((3, 8, 8), 3)
SPACE = AutoFormerTiny(embed=(8, 10, 12), mlp=(1.5, 2.0), heads=(1, 2), depth=(1, 2, 3), patch=4, head_dim=4, reach=3)


def made(**options):
    torch.manual_seed(0)
    one_shot = SPACE.one_shot(TASK, **options)
    for parameter in one_shot.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return one_shot


def batch():
    return torch.randn(4, *TASK.inputs, generator=generator(0, "inputs"))


@pytest.mark.parametrize("options", [{}, {"embed": 16}], ids=["fitting", "wider"])
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_path_is_the_inherited_network(options, mode):
    one_shot = made(**options)
    getattr(one_shot, mode)()
    for number in range(8):
        one = SPACE.sample(stream(number))
        alone = one_shot.inherit(one)
        assert alone.training is one_shot.training
        torch.testing.assert_close(one_shot.select(one)(batch()), alone(batch()))
        torch.testing.assert_close(one_shot.stages(batch()), alone.stages(batch()))
        torch.testing.assert_close(one_shot.pre_gap(batch()), alone.pre_gap(batch()))


def test_a_path_has_the_gradients_of_the_inherited_network():
    one_shot, one = made(), SPACE.sample(stream(3))
    alone = one_shot.inherit(one)
    one_shot.select(one)(batch()).square().sum().backward()
    alone(batch()).square().sum().backward()
    mine = dict(one_shot.network.named_parameters())
    for name, parameter in alone.named_parameters():
        corner = tuple(map(slice, parameter.shape))
        torch.testing.assert_close(mine[name].grad[corner], parameter.grad)
        mine[name].grad[corner] = 0.0
    assert not any(bool(p.grad.any()) for p in mine.values() if p.grad is not None)


def test_inherited_parameters_share_storage():
    one_shot = made(embed=16)
    alone = one_shot.inherit(SPACE.sample(stream(5)))
    owners = {p.untyped_storage().data_ptr() for p in one_shot.parameters()}
    assert {p.untyped_storage().data_ptr() for p in alone.parameters()} <= owners
    before = copy.deepcopy(alone.state_dict())
    with torch.no_grad():
        for parameter in one_shot.parameters():
            parameter.add_(1.0)
    for name, parameter in alone.named_parameters():
        torch.testing.assert_close(parameter, before[name] + 1.0)


def test_training_an_inherited_network_trains_the_supernet():
    one_shot, one = made(), SPACE.sample(stream(5))
    alone = one_shot.inherit(one)
    before = one_shot.select(one)(batch()).detach()
    optimiser = torch.optim.SGD(alone.parameters(), lr=0.1)
    F.cross_entropy(alone(batch()), torch.tensor([0, 1, 2, 0])).backward()
    optimiser.step()
    after = one_shot(batch())
    assert not torch.allclose(after, before)
    torch.testing.assert_close(after, alone(batch()))


def test_queries_keys_and_values_are_interleaved():
    """A head's rows do not depend on how many heads follow."""
    one_shot = made()
    few, many = (one_shot.inherit(Architecture(8, (1.5,), (heads,))) for heads in (1, 2))
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(
        few.layers[0].attention.qkv(x), many.layers[0].attention.qkv(x)[..., :12], rtol=1e-5, atol=1e-6
    )
    weight = one_shot.network.layers[0].attention.qkv.weight
    assert torch.equal(few.layers[0].attention.qkv.weight[0::3], weight[0:12:3, :8])


def test_derive_finds_the_path():
    one_shot = made()
    for number in range(20):
        one = SPACE.sample(stream(number))
        assert one_shot.derive(one_shot.path(one)) == one
    assert len(one_shot.choices) == 2 + 2 * 3
    assert one_shot.choices[0].options == ("8", "10", "12")


def test_only_what_is_selected_is_computed():
    """The path's MACs are those of the stand-alone network, and layers beyond the depth are not called."""
    one_shot, calls = made(embed=16), []
    for number, layer in enumerate(one_shot.network.layers):
        layer.register_forward_hook(lambda *_, number=number: calls.append(number))
    for number in range(5):
        one = SPACE.sample(stream(number))
        calls.clear()
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            one_shot.select(one)(batch()[:1])
        assert counter.get_total_flops() == SPACE.counts(one, TASK).flops
        assert calls == list(range(one.depth))


def test_mask_and_norm_by_hand():
    half, quarter = torch.tensor(0.5), torch.tensor(0.25)
    assert mask([(2, half), (4, quarter)]).tolist() == [0.75, 0.75, 0.25, 0.25]
    norm, x = PrefixNorm(5), torch.randn(3, 4)
    torch.nn.init.normal_(norm.weight)
    expected = 0.25 * F.layer_norm(x, (4,), norm.weight[:4], norm.bias[:4])
    expected[:, :2] += 0.5 * F.layer_norm(x[:, :2], (2,), norm.weight[:2], norm.bias[:2])
    torch.testing.assert_close(norm(x, [(2, half), (4, quarter)]), expected)
    linear = PrefixLinear(5, 6)
    torch.testing.assert_close(linear(x, 3), x @ linear.weight[:3, :4].T + linear.bias[:3])


def test_mixture_of_heads_hidden_layers_and_depths_by_hand():
    one_shot = made()
    one = Architecture(10, (1.5, 2.0), (1, 2))
    weights = one_shot.path(one)
    weights["0.heads"] = torch.tensor([0.25, 0.75])
    weights["1.mlp"] = torch.tensor([0.5, 0.5])
    weights["depth"] = torch.tensor([0.4, 0.6, 0.0])
    found = one_shot.mix(weights)(batch())
    alone = one_shot.inherit(Architecture(10, (1.5, 2.0), (2, 2)))
    x, index = alone.tokens(batch()), alone.index
    for number, layer in enumerate(alone.layers):
        gate = 1.0 if number == 0 else 0.6
        gathered = layer.attention.attend(layer.attention.qkv(layer.norm1(x)), index)
        if number == 0:
            gathered = gathered * torch.tensor([1.0] * 4 + [0.75] * 4)
        x = x + gate * layer.attention.projection(gathered)
        hidden = layer.activation(layer.fc1(layer.norm2(x)))
        if number == 1:
            hidden = hidden * torch.tensor([1.0] * 15 + [0.5] * 5)
        x = x + gate * layer.fc2(hidden)
    torch.testing.assert_close(found, alone.head(alone.norm(x)[:, 1:].mean(1)))


def test_mixture_of_widths_is_finite_and_between():
    """A width of weight near 1 gives nearly its own path."""
    one_shot, one = made(), SPACE.sample(stream(1))
    exact = one_shot.select(one)(batch())
    weights = one_shot.path(one)
    weights["embed"] = 0.9999 * weights["embed"] + 0.0001 / 3
    torch.testing.assert_close(one_shot.mix(weights)(batch()), exact, rtol=0.02, atol=0.02)
    assert bool(one_shot.mix(one_shot.uniform())(batch()).isfinite().all())


@pytest.mark.parametrize("how", ["mixture", "straight_through"])
def test_differentiable_twice_in_the_logits(how):
    one_shot = made().double()
    x, y = batch().double(), torch.tensor([0, 1, 2, 0])
    logits = {n: v.detach().double() for n, v in one_shot.logits(0.5, generator(0, "logits")).items()}
    names, weights = list(logits), list(one_shot.parameters())

    def squared_norm(vectors):
        given = dict(zip(names, vectors, strict=True))
        if how == "mixture":
            one_shot.mix({name: torch.softmax(vector, 0) for name, vector in given.items()})
        else:
            one_shot.mix(straight_through(given, generator=generator(3, "gumbel")))
        loss = F.cross_entropy(one_shot(x), y)
        grads = torch.autograd.grad(loss, weights, create_graph=True, allow_unused=True)
        return sum(grad.square().sum() for grad in grads if grad is not None)

    vectors = [logits[name].requires_grad_() for name in names]
    found = torch.autograd.grad(squared_norm(vectors), vectors, allow_unused=True)
    assert any(grad is not None and bool(grad.any()) for grad in found)
    if how == "mixture":
        assert all(grad is not None and bool(grad.any()) for grad in found)
        draws = [torch.randn(v.shape, generator=generator(1, n)).double() for n, v in logits.items()]
        step = 1e-5
        up, down = (
            squared_norm([v.detach() + sign * step * d for v, d in zip(vectors, draws, strict=True)]).item()
            for sign in (1, -1)
        )
        slope = sum((g * d).sum().item() for g, d in zip(found, draws, strict=True))
        assert slope == pytest.approx((up - down) / (2 * step), rel=1e-4)


def test_straight_through_is_a_path():
    one_shot = made()
    drawn = straight_through(one_shot.logits(1.0, generator(0, "logits")), generator=generator(1, "gumbel"))
    found = one_shot.mix(drawn)(batch())
    torch.testing.assert_close(found, one_shot.inherit(one_shot.derive(drawn))(batch()))
    found.square().sum().backward()


def test_what_is_not_offered():
    one_shot = made()
    outside = Architecture(8, (1.0,), (1,))
    with pytest.raises(InputError, match=r"outside the space: 0.mlp 1.0, expected one of \(1.5, 2.0\)"):
        one_shot.path(outside)
    assert one_shot.inherit(outside)(batch()).shape == (4, 3)
    for large, message in (
        (Architecture(14, (1.5,), (1,)), "width 14, the supernet has 12"),
        (Architecture(8, (1.5,), (3,)), "heads 3"),
        (Architecture(8, (3.5,), (1,)), "hidden layer 28"),
        (Architecture(8, (1.5,) * 4, (1,) * 4), "depth 4"),
    ):
        with pytest.raises(InputError, match=message):
            one_shot.inherit(large)
    with pytest.raises(InputError, match="at least as wide as 12"):
        made(embed=10)
    with pytest.raises(InputError, match="multiple of the patch"):
        SPACE.one_shot(Task((3, 9, 8), 3))
