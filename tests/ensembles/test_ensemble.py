"""Ensembles as modules: their mean, called at once or one by one, kept and loaded."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.ensembles.ensemble import Ensemble, combine
from foresee.errors import InputError, RunError, UnknownNameError
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get
from foresee.task import Task

CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
OTHER = "|nor_conv_1x1~0|+|skip_connect~0|nor_conv_3x3~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|"


def candidate(text, seed):
    space = get("nasbench201", channels=4, cells=1)
    return Candidate(space, space.parse(text), Task((3, 8, 8), 5), {"weights_seed": seed})


def members(*texts):
    return [candidate(text, seed).build().eval() for seed, text in enumerate(texts)]


def test_probabilities_are_averaged():
    outputs = torch.randn(3, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(combine(outputs).softmax(-1), outputs.softmax(-1).mean(0))
    torch.testing.assert_close(combine(outputs).exp().sum(-1), torch.ones(4, dtype=torch.float64))
    torch.testing.assert_close(combine(outputs, "outputs"), outputs.mean(0))
    single = torch.randn(3, 4, 1, dtype=torch.float64)
    torch.testing.assert_close(combine(single).sigmoid(), single.sigmoid().mean(0))


@pytest.mark.parametrize("texts", [(CELL, CELL, CELL), (CELL, OTHER)])
def test_at_once_or_one_by_one(texts):
    networks, x = members(*texts), torch.randn(6, 3, 8, 8)
    together = Ensemble(networks).eval()
    alone = torch.stack([network(x) for network in networks])
    assert not together.at_once  # gradients are wanted
    with torch.no_grad():
        assert together.at_once == (len(set(texts)) == 1)
        torch.testing.assert_close(together.outputs(x), alone.detach(), rtol=1e-5, atol=1e-5)
    assert together(x).requires_grad
    assert not Ensemble(networks).train().at_once


class Powers(nn.Module):
    def __init__(self, power, then=torch.relu):
        super().__init__()
        self.power, self.then, self.linear = power, then, nn.Linear(2, 2)

    def forward(self, x):
        return self.then(self.linear(x) ** self.power)


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Still(nn.Module):
    def forward(self, x):
        return x


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (Powers(1), Powers(1), True),
        (Powers(1), Powers(3), False),
        (Powers(1), Powers(1, torch.sigmoid), False),
        (nn.Linear(2, 2), Doubled(2, 2), False),
        (Still(), Still(), False),
    ],
)
def test_members_of_other_code_or_values_are_not_called_at_once(first, second, alike):
    together, x = Ensemble([first, second]).eval(), torch.rand(3, 2)
    with torch.no_grad():
        assert together.at_once == alike
        torch.testing.assert_close(together.outputs(x), torch.stack([first(x), second(x)]))


def test_kept_and_loaded(tmp_path):
    candidates = [candidate(CELL, 0), candidate(OTHER, 1)]
    together = Ensemble([one.build() for one in candidates]).eval()
    x = torch.randn(4, 3, 8, 8)
    together.save(tmp_path / "e", candidates)
    again = Ensemble.load(tmp_path / "e")
    assert torch.equal(again(x), together(x))
    assert not again.training
    handed = Ensemble.load(tmp_path / "e", [one.build() for one in candidates])
    assert torch.equal(handed(x), together(x))
    with pytest.raises(InputError, match="an ensemble of 2"):
        Ensemble.load(tmp_path / "e", [candidates[0].build()])
    (tmp_path / "e" / "ensemble.safetensors").write_bytes(b"damaged")
    with pytest.raises(RunError, match="sha256"):
        Ensemble.load(tmp_path / "e")


def test_own_networks_are_handed_over(tmp_path):
    together = Ensemble([nn.Linear(2, 3), nn.Linear(2, 3)], "outputs")
    together.save(tmp_path)
    with pytest.raises(InputError, match="hand the 2 networks over"):
        Ensemble.load(tmp_path)
    again = Ensemble.load(tmp_path, [nn.Linear(2, 3), nn.Linear(2, 3)])
    assert again.average == "outputs"
    assert torch.equal(again(torch.ones(1, 2)), together(torch.ones(1, 2)))


def test_what_cannot_be_is_said():
    with pytest.raises(InputError, match="no members"):
        Ensemble([])
    with pytest.raises(UnknownNameError):
        Ensemble([nn.Linear(2, 2)], "medians")
    with pytest.raises(InputError, match="shapes"):
        Ensemble([nn.Linear(2, 2), nn.Linear(2, 3)])(torch.ones(1, 2))
    with pytest.raises(InputError, match="architectures for"):
        Ensemble([nn.Linear(2, 2)]).save("unused", [candidate(CELL, 0)] * 2)
