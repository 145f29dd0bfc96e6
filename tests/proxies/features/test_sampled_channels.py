from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import InputError
from foresee.probes.draws import Draws
from foresee.proxies import Probe
from foresee.proxies.features.sampled_channels import sample_channels
from foresee.scoring import score

RANDOM = examples(10)


def sampled_maps(network, sample, beta, draws):
    """Outputs of the leaf modules, `beta` rows each, and how many rows there were."""
    maps = []
    handles = [
        m.register_forward_hook(lambda module, args, out: maps.append(out[0].detach().reshape(out.shape[1], -1)))
        for m in network.modules()
        if not list(m.children())
    ]
    network.train()(sample)
    for handle in handles:
        handle.remove()
    found = []
    for index, one in enumerate(maps):
        rows, size = one, len(one)
        if size > beta:
            chosen = draws.draw(f"channels.{index}", lambda source, n=size: torch.randperm(n, generator=source))
            rows = one[chosen[:beta]]
        found.append((rows.numpy(), len(one)))
    return found


@pytest.mark.checks("dextr_opt", "meco_opt")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), beta=st.integers(1, 5))
def test_the_formulas(small, batch, seed, norm, beta):
    network, (x, _) = small(seed, norm=norm, channels=4), batch(2, seed)
    dextr = correlation = 0.0
    for rows, alpha in sampled_maps(network, x[:1], beta, Draws(seed)):
        values = np.linalg.svd(rows, compute_uv=False)
        factor = alpha / len(rows)
        dextr += factor * values[-1] / values[0] if values[0] > 0 else 0.0
        if rows.shape[1] > 1 and (rows.std(axis=1) > 1e-12).all():
            correlation += factor * np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(rows)))[0]
    kappa = score(network, x, "curvature", seed=seed).value
    a, b = math.log1p(dextr), math.log1p(kappa)
    found = score(network, x, "dextr_opt", seed=seed, settings={"channels": beta})
    assert found.value == pytest.approx(a * b / (a + b), rel=1e-8)
    assert found.parts["independence"] == pytest.approx(dextr, rel=1e-8)
    found = score(network, x, "meco_opt", seed=seed, settings={"channels": beta})
    assert found.value == pytest.approx(correlation, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(("sampled", "whole"), [("dextr_opt", "dextr"), ("meco_opt", "meco")])
def test_enough_channels_are_all_channels(small, batch, sampled, whole):
    x, _ = batch(1)
    found = score(small(), x, sampled, settings={"channels": 100}).value
    assert found == pytest.approx(score(small(), x, whole).value, rel=1e-9)


def test_repeats_average_over_channels(small, batch):
    found = score(small(channels=6), batch(1)[0], "meco_opt", repeats=4, settings={"channels": 2})
    assert found.spread > 0
    assert found.value != score(small(channels=6), batch(1)[0], "meco_opt", settings={"channels": 2}).value


def test_networks_without_feature_maps_are_unsupported(small, batch):
    mlp = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    for proxy in ("dextr_opt", "meco_opt"):
        found = score(mlp, torch.randn(1, 4), proxy)
        assert found.status == "unsupported"
        assert "no feature maps" in found.reason
    with pytest.raises(InputError, match="at least 1"):
        score(small(), batch(1)[0], "meco_opt", settings={"channels": 0})


def test_channels_are_drawn_without_replacement(small, batch):
    features = Probe(small(channels=6), batch(1)[0]).sample.features
    maps, factors = sample_channels(Draws(3), features, 4)
    assert factors.tolist() == [max(1.0, len(f.map) / 4) for f in features]
    for rows, feature in zip(maps, features, strict=True):
        where = {next(i for i, own in enumerate(feature.map) if torch.equal(own, row)) for row in rows}
        assert len(where) == len(rows) or len(feature.map.unique(dim=0)) < len(feature.map)
