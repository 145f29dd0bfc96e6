"""The DARTS search network: paths equal inherited networks, mixtures, straight-through draws, DARTS' rule, PC-DARTS."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.nn import functional as F

from foresee.errors import InputError, UnknownNameError
from foresee.seeds import generator, stream
from foresee.spaces.darts import DARTS, DARTSOneShot
from foresee.spaces.darts.cells import EDGES, KINDS, OPS
from foresee.spaces.darts.named import NAMED
from foresee.spaces.one_shot import one_hot, straight_through
from foresee.task import Task

TASK = Task((3, 8, 8), 3)
SPACE = DARTS()
FORMS = [{}, {"partial": 2}, {"partial": 4, "edge_normalisation": True}, {"network": "imagenet"}]


def made(**options):
    torch.manual_seed(0)
    return SPACE.one_shot(TASK, **{"channels": 4, "layers": 3, **options})


def batch():
    return torch.randn(4, *TASK.inputs, generator=generator(0, "inputs"))


def test_the_published_search_network():
    with torch.device("meta"):
        one_shot = SPACE.one_shot(Task())
    assert sum(parameter.numel() for parameter in one_shot.parameters()) == 1_930_618
    assert len(one_shot.choices) == 28
    assert one_shot.choices[0].options == ("none", *OPS)


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("options", FORMS, ids=str)
def test_a_path_is_the_inherited_network(options, mode):
    one_shot = made(**options)
    one_shot(batch())  # running statistics of all operations move
    getattr(one_shot, mode)()
    architecture = SPACE.sample(stream(5))
    alone = one_shot.inherit(architecture)
    assert alone.training is one_shot.training
    assert torch.equal(one_shot.select(architecture)(batch()), alone(batch()))


@pytest.mark.parametrize("options", FORMS[:2], ids=str)
def test_inherited_parameters_share_storage(options):
    one_shot = made(**options)
    alone = one_shot.inherit(SPACE.sample(stream(5)))
    mine = {tensor.data_ptr() for tensor in (*one_shot.parameters(), *one_shot.buffers())}
    theirs = [tensor.data_ptr() for tensor in (*alone.parameters(), *alone.buffers())]
    assert set(theirs) <= mine
    assert len(set(theirs)) == len(theirs)
    before = copy.deepcopy(alone.state_dict())
    with torch.no_grad():
        for parameter in one_shot.parameters():
            parameter.add_(1.0)
    for name, parameter in alone.named_parameters():
        torch.testing.assert_close(parameter, before[name] + 1.0)


def test_training_an_inherited_network_trains_the_one_shot():
    one_shot, architecture = made(), SPACE.sample(stream(5))
    alone = one_shot.inherit(architecture)
    optimiser = torch.optim.SGD(alone.parameters(), lr=0.1)
    F.cross_entropy(alone(batch()), torch.tensor([0, 1, 2, 0])).backward()
    optimiser.step()
    one_shot.eval()
    torch.testing.assert_close(one_shot.select(architecture)(batch()), alone.eval()(batch()))


@pytest.mark.parametrize("options", FORMS[:3], ids=str)
def test_derive_finds_the_path(options):
    one_shot = made(layers=1, **options)
    for number in range(20):
        one = SPACE.sample(stream(number))
        assert SPACE.canonical(one_shot.derive(one_shot.path(one))) == SPACE.canonical(one)


def test_derive_ignores_none_and_weighs_edges():
    one_shot = made(layers=1, edge_normalisation=True)
    weights = one_shot.logits(1.0, generator(1, "logits"))
    soft = {name: torch.softmax(vector, 0) for name, vector in weights.items()}
    soft["normal.5.1"] = torch.tensor([0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0])
    soft["normal.5.inputs"] = torch.tensor([1e-6, 1.0, 1e-6, 1e-5, 1e-6])
    pair = one_shot.derive(soft).normal.edges[-2:]
    assert pair[0] == ("dil_conv_3x3", 1)
    assert pair[1][1] == 3
    plain = made(layers=1)
    pair = plain.derive({choice.name: soft[choice.name] for choice in plain.choices}).normal.edges[-2:]
    assert 1 not in [source for _, source in pair]


def calls(one_shot, run):
    """Names of the operations that were computed."""
    seen = set()
    handles = [
        option.register_forward_hook(lambda *_, name=(layer, edge, op): seen.add(name))
        for layer, cell in enumerate(one_shot.network.cells)
        for edge, mixed in enumerate(cell.edges)
        for op, option in mixed.options.items()
    ]
    run()
    for handle in handles:
        handle.remove()
    return seen


def test_options_of_weight_zero_are_not_computed():
    one_shot, one = made(), SPACE.sample(stream(5))
    expected = {
        (layer, EDGES.index((source, node)), op)
        for layer, kind in enumerate(("normal", "reduce", "reduce"))
        for node, pair in one[kind].nodes
        for op, source in pair
    }
    assert calls(one_shot, lambda: one_shot.select(one)(batch())) == expected
    assert len(calls(one_shot, lambda: one_shot.mix(one_shot.uniform())(batch()))) == 3 * 14 * 7
    nothing = {choice.name: one_hot(0, len(choice.options)) for choice in one_shot.choices}
    assert calls(one_shot, lambda: one_shot.mix(nothing)(batch())) == set()
    assert one_shot(batch()).shape == (4, 3)


def test_mixture_by_hand():
    """Two operations on one edge, one on another: the first node is their weighted sum."""
    one_shot = made(layers=2).eval()
    weights = {choice.name: one_hot(0, 8) for choice in one_shot.choices}
    weights["reduce.2.0"] = torch.tensor([0.5, 0.0, 0.0, 0.2, 0.3, 0.0, 0.0, 0.0])
    weights["reduce.2.1"] = torch.tensor([0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 0.0, 0.0])
    cell = one_shot.mix(weights).network.cells[0]
    x = one_shot.network.stem[0](batch())
    zero, one = cell.preprocess[0](x), cell.preprocess[1](x)
    first, second = (cell.edges[edge].options for edge in (0, 1))
    node = 0.2 * first["skip_connect"](zero) + 0.3 * first["sep_conv_3x3"](zero) + 0.7 * second["avg_pool_3x3"](one)
    torch.testing.assert_close(cell(x, x)[:, :8], node)
    assert not cell(x, x)[:, 8:].any()


@pytest.mark.parametrize("options", [{}, {"partial": 2, "edge_normalisation": True}], ids=str)
@pytest.mark.parametrize("how", ["mixture", "straight_through"])
def test_differentiable_twice_in_the_logits(options, how):
    """The gradient of a squared gradient norm, as NASI takes it; checked by finite differences for the mixture."""
    one_shot = made(layers=2, channels=4, **options).double()
    x, y = batch().double(), torch.tensor([0, 1, 2, 0])
    logits = {name: vector.detach().double() for name, vector in one_shot.logits(0.5, generator(0, "logits")).items()}
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
        direction = [
            torch.randn(vector.shape, generator=generator(1, name)).double() for name, vector in logits.items()
        ]
        step = 1e-5
        up, down = (
            squared_norm([v.detach() + sign * step * d for v, d in zip(vectors, direction, strict=True)]).item()
            for sign in (1, -1)
        )
        slope = sum((g * d).sum().item() for g, d in zip(found, direction, strict=True) if g is not None)
        assert slope == pytest.approx((up - down) / (2 * step), rel=1e-4)


@pytest.mark.parametrize("options", [{}, {"partial": 2}, {"partial": 2, "edge_normalisation": True}], ids=str)
def test_straight_through_is_a_path(options):
    """With partial channels too, where an edge of `none` must let nothing by."""
    one_shot = made(**options)
    logits = one_shot.logits(1.0, generator(0, "logits"))
    drawn = straight_through(logits, generator=generator(1, "gumbel"))
    hard = {name: vector.detach() for name, vector in drawn.items()}
    assert len(calls(one_shot, lambda: one_shot.mix(drawn)(batch()))) > 3 * 14
    assert len(calls(one_shot, lambda: one_shot.mix(drawn, gradient="chosen")(batch()))) <= 3 * 14
    one_shot.eval()
    assert torch.equal(one_shot.mix(drawn)(batch()), one_shot.mix(hard)(batch()))


def test_partial_channels_by_hand():
    """The first half of the channels passes, the rest goes by, and both are interleaved."""
    one_shot = made(partial=2, layers=3).eval()
    one = SPACE.sample(stream(0))
    mixed = one_shot.select(one).network.cells[0].edges[0]
    x = torch.randn(2, 4, 6, 6)
    out = mixed(x, one_hot(OPS.index("sep_conv_3x3"), 7))
    assert torch.equal(out[:, 0::2], mixed.options["sep_conv_3x3"](x[:, :2]))
    assert torch.equal(out[:, 1::2], x[:, 2:])
    strided = one_shot.network.cells[1].edges[0](torch.randn(2, 8, 6, 6), one_hot(0, 7))
    assert strided.shape == (2, 8, 3, 3)


def test_the_space_sets_the_stem():
    one_shot = DARTS(network="imagenet").one_shot(Task((3, 16, 16), 2), channels=2, layers=1)
    assert len(one_shot.network.stem) == 2


def test_it_can_be_copied():
    one_shot = made(layers=1)
    other = copy.deepcopy(one_shot)
    one_shot.select(SPACE.sample(stream(0)))
    assert not torch.equal(one_shot.weight("normal.2.0"), other.weight("normal.2.0"))
    assert other.network.cells[0].terms.__self__ is other


@pytest.mark.parametrize("name", ["NASNet_A", "ENAS"])
def test_architectures_outside_are_refused(name):
    one_shot = made(layers=1)
    for refuse in (one_shot.path, one_shot.inherit):
        with pytest.raises(InputError, match="outside the space"):
            refuse(NAMED[name])


def test_wrong_options():
    with pytest.raises(InputError, match="partial 3: expected a divisor"):
        made(partial=3)
    with pytest.raises(InputError, match="layers 0"):
        DARTSOneShot(TASK, layers=0)
    with pytest.raises(UnknownNameError, match="cifar"):
        made(network="mnist")
    one_shot = made(layers=1)
    with pytest.raises(InputError, match="one vector"):
        one_shot.mix({choice.name: torch.ones(2, 8) for choice in one_shot.choices})


def test_choices_are_named_by_node_and_input():
    names = [choice.name for choice in made(layers=1, edge_normalisation=True).choices]
    assert names[:3] == ["normal.2.0", "normal.2.1", "normal.3.0"]
    assert "reduce.5.inputs" in names
    assert len(names) == len(KINDS) * (14 + 4)
