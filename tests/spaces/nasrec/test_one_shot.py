"""The NASRec supernet: paths, mixtures, inheritance, and where it differs from stand-alone networks by design."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from foresee.errors import InputError, UnsupportedError
from foresee.seeds import generator, stream
from foresee.spaces.nasrec import NASRecFull, NASRecSmall
from foresee.spaces.one_shot import straight_through
from foresee.task import Task

SPACES = {
    "small": NASRecSmall(blocks=3, dense_widths=(16, 32), sparse_widths=(4, 9)),
    "full": NASRecFull(blocks=3, dense_widths=(16, 32), sparse_widths=(4, 9)),
}


def lively(supernet, seed=0):
    """Biases and norms drawn, so that nothing is hidden by zeros and ones."""
    draws = generator(seed, "lively")
    for parameter in supernet.parameters():
        if parameter.dim() == 1:
            parameter.data.add_(0.3 * torch.randn(parameter.shape, generator=draws).to(parameter))
    return supernet


def widest(architecture, dense=32, sparse=9):
    """The same architecture at the greatest widths; gate and sum read the raw input."""
    blocks = (replace(block, dense_width=dense, sparse_width=sparse, left=0, right=0) for block in architecture.blocks)
    return type(architecture)(tuple(blocks))


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("training", [False, True])
def test_widest_path_is_the_inherited_network(name, training, task, clicks):
    space = SPACES[name]
    supernet = lively(space.one_shot(task)).double().train(training)
    dense, sparse = clicks(task)
    for number in range(15):
        architecture = widest(space.sample(stream(number)))
        inherited = supernet.inherit(architecture).train(training)
        expected = supernet.select(architecture)(dense.double(), sparse)
        torch.testing.assert_close(inherited(dense.double(), sparse), expected, rtol=1e-10, atol=1e-12)


def test_gate_of_two_inputs_is_inherited(clicks):
    """The raw input is wider than the blocks, so no layer is left out; gates and columns of either side must fit."""
    task = Task((20,), 1, vocabularies=(4, 5))
    space = NASRecFull(blocks=3, dense_widths=(16,), sparse_widths=(4,))
    supernet = lively(space.one_shot(task)).double()
    dense, sparse = clicks(task)
    first = "linear2d:16@0 linear3d:4@0 / linear2d:16@0,1 linear3d:4@0 / gate:16@0 linear3d:4@0 pair@{}"
    for pair in ("0,1", "1,0", "0,0"):
        architecture = space.parse(first.format(pair).replace(" pair@0,0", ""))
        expected = supernet.select(architecture)(dense.double(), sparse)
        torch.testing.assert_close(supernet.inherit(architecture)(dense.double(), sparse), expected)
    with pytest.raises(UnsupportedError, match="the raw input is wider"):
        supernet.inherit(space.parse(first.format("0,2")))


@pytest.mark.parametrize("name", SPACES)
def test_inherited_parameters_lie_in_the_supernet(name, task, clicks):
    space = SPACES[name]
    supernet = space.one_shot(task)
    storages = {p.untyped_storage().data_ptr() for p in supernet.parameters()}
    for number in range(10):
        architecture = space.sample(stream(2, number))
        network = supernet.inherit(architecture)
        assert {p.untyped_storage().data_ptr() for p in network.parameters()} <= storages
        assert sum(p.numel() for p in network.parameters()) == space.counts(architecture, task).params
        before = network(*clicks(task))
        assert bool(before.isfinite().all())
    with torch.no_grad():
        supernet.head.weight.mul_(0.0)
        supernet.head.bias.fill_(2.0)
    assert torch.equal(network(*clicks(task)), torch.full((4, 1), 2.0))
    with torch.no_grad():
        network.embeddings.tables[1].weight.fill_(5.0)
    assert supernet.embeddings.tables[1].weight.unique().item() == 5.0


def test_inherited_slices_are_those_of_the_inputs(task):
    space = SPACES["full"]
    supernet = space.one_shot(task)
    text = (
        "linear2d:16@0 linear3d:4@0 interact / linear2d:16@0,1 linear3d:4@0 / dot:16@0,2 transformer:4@0,1,2 interact"
    )
    network = supernet.inherit(space.parse(text))
    wide = supernet.blocks[2]
    dense = wide.dense["dot"].dense.weight  # columns: 5 raw, 32, 32
    assert torch.equal(network.blocks[2].dense.dense.pieces[1].weight, dense[:16, 37 : 37 + 16])
    sparse = wide.sparse["transformer"].linear.weight  # columns: 3 raw, 9 + 8, 9 + 8
    pieces = [piece.weight for piece in network.blocks[2].sparse.linear.pieces]
    expected = [sparse[:4, :3], sparse[:4, 3:7], sparse[:4, 12:20], sparse[:4, 20:24]]
    assert all(torch.equal(a, b) for a, b in zip(pieces, expected, strict=True))
    assert torch.equal(network.blocks[2].dense.linear.weight, wide.dense["dot"].linear.weight[:16, :21])
    head = supernet.head.weight  # 32 dense, 9 x 16, 8 x 16
    pieces = [piece.weight for piece in network.head.pieces]
    expected = [head[:, :16], head[:, 32 : 32 + 64], head[:, 32 + 144 :]]
    assert all(torch.equal(a, b) for a, b in zip(pieces, expected, strict=True))


def test_norms_see_the_full_width_in_the_supernet(clicks):
    """What is published: masked after norm and activation here, normalised over the chosen width there."""
    task = Task((5,), 1, vocabularies=(4, 5))
    space = NASRecSmall(blocks=1, dense_widths=(16, 32), sparse_widths=(4, 8))
    supernet = space.one_shot(task).double()
    dense, sparse = clicks(task)
    dense = dense.double()
    architecture = space.parse("linear2d:16@0 linear3d:8@0")
    weight = supernet.blocks[0].dense["linear2d"].linear.weight
    tokens = supernet.blocks[0].sparse["linear3d"]([supernet.embeddings(sparse)]).flatten(1)

    def logits(features):
        return features @ supernet.head.weight[:, :16].T + tokens @ supernet.head.weight[:, 32:160].T

    here = F.layer_norm(dense @ weight.T, (32,)).relu()[:, :16]
    there = F.layer_norm(dense @ weight[:16].T, (16,)).relu()
    torch.testing.assert_close(supernet.select(architecture)(dense, sparse), logits(here))
    torch.testing.assert_close(supernet.inherit(architecture)(dense, sparse), logits(there))
    assert not torch.allclose(here, there)


def test_a_path_computes_what_it_uses_only(task, clicks):
    space = SPACES["full"]
    supernet = space.one_shot(task)
    called: list[str] = []
    for name, module in supernet.named_modules():
        module.register_forward_hook(lambda *_, name=name: called.append(name))
    text = "gate:16@0 transformer:4@0 / dot:16@0 linear3d:4@0 interact fm / sum:16@0 linear3d:4@0 pair@0,1"
    supernet.select(space.parse(text))(*clicks(task))
    operations = {name for name in called if name.count(".") == 3 and name.startswith("blocks")}
    wanted = {"blocks.0.dense.gate", "blocks.2.dense.sum", "blocks.2.sparse.linear3d"}
    assert (
        operations & {f"blocks.{b}.{k}.{o}" for b in range(3) for k in ("dense", "sparse") for o in _ops(space)}
        == wanted
    )
    assert not {"blocks.1.interact", "blocks.1.fm", "blocks.0.fm"} & set(called)
    assert called.count("blocks.0.dense.gate") == called.count("embeddings") == 1


def _ops(space):
    return (*space.dense_ops, *space.sparse_ops)


@pytest.mark.parametrize("name", SPACES)
def test_derive_inverts_path(name, task):
    space = SPACES[name]
    supernet = space.one_shot(task)
    for number in range(25):
        architecture = space.sample(stream(number))
        derived = supernet.derive(supernet.path(architecture))
        assert derived == architecture
        assert space.canonical(derived) == space.canonical(architecture)
    for weights in (supernet.uniform(), supernet.logits(1.0, generator(0, "logits"))):
        derived = supernet.derive(weights)
        assert space.parse(str(derived)) == derived


def test_derive_keeps_the_cap(task):
    space = NASRecFull(blocks=4, dense_widths=(16,), sparse_widths=(4,), most_inputs=2)
    supernet = space.one_shot(task)
    weights = supernet.uniform()
    for read, on in enumerate((0.6, 0.9, 0.2, 0.8)):
        weights[f"4.dense.{read}"] = torch.tensor([1 - on, on])
        weights[f"4.sparse.{read}"] = torch.tensor([1 - on / 2, on / 2])
    last = supernet.derive(weights).blocks[3]
    assert last.dense_inputs == (1, 3)
    assert last.sparse_inputs == (1,)


@pytest.mark.parametrize("name", SPACES)
def test_mixture_can_be_differentiated_twice(name, task, clicks):
    space = SPACES[name]
    supernet = space.one_shot(task).double()
    dense, sparse = clicks(task)
    logits = supernet.logits(0.1, generator(0, "logits"))
    weights = {key: torch.softmax(vector, -1) for key, vector in logits.items()}
    loss = supernet.mix(weights)(dense.double(), sparse).square().sum()
    decided = {choice.name for choice in supernet.choices if len(choice.options) > 1}
    matrices = [p for p in supernet.parameters() if p.dim() == 2]
    first = torch.autograd.grad(loss, [*logits.values(), *matrices], create_graph=True)
    for key, gradient in zip(logits, first, strict=False):
        assert bool(gradient.isfinite().all())
        assert bool(gradient.any()) == (key in decided), key
    norm = sum(gradient.square().sum() for gradient in first)
    second = torch.autograd.grad(norm, list(logits.values()), allow_unused=True)
    assert all(
        gradient is not None and bool(gradient.any() and gradient.isfinite().all())
        for key, gradient in zip(logits, second, strict=True)
        if key in decided
    )


def test_mixture_is_the_weighted_sum(clicks):
    """One block by hand: operations, widths and switches mixed."""
    task = Task((5,), 1, vocabularies=(4, 5))
    space = NASRecFull(blocks=1, dense_widths=(16, 32), sparse_widths=(4, 8))
    supernet = lively(space.one_shot(task)).double()
    dense, sparse = clicks(task)
    dense = dense.double()
    weights = {key: value.double() for key, value in supernet.uniform().items()}
    weights["1.dense_op"] = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    weights["1.dense_width"] = torch.tensor([0.25, 0.75], dtype=torch.float64)
    weights["1.sparse_op"] = torch.tensor([0.0, 1.0], dtype=torch.float64)
    weights["1.sparse_width"] = torch.tensor([0.0, 1.0], dtype=torch.float64)
    weights["1.interact"] = torch.tensor([0.3, 0.7], dtype=torch.float64)
    weights["1.fm"] = torch.tensor([0.4, 0.6], dtype=torch.float64)
    block, raw = supernet.blocks[0], supernet.embeddings(sparse)
    mask = torch.cat([torch.ones(16), torch.full((16,), 0.75)]).double()
    ops = block.dense
    terms = [
        ops["linear2d"]([dense]),
        ops["dot"]([dense], [raw]),
        ops["gate"]([dense], [dense]),
        ops["sum"]([dense], [dense]),
    ]
    made = sum(share * term for share, term in zip((0.1, 0.2, 0.3, 0.4), terms, strict=True)) * mask
    tokens = [block.sparse["linear3d"]([raw]), 0.7 * block.interact(made)]
    made = made + 0.6 * mask * block.fm(tokens)
    expected = supernet.head([made, *(part.flatten(1) for part in tokens)])
    torch.testing.assert_close(supernet.mix(weights)(dense, sparse), expected)


def test_straight_through_is_a_path_with_gradient(task, clicks):
    space = SPACES["full"]
    supernet = space.one_shot(task)
    architecture = space.sample(stream(4))
    logits = {key: (20 * vector).requires_grad_() for key, vector in supernet.path(architecture).items()}
    drawn = straight_through(logits, generator=generator(1, "gumbel"))
    out = supernet.mix(drawn)(*clicks(task))
    assert supernet.derive(drawn) == architecture
    torch.testing.assert_close(out, supernet.select(architecture)(*clicks(task)))
    chosen = [logits["3.dense_op"], logits["3.dense_width"], logits["3.sparse_width"]]
    gradients = torch.autograd.grad(out.square().sum(), chosen, create_graph=True)
    assert all(bool(gradient.any()) for gradient in gradients)
    twice = torch.autograd.grad(gradients[0].square().sum(), chosen[0])[0]
    assert bool(twice.any())


def test_nothing_read_is_zero(task, clicks):
    """A draw that switches every input off still has an output."""
    supernet = SPACES["full"].one_shot(task)
    weights = supernet.path(SPACES["full"].sample(stream(0)))
    for key, vector in weights.items():
        if key.count(".") == 2 and len(vector) == 2:
            weights[key] = torch.tensor([1.0, 0.0])
    assert bool(supernet.mix(weights)(*clicks(task)).isfinite().all())


def test_options_are_refused(task):
    with pytest.raises(InputError, match="unknown option partial"):
        SPACES["small"].one_shot(task, partial=4)
