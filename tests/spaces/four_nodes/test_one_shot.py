"""One-shot networks of four-node cells, in both spaces that have them: what holds for each."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.four_nodes import MixedCell
from foresee.spaces.nasbench201 import EDGES, NASBench201
from foresee.spaces.one_shot import Mixed, one_hot, straight_through
from foresee.spaces.transnas import TransNASMicro
from foresee.spaces.weighing import live
from foresee.task import Task

TASK = Task((3, 16, 16), 3)
MADE = {
    "nasbench201": (NASBench201(channels=4, cells=1), {}),
    "reference": (NASBench201(channels=4, cells=1, variant="reference"), {}),
    "partial": (NASBench201(channels=4, cells=1), {"partial": 2}),
    "reference, partial": (NASBench201(channels=4, cells=1, variant="reference"), {"partial": 4}),
    "transnas": (TransNASMicro(channels=2), {}),
}


@pytest.fixture(params=MADE, ids=str)
def space(request):
    return MADE[request.param][0]


@pytest.fixture
def one_shot(space):
    torch.manual_seed(0)
    return space.one_shot(TASK, **next(options for one, options in MADE.values() if one is space))


def batch(count=4):
    return torch.randn(count, *TASK.inputs, generator=generator(0, "inputs"))


def cells(one_shot):
    return [cell for cell in one_shot.network.cells if isinstance(cell, MixedCell)]


def with_ops(one_shot, *ops):
    return one_shot.architecture(ops)


NOTHING = ("none",) * 6


def some(space, one_shot):
    """Samples, and cells with nodes that read nothing."""
    return [
        space.sample(stream(3)),
        space.sample(stream(4)),
        with_ops(one_shot, *NOTHING),
        with_ops(one_shot, "none", "none", "nor_conv_3x3", "nor_conv_1x1", "skip_connect", "skip_connect"),
    ]


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_path_is_the_inherited_network(space, one_shot, mode):
    one_shot(batch())  # running statistics of all operations move
    getattr(one_shot, mode)()
    for one in some(space, one_shot):
        alone = one_shot.inherit(one)
        assert alone.training is one_shot.training
        theirs = alone.stages(batch())
        for mine, other in zip(one_shot.select(one).stages(batch()), theirs, strict=True):
            assert torch.equal(mine, other)
        assert torch.equal(one_shot(batch()), alone(batch()))
        assert torch.equal(one_shot.pre_gap(batch()), alone.pre_gap(batch()))


@pytest.mark.parametrize("space", ["nasbench201", "reference", "transnas"], indirect=True)
def test_an_inherited_network_is_the_spaces_own(space, one_shot):
    for one in some(space, one_shot):
        alone, built = one_shot.inherit(one), space.build(one, TASK)
        built.load_state_dict(alone.state_dict())
        assert torch.equal(built(batch()), alone(batch()))


def test_inherited_parameters_share_storage(space, one_shot):
    alone = one_shot.inherit(space.sample(stream(3)))
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


def test_training_an_inherited_network_trains_the_one_shot(space, one_shot):
    one = space.sample(stream(3))
    alone = one_shot.inherit(one)
    optimiser = torch.optim.SGD(alone.parameters(), lr=0.1)
    F.cross_entropy(alone(batch()), torch.tensor([0, 1, 2, 0])).backward()
    optimiser.step()
    one_shot.eval()
    assert torch.equal(one_shot.select(one)(batch()), alone.eval()(batch()))


def test_derive_finds_the_path(space, one_shot):
    for number in range(20):
        one = space.sample(stream(number))
        assert one_shot.derive(one_shot.path(one)) == one


def computed(one_shot, run):
    """The operations that are computed: (cell, edge, operation)."""
    seen = []
    handles = [
        option.register_forward_hook(lambda *_, name=(place, edge, op): seen.append(name))
        for place, cell in enumerate(cells(one_shot))
        for edge, mixed in enumerate(cell.edges)
        for op, option in mixed.options.items()
    ]
    run()
    for handle in handles:
        handle.remove()
    return seen


def test_options_of_weight_zero_are_not_computed(space, one_shot):
    one = with_ops(one_shot, "skip_connect", "none", "nor_conv_3x3", "nor_conv_1x1", "none", "skip_connect")
    used = [(edge, op) for edge, op in enumerate(one.ops) if op != "none"]
    seen = computed(one_shot, lambda: one_shot.select(one)(batch()))
    if getattr(one_shot, "partial", 1) > 1:  # something goes by on edges of `none`: zeros come from the identity
        used = [(edge, op if op != "none" else "skip_connect") for edge, op in enumerate(one.ops)]
    assert sorted(seen) == sorted((place, *pair) for place in range(len(cells(one_shot))) for pair in used)
    options = len(one_shot.choices[0].options) - 1
    everything = computed(one_shot, lambda: one_shot.mix(one_shot.uniform())(batch()))
    assert len(set(everything)) == len(everything) == len(cells(one_shot)) * 6 * options


@pytest.mark.parametrize("how", ["mixture", "straight_through"])
def test_differentiable_twice_in_the_logits(one_shot, how):
    """The gradient of a squared gradient norm, as NASI takes it; by finite differences too for the mixture."""
    one_shot = one_shot.double()
    x, y = batch().double(), torch.tensor([0, 1, 2, 0])
    names, weights = [choice.name for choice in one_shot.choices], list(one_shot.parameters())
    count = len(one_shot.choices[0].options)
    vectors = [torch.randn(count, generator=generator(1, name)).double() for name in names]
    for vector in vectors:
        vector[0] -= 5.0  # rarely `none`, which would leave nothing to differentiate
        vector.requires_grad_()

    def squared_norm(vectors):
        given = dict(zip(names, vectors, strict=True))
        if how == "mixture":
            one_shot.mix({name: torch.softmax(vector, 0) for name, vector in given.items()})
        else:
            one_shot.mix(straight_through(given, generator=generator(3, "gumbel")))
        loss = F.cross_entropy(one_shot(x), y)
        grads = torch.autograd.grad(loss, weights, create_graph=True, allow_unused=True)
        return sum(grad.square().sum() for grad in grads if grad is not None)

    found = torch.autograd.grad(squared_norm(vectors), vectors, allow_unused=True)
    assert any(grad is not None and bool(grad.any()) for grad in found)
    if how == "mixture":
        assert all(bool(grad.any()) for grad in found)
        direction = [torch.randn(count, generator=generator(2, name)).double() for name in names]
        step, values = 1e-6, []
        for sign in (1, -1):
            moved = [v.detach() + sign * step * d for v, d in zip(vectors, direction, strict=True)]
            values.append(squared_norm(moved).item())
        slope = sum((g * d).sum().item() for g, d in zip(found, direction, strict=True))
        assert slope == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-3)


def test_straight_through_is_a_path(one_shot):
    one_shot.eval()
    drawn = straight_through(one_shot.logits(1.0, generator(0, "logits")), generator=generator(1, "gumbel"))
    alone = one_shot.inherit(one_shot.derive(drawn))
    assert torch.equal(one_shot.mix(drawn)(batch()), alone(batch()))


def test_wrong_weights_are_refused(one_shot):
    with pytest.raises(InputError, match=r"weights of 1\.0: shape \(2, .\), expected one vector"):
        one_shot.mix({**one_shot.uniform(), "1.0": torch.zeros(2, len(one_shot.choices[0].options))})


def test_a_mixture_by_hand():
    """Scalings as operations: a node is the weighted sum of what comes in, zero where nothing does."""

    class Times(torch.nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def forward(self, x):
            return self.factor * x

    weights = torch.zeros(6, 2)
    weights[EDGES.index((0, 1))] = torch.tensor([0.5, 0.25])
    weights[EDGES.index((1, 3))] = torch.tensor([0.0, 1.0])
    weights[EDGES.index((0, 3))] = torch.tensor([2.0, 0.0])
    weights[EDGES.index((2, 3))] = torch.tensor([1.0, 1.0])  # of zeros
    edges = [Mixed({"two": Times(2.0), "three": Times(3.0)}) for _ in EDGES]
    cell = MixedCell(edges, Times(0.0), lambda edge: live(weights[edge]))
    x = torch.ones(1, 1, 1, 1)
    assert cell(x).item() == (0.5 * 2 + 0.25 * 3) * 3 + 2 * 2


def test_choices_are_edges():
    one_shot = TransNASMicro(channels=2).one_shot(TASK)
    assert [choice.name for choice in one_shot.choices] == ["1.0", "2.0", "2.1", "3.0", "3.1", "3.2"]
    nothing = {choice.name: one_hot(0, 4) for choice in one_shot.choices}
    assert one_shot.derive(nothing).ops == NOTHING
