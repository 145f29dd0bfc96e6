"""NASI's form: independent choices, single paths in the search, two rows for an architecture, pairing by rank."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.counting import measure
from foresee.spaces.darts import DARTS, DARTSNASI
from foresee.spaces.darts.cells import KINDS, OPS
from foresee.spaces.darts.counts import count
from foresee.spaces.one_shot import one_hot, straight_through
from foresee.task import Task
from foresee.testing import SpaceSuite

TASK = Task((3, 9, 8), 3)
SPACE = DARTSNASI()


class TestSuite(SpaceSuite):
    task = Task((3, 12, 12), 4)
    samples = 10
    counted = 1
    trained = 1

    def space(self):
        return DARTSNASI(channels=4, layers=3)

    def drawn(self, count):
        return [one for one in super().drawn(count) if self.space().contains(one)]


def made(**options):
    torch.manual_seed(0)
    return SPACE.one_shot(TASK, **{"channels": 4, "layers": 4, **options})


def batch():
    return torch.randn(4, *TASK.inputs, generator=generator(0, "inputs"))


def test_operations_of_a_node_differ():
    for number in range(50):
        one = SPACE.sample(stream(number))
        assert SPACE.contains(one)
        assert DARTS().contains(one)
        assert all(first[0] != second[0] for kind in KINDS for _, (first, second) in one[kind].nodes)
    doubled = DARTS().named["DARTS_V2"]
    assert DARTS().contains(doubled)
    assert not SPACE.contains(doubled)


def test_networks_are_those_of_darts():
    one, task = SPACE.sample(stream(0)), Task()
    assert SPACE.counts(one, task) == DARTS().counts(one, task)


def test_choices_are_independent():
    choices = {choice.name: choice.options for choice in made().choices}
    assert len(choices) == 2 * 4 * 2
    assert choices["reduce.4.op"] == OPS
    assert choices["reduce.4.input"] == ("0", "1", "2", "3")


def test_reductions_have_stride_one_and_a_pool_before_them():
    one_shot = made(layers=4).eval()
    maps = one_shot.stages(batch())
    assert [tuple(one.shape[2:]) for one in maps] == [(9, 8), (9, 8), (5, 4), (3, 2), (3, 2)]
    strides = {module.stride for module in one_shot.network.cells.modules() if isinstance(module, torch.nn.Conv2d)}
    assert strides == {(1, 1)}


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("options", [{}, {"partial": 2}], ids=str)
def test_a_path_is_the_inherited_network(options, mode):
    one_shot = made(**options)
    one_shot(batch())
    getattr(one_shot, mode)()
    one = SPACE.sample(stream(2))
    alone = one_shot.inherit(one)
    assert torch.equal(one_shot.select(one)(batch()), alone(batch()))
    mine = {tensor.data_ptr() for tensor in (*one_shot.parameters(), *one_shot.buffers())}
    assert {tensor.data_ptr() for tensor in (*alone.parameters(), *alone.buffers())} <= mine


def test_inherited_networks_are_counted_too():
    one_shot, one = made(layers=2, partial=2), SPACE.sample(stream(2))
    assert count(one, TASK, one_shot.form) == measure(lambda: one_shot.inherit(one), TASK)


def test_derive_finds_the_path():
    one_shot = made(layers=1)
    for number in range(20):
        one = SPACE.sample(stream(number))
        assert one_shot.derive(one_shot.path(one)) == one


def test_pairing_is_rank_with_rank():
    one_shot = made(layers=1)
    weights = one_shot.uniform()
    weights["normal.4.op"] = torch.tensor([0.1, 0.0, 0.3, 0.0, 0.2, 0.0, 0.0])
    weights["normal.4.input"] = torch.tensor([0.2, 0.1, 0.3, 0.4])
    pair = one_shot.derive(weights).normal.edges[4:6]
    assert pair == (("skip_connect", 3), ("sep_conv_5x5", 2))
    assert SPACE.contains(one_shot.derive(weights))


def single(one_shot, op="sep_conv_3x3"):
    """One path: each node reads the node before it."""
    weights = {}
    for kind in KINDS:
        for node in (2, 3, 4, 5):
            weights[f"{kind}.{node}.op"] = one_hot(OPS.index(op), len(OPS))
            weights[f"{kind}.{node}.input"] = one_hot(node - 1, node)
    return weights


def test_a_node_is_a_single_path_in_the_search():
    one_shot = made(layers=1).eval()
    cell = one_shot.mix(single(one_shot)).network.cells[0]
    seen = []
    for edge, mixed in enumerate(cell.edges):
        for op, option in mixed.options.items():
            option.register_forward_hook(lambda *_, name=(edge, op): seen.append(name))
    x = one_shot.network.stem[0](batch())
    out = cell(x, x)
    assert seen == [(edge, "sep_conv_3x3") for edge in (1, 4, 8, 13)]
    state = cell.preprocess[1](x)
    for node, edge in enumerate((1, 4, 8, 13)):
        state = cell.edges[edge].options["sep_conv_3x3"](state)
        torch.testing.assert_close(out.chunk(4, 1)[node], state)


def test_differentiable_twice_through_straight_through_draws():
    one_shot = made(layers=2).double()
    logits = {name: v.detach().double().requires_grad_() for name, v in one_shot.logits(0.0).items()}
    one_shot.mix(straight_through(logits, generator=generator(0, "gumbel")))
    loss = F.cross_entropy(one_shot(batch().double()), torch.tensor([0, 1, 2, 0]))
    grads = torch.autograd.grad(loss, list(one_shot.parameters()), create_graph=True, allow_unused=True)
    norm = sum(grad.square().sum() for grad in grads if grad is not None)
    found = torch.autograd.grad(norm, list(logits.values()), allow_unused=True)
    by_name = dict(zip(logits, found, strict=True))
    for what in ("op", "input"):
        assert any(by_name[name] is not None and by_name[name].any() for name in logits if name.endswith(what))


def test_wrong_weights():
    one_shot = made(layers=1)
    weights = one_shot.uniform()
    weights["normal.2.op"] = torch.ones(2, 7)
    with pytest.raises(InputError, match=r"weights of normal.2.*equally many rows"):
        one_shot.mix(weights)
    three = {choice.name: torch.ones(3, len(choice.options)) for choice in one_shot.choices}
    with pytest.raises(InputError, match="3 rows"):
        one_shot.derive(three)
    with pytest.raises(InputError, match="outside the space"):
        one_shot.path(DARTS().named["DARTS_V2"])
