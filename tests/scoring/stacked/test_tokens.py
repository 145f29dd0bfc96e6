from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresee.probes.jets import taylor
from foresee.scoring.stacked.layers import Curve, Samples
from foresee.scoring.stacked.tokens import (
    gathered,
    heads_of,
    layer_normed,
    likeness,
    looked_up,
    mean_of_patches,
    patched,
    rows,
    softmax,
    tokens_of,
)
from foresee.spaces.autoformer.network import Attention, Form, relative_index


def maps(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def alone(x):
    """The tokens of one architecture as torch has them: (entries, tokens, numbers)."""
    return x[..., 0].permute(1, 2, 0)


@pytest.mark.parametrize("given", [1, 2])
def test_every_architecture_reads_patches_by_filters_of_its_own(given):
    x, weights = maps(given, 3, 4, 6, 9), maps(2, 5, 3 * 9)
    found = patched(x, weights, 3)
    for own, weight, out in zip(x.expand(2, -1, -1, -1, -1), weights, found, strict=True):
        plain = F.conv2d(own.transpose(0, 1), weight.view(5, 3, 3, 3), stride=3)
        torch.testing.assert_close(plain, out.transpose(0, 1))


def test_positions_become_tokens_row_by_row_behind_the_one_that_is_learnt():
    x, first, places = maps(2, 5, 4, 2, 3), maps(2, 1, 5), maps(2, 7, 5)
    found = tokens_of(x, first, places, Samples().constant(x))
    for own, cls, where, out in zip(x, first, places, found, strict=True):
        patches = own.transpose(0, 1).flatten(2).mT
        plain = torch.cat([cls.expand(4, 1, 5), patches], 1) + where
        torch.testing.assert_close(plain, alone(out))
    curve = tokens_of(x[:, :, :3], first, places, Curve().constant(x))
    torch.testing.assert_close(curve[:, :, 0], found[:, :, 0])
    assert torch.equal(curve[:, :, 1:, 1:, 0], x[:, :, 1:3].flatten(3))
    assert not curve[:, :, 1:, 0].any()


def test_the_mean_is_that_of_the_patches_and_rows_are_tokens():
    x = maps(2, 5, 4, 7, 1)
    assert mean_of_patches(x).shape == (2, 5, 4, 1, 1)
    torch.testing.assert_close(mean_of_patches(x)[1, :, :, 0, 0].T, alone(x[1])[:, 1:].mean(1))
    assert torch.equal(rows(x)[1, :, 2, :, 0], alone(x[1])[2])


def test_each_token_is_normed_by_itself_and_curves_follow():
    x, norm = maps(2, 5, 3, 7, 1), torch.nn.LayerNorm(5).double()
    samples, curves = layer_normed(x, Samples()), layer_normed(x, Curve())
    for own, normed, moved in zip(x, samples, curves, strict=True):
        torch.testing.assert_close(norm(alone(own)).detach(), alone(normed))
        torch.testing.assert_close(torch.cat(taylor(norm, *alone(own).split(1))), alone(moved))


@pytest.mark.parametrize("reach", [1, 4])
def test_attention_is_that_of_the_space_forward_along_curves_and_back(reach):
    form, index = Form(head_dim=4, reach=reach), relative_index(2, 3, reach)
    modules = [Attention(6, 2, form).double() for _ in range(2)]
    for module in modules:
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(parameter.numel()))
    tables = [
        torch.stack([getattr(getattr(one, kind), way).detach() for one in modules]).requires_grad_()
        for kind in ("keys", "values")
        for way in ("vertical", "horizontal")
    ]
    qkv = maps(2, 3 * 2 * 4, 3, 7, 1).requires_grad_()

    def attended(entries):
        queries, keys, values = heads_of(qkv, 4)
        attention = entries.through(softmax, likeness(queries, keys, tuple(tables[:2]), index, entries) * 0.5)
        return gathered(attention, values, tuple(tables[2:]), index, entries)

    found = attended(Samples())
    with torch.no_grad():
        curves = attended(Curve())
    for place, module in enumerate(modules):
        plain = module.attend(alone(qkv[place]), index)
        torch.testing.assert_close(plain, alone(found[place]))
        expected = torch.cat(taylor(_Attend(module, index), *alone(qkv[place]).detach().split(1)))
        torch.testing.assert_close(expected, alone(curves[place]))
        along = maps(*plain.shape)
        wanted = qkv, *tables
        ours = torch.autograd.grad((alone(found[place]) * along).sum(), wanted, retain_graph=True)
        kept = (
            getattr(getattr(module, kind), way) for kind in ("keys", "values") for way in ("vertical", "horizontal")
        )
        theirs = torch.autograd.grad((plain * along).sum(), [qkv, *kept])
        torch.testing.assert_close(ours[0], theirs[0])
        torch.testing.assert_close([one[place] for one in ours[1:]], list(theirs[1:]))


def test_what_tables_have_for_the_first_token_is_what_the_module_gives_first():
    index = relative_index(2, 3, 2)
    tables = maps(2, 6, 4), maps(2, 6, 4) + 1
    found = looked_up(tables, index)
    assert found.shape == (2, 7, 1, 4, 1)
    for place, own in enumerate(found):
        whole = F.embedding(index[0], tables[0][place]) + F.embedding(index[1], tables[1][place])
        assert torch.equal(own[:, 0, :, 0], whole[0])


class _Attend(torch.nn.Module):
    """What an attention gathers of interleaved queries, keys and values."""

    def __init__(self, attention, index):
        super().__init__()
        self.attention, self.index = attention, index

    def forward(self, qkv):
        return self.attention.attend(qkv, self.index)
