from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import UnsupportedError
from foresee.probes.draws import Draws
from foresee.proxies.features.aznas import entropy, evenness, folded, transfer
from foresee.scoring import score, scores

RANDOM = examples(8)


class Staged(nn.Module):
    def __init__(self, seed: int = 0, norm: bool = True):
        super().__init__()
        torch.manual_seed(seed)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(a, b, k, stride=s, padding=k // 2), nn.BatchNorm2d(b) if norm else nn.Tanh())
            for a, b, k, s in [(2, 3, 3, 1), (3, 5, 3, 2), (5, 4, 1, 1)]
        )
        self.double()

    def stages(self, x):
        out = []
        for block in self.blocks:
            x = block(x)
            out.append(x)
        return out

    def forward(self, x):
        return self.stages(x)[-1].mean(dim=(2, 3))


def slow_entropy(features):
    rows = features.detach().permute(0, 2, 3, 1).reshape(-1, features.shape[1]).numpy()
    p = np.linalg.eigvalsh(np.cov(rows, rowvar=False, bias=True)).clip(0)
    p = p / p.sum()
    return -sum(float(v) * np.log(v + 1e-8) for v in p)


def slow_trainability(stages, draws):
    terms = []
    for i in range(1, len(stages)):
        before, after = stages[i - 1], stages[i]
        b, c, h, w = after.shape
        g_out = draws.draw(
            f"signs.{i}", lambda s, shape=after.shape: torch.randint(2, shape, generator=s) * 2 - 1
        ).double()
        (g_in,) = torch.autograd.grad(after, before, g_out, retain_graph=True)
        stride = before.shape[2] // h
        A = np.zeros((before.shape[1] * stride * stride, c))
        for n in range(b):
            for y in range(h):
                for x in range(w):
                    patch = g_in[n, :, y * stride : (y + 1) * stride, x * stride : (x + 1) * stride].flatten()
                    A += np.outer(patch.numpy(), g_out[n, :, y, x].numpy())
        s = np.linalg.svd(A / (b * h * w), compute_uv=False)[0]
        terms.append(2 - s - 1 / (s + 1e-6))
    return float(np.mean(terms))


@pytest.mark.checks("az_expressivity", "az_progressivity", "az_trainability")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans())
def test_the_formulas(batch, seed, norm):
    network, (x, _) = Staged(seed, norm), batch(3, seed)
    stages = network.train().stages(x)
    E = [slow_entropy(stage) for stage in stages]
    found = scores(network, x, ["az_expressivity:given", "az_progressivity:given", "az_trainability:given"], seed=seed)
    assert found["az_expressivity:given"].value == pytest.approx(sum(E), rel=1e-8)
    assert found["az_progressivity:given"].value == pytest.approx(min(np.diff(E)), rel=1e-7, abs=1e-9)
    assert found["az_trainability:given"].value == pytest.approx(slow_trainability(stages, Draws(seed)), rel=1e-8)


@pytest.mark.checks("az_complexity", by="twice the MACs")
def test_complexity(small, batch):
    x, _ = batch(1)
    assert score(small(), x, "az_complexity").value == 2 * score(small(), x, "macs").value


def test_by_default_inputs_and_weights_are_drawn(batch):
    x, _ = batch(4)
    for name in ("az_expressivity", "az_progressivity", "az_trainability"):
        first, second = score(Staged(1), x, name, seed=5), score(Staged(2), 2 * x, name, seed=5)
        assert first.ok
        assert first.value == second.value
        assert score(Staged(1), x, name, seed=6).value != first.value
        assert score(Staged(1), x, name, repeats=3).spread > 0


def test_blocks_of_a_network_without_stages(batch):
    """In-place activations do no harm, and pooled vectors are not counted among the maps."""

    class Blocks(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.body = nn.Sequential(
                nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(3, 4, 2, stride=2)
            )
            self.pool = nn.AdaptiveAvgPool2d(1)
            self.head = nn.Linear(4, 5)
            self.double()

        def forward(self, x):
            return self.head(self.pool(self.body(x)).flatten(1))

    class Said(Blocks):
        def stages(self, x):
            out = [x]
            for layer in [*self.body, self.pool]:
                out.append(layer(out[-1].clone()))
            return out[1:]

    x, _ = batch(3)
    for name in ("az_expressivity", "az_trainability"):
        assert score(Blocks(), x, name).value == pytest.approx(score(Said(), x, name).value, rel=1e-12)


def test_transformers_and_mlps_have_stages():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    vit = nn.Sequential(nn.Linear(5, 8), layer, nn.LayerNorm(8))
    mlp = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 4))
    for name in ("az_expressivity", "az_progressivity", "az_trainability"):
        assert score(vit, torch.randn(4, 7, 5), name).ok
        assert score(mlp, torch.randn(12, 6), name).ok


def test_identities(batch):
    class Idle(Staged):
        def stages(self, x):
            out = super().stages(x)
            return [*out, out[-1].clone()]

    x, _ = batch(3)
    found = score(Idle(), x, "az_trainability")
    assert (found.status, "identity" in found.reason) == ("nan", True)
    skipped = score(Idle(), x, "az_trainability", settings={"skip_identities": True})
    assert skipped.value == pytest.approx(score(Staged(), x, "az_trainability").value)


def test_unsupported(batch):
    x, _ = batch(3)
    single = nn.Sequential(nn.Conv2d(2, 3, 3)).double()
    for name in ("az_progressivity", "az_trainability"):
        found = score(single, x, name)
        assert (found.status, "single stage" in found.reason) == ("unsupported", True)
    odd = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Conv2d(3, 3, 2)).double()
    assert "whole stride" in score(odd, x, "az_trainability").reason

    class Parallel(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(2, 3, 1), nn.Conv2d(2, 3, 1)

        def forward(self, x):
            return self.a(x) + self.b(x)

    assert "does not depend" in score(Parallel().double(), x, "az_trainability").reason
    dead = nn.Sequential(nn.Conv2d(2, 3, 1), nn.Threshold(1e9, 0.0)).double()
    assert score(dead, x, "az_expressivity").status == "nan"
    assert "no stages" in score(nn.Conv2d(2, 3, 1), x.float(), "az_expressivity").reason


def test_formulas_broadcast():
    rows = torch.randn(2, 3, 20, 4, dtype=torch.float64)
    assert torch.allclose(entropy(rows)[1, 2], entropy(rows[1, 2]))
    other = torch.randn(2, 3, 20, 5, dtype=torch.float64)
    assert torch.allclose(transfer(rows, other)[0, 1], transfer(rows[0, 1], other[0, 1]))
    assert evenness(torch.tensor([1.0, 2.0, 0.5])).argmax() == 0
    with pytest.raises(UnsupportedError, match="no common positions"):
        folded(torch.zeros(2, 5, 4), torch.zeros(2, 6, 4))
