"""NASRec operators against slow, obvious versions."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.seeds import generator
from foresee.spaces.nasrec import layers
from foresee.spaces.nasrec.layers import Joined, Split, Wide


@pytest.fixture(autouse=True)
def _double():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(before)


def normal(*shape):
    return torch.randn(*shape, generator=generator(0, "layers", *shape))


def test_three_forms_of_one_linear_layer():
    sizes, parts = (3, 5, 2), [normal(4, 3), normal(4, 5), normal(4, 2)]
    joined, split, wide = Joined(sizes, 6, True), Split(sizes, 6, True), Wide(sizes, 6, True)
    nn.init.normal_(joined.linear.bias)
    with torch.no_grad():
        wide.weight.copy_(joined.linear.weight)
        wide.bias.copy_(joined.linear.bias)
        split.bias.copy_(joined.linear.bias)
        for piece, weight in zip(split.pieces, joined.linear.weight.split(sizes, 1), strict=True):
            piece.weight.copy_(weight)
    expected = F.linear(torch.cat(parts, 1), joined.linear.weight, joined.linear.bias)
    for layer in (joined, split, wide):
        torch.testing.assert_close(layer(parts), expected)
    torch.testing.assert_close(wide([parts[0], None, parts[2]]), joined([parts[0], 0 * parts[1], parts[2]]))
    square = Wide(sizes, 10, True)
    nn.init.normal_(square.bias)
    rows = square.rows(parts, [True, False, True])
    assert rows[1] is None
    torch.testing.assert_close(rows[0], square(parts)[:, :3])
    torch.testing.assert_close(rows[2], square(parts)[:, 8:])


def test_initialisation_is_xavier():
    for layer in (Joined((300, 200), 100), Split((300, 200), 100), Wide((300, 200), 100)):
        weights = torch.cat([p.flatten() for p in layer.parameters()])
        bound = math.sqrt(6 / 600)
        assert weights.abs().max() <= bound
        assert weights.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    transformer = layers.Transformer((4,), 8, Joined)
    assert transformer.feed_norm.weight.unique().item() == transformer.attention_norm.weight.unique().item() == 0.17
    assert all(not p.any() for name, p in transformer.named_parameters() if name.endswith("bias"))


def test_linear2d():
    op = layers.Linear2d((3, 4), 5, Joined)
    x = normal(2, 7)
    expected = F.layer_norm(x @ op.linear.linear.weight.T, (5,)).relu()
    torch.testing.assert_close(op(list(x.split((3, 4), 1))), expected)


def test_linear3d_works_on_the_token_axis():
    op = layers.Linear3d((3, 2), 4, Joined)
    nn.init.normal_(op.norm.weight)
    x = normal(2, 5, 16)
    made = torch.einsum("st,bte->bse", op.linear.linear.weight, x)
    scaled = (made - made.mean(1, keepdim=True)) / (made.var(1, keepdim=True, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(op([x[:, :3], x[:, 3:]]), (scaled * op.norm.weight[:, None]).relu())


@pytest.mark.parametrize(("sparse", "width"), [(5, 32), (8, 32), (2, 3)])
def test_dot_product(sparse, width):
    """5 tokens become 8; 8 stay; with two tokens there are as many pairs as the output is wide: no layer at all."""
    op = layers.Dot((7,), (sparse,), width, Joined)
    dense, tokens = normal(3, 7), normal(3, sparse, 16)
    query = F.layer_norm(dense @ op.dense.linear.weight.T, (16,))
    wanted = round(math.sqrt(2 * width))
    assert (op.sparse is None) == (sparse == wanted)
    if op.sparse is not None:
        tokens = F.layer_norm(torch.einsum("st,bte->bes", op.sparse.linear.weight, tokens), (wanted,)).mT
    rows = [query, *tokens.unbind(1)]
    products = [(rows[i] * rows[j]).sum(1) for i in range(len(rows)) for j in range(i)]
    assert len(products) == layers.pairs(wanted)
    made = torch.stack(products, 1)
    assert isinstance(op.linear, nn.Identity) == (len(products) == width)
    if isinstance(op.linear, nn.Linear):
        made = made @ op.linear.weight.T
    torch.testing.assert_close(op([dense], [normal(3, sparse, 16)]), F.layer_norm(made, (width,)))


def test_pairs_of_fewer_tokens_are_a_prefix():
    def order(count):
        return list(map(tuple, torch.tril_indices(count, count, -1).T.tolist()))

    assert order(9)[: layers.pairs(5)] == order(6)


@pytest.mark.parametrize(("left", "right", "width"), [(3, 6, 4), (6, 3, 4), (4, 4, 4), (2, 4, 4)])
def test_sum_and_gate(left, right, width):
    a, b = normal(2, left), normal(2, right)
    inner = max(left, right)
    padded = [torch.cat([x, torch.zeros(2, inner - x.shape[1])], 1) for x in (a, b)]

    op = layers.Sum(left, right, width)
    added = padded[0] + padded[1]
    expected = added @ op.linear.weight.T if inner != width else added
    assert getattr(op.linear, "bias", None) is None
    torch.testing.assert_close(op(a, b), F.layer_norm(expected, (width,)))

    op = layers.Gate(left, right, width)
    nn.init.normal_(op.gate.bias)
    gated = torch.sigmoid(padded[0] @ op.gate.weight.T + op.gate.bias) * padded[1]
    expected = gated @ op.linear.weight.T + op.linear.bias if inner != width else gated
    torch.testing.assert_close(op(a, b), F.layer_norm(expected, (width,)))


def test_attention_is_multi_head_attention():
    own, theirs = layers.Attention(), nn.MultiheadAttention(16, 8, batch_first=True)
    nn.init.normal_(own.project.bias)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(own.project.weight)
        theirs.in_proj_bias.copy_(own.project.bias)
        theirs.out_proj.weight.copy_(own.out.weight)
        theirs.out_proj.bias.copy_(own.out.bias)
    x = normal(3, 5, 16)
    torch.testing.assert_close(own(x), theirs(x, x, x)[0])


def test_transformer():
    op = layers.Transformer((3,), 4, Joined)
    x = normal(2, 3, 16)
    tokens = F.layer_norm(torch.einsum("st,bte->bes", op.linear.linear.weight, x), (4,)).mT
    for mask in (None, torch.tensor([1.0, 1.0, 0.0, 0.0])[:, None]):
        masked = tokens if mask is None else tokens * mask
        first = 0.17 * F.layer_norm(masked + op.attention(masked), (16,))
        second = 0.17 * F.layer_norm(first + op.feed[2](op.feed[0](first).relu()), (16,))
        torch.testing.assert_close(op([x], mask), second)


def test_interact():
    op, x = layers.Interact(5), normal(2, 5)
    expected = F.layer_norm(x @ op.project[0].weight.T, (128,)).view(2, 8, 16)
    torch.testing.assert_close(op(x), expected)
    same = layers.Interact(128)
    assert not list(same.parameters())
    assert torch.equal(same(normal(2, 128)), normal(2, 128).view(2, 8, 16))


@pytest.mark.parametrize("width", [16, 24])
def test_factorisation_machine_is_twice_the_sum_over_pairs(width):
    op, tokens = layers.FactorisationMachine(width), normal(2, 5, 16)
    crossed = 2 * sum(tokens[:, i] * tokens[:, j] for i, j in itertools.combinations(range(5), 2))
    expected = crossed if width == 16 else crossed @ op.linear.weight.T
    torch.testing.assert_close(op([tokens[:, :2], tokens[:, 2:]]), F.layer_norm(expected, (width,)))
    assert len(list(op.parameters())) == (2 if width == 16 else 3)
