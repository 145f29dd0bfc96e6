from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.values import arrays
from tests.properties import examples
from torch import nn

from foresee.errors import InputError
from foresee.proxies.patterns.naswot import agreements
from foresee.proxies.patterns.swap import distinct, pack, regions
from foresee.scoring import score

RANDOM = examples(10)
OWN = {"initialise": "default"}


def slow_patterns(network, x):
    """(samples, units) of booleans, as lists."""
    seen = []
    handles = [
        m.register_forward_pre_hook(lambda module, args: seen.append((args[0] > 0).flatten(1)))
        for m in network.modules()
        if isinstance(m, nn.ReLU | nn.GELU)
    ]
    network.train()(x)
    for handle in handles:
        handle.remove()
    return torch.cat(seen, dim=1).tolist()


@pytest.mark.checks("swap", "linear_regions")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), count=st.integers(1, 5))
def test_the_formulas(small, batch, seed, norm, count):
    network, (x, _) = small(seed, norm=norm), batch(count, seed)
    rows = slow_patterns(network, x)
    assert score(network, x, "swap", settings=OWN).value == len(set(zip(*rows, strict=True)))
    assert score(network, x, "linear_regions").value == len({tuple(row) for row in rows})


def test_regions_of_given_patterns():
    matrix = torch.from_numpy(arrays("common")["patterns"])
    assert float(regions(agreements(matrix), matrix.shape[1])) == 10  # so many by TE-NAS' counter


@examples(30)
@given(seed=st.integers(0, 10**6), samples=st.sampled_from([1, 3, 62, 63, 130]), units=st.integers(1, 40))
def test_counts_broadcast_and_are_exact(seed, samples, units):
    source = torch.Generator().manual_seed(seed)
    positive = torch.randint(2, (2, 3, samples, units), generator=source) > 0
    # far-away copies: patterns that differ in few samples, in any word
    positive[..., : units // 2] = positive[..., units - units // 2 :]
    positive[..., -1, : units // 4] ^= True
    found = distinct(pack(positive))
    same = regions(agreements(positive), units)
    for i in range(2):
        for j in range(3):
            rows = positive[i, j].tolist()
            assert int(found[i, j]) == len(set(zip(*rows, strict=True)))
            assert int(same[i, j]) == len({tuple(row) for row in rows})


def test_the_order_of_samples_does_not_matter(small, batch):
    x, _ = batch(5)
    for proxy in ("swap", "swap_reg", "linear_regions"):
        assert score(small(), x.flip(0), proxy).value == score(small(), x, proxy).value


def test_equal_samples_share_a_region(small, batch):
    x, _ = batch(3)
    assert score(small(), torch.cat([x, x[:2]]), "linear_regions").value == 3


def test_the_reference_counts_plain_maps_only(small, batch):
    mlp = nn.Sequential(nn.Flatten(), nn.Linear(72, 9), nn.ReLU(), nn.Linear(9, 2))
    x = batch(4, dtype=torch.float32)[0]
    for proxy in ("swap", "linear_regions"):
        assert score(mlp, x, proxy).ok
        found = score(mlp, x, f"{proxy}:reference")
        assert found.status == "unsupported"
        assert "maps" in found.reason
    # the GELU of the small network is no ReLU
    assert score(small(), batch(6)[0], "swap:reference").value < score(small(), batch(6)[0], "swap").value


def test_without_activations_it_is_unsupported():
    for proxy in ("swap", "swap_reg", "linear_regions"):
        found = score(nn.Linear(3, 4), torch.randn(2, 3), proxy)
        assert (found.status, "no ReLU-like" in found.reason) == ("unsupported", True)


def test_functions_are_activations():
    class Functional(nn.Linear):
        def forward(self, x):
            return F.relu(super().forward(x))

    torch.manual_seed(0)
    network, x = Functional(3, 4), torch.randn(5, 3)
    for proxy in ("swap", "swap_reg", "linear_regions"):
        in_modules = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        in_modules[0].load_state_dict(network.state_dict())
        assert score(network, x, proxy).value == score(in_modules, x, proxy).value


@pytest.mark.checks("swap_reg", by="swap and the factor by hand")
def test_regularisation(small, batch):
    x = batch(4)[0]
    network = small()
    thousands = sum(p.numel() for p in network.parameters()) / 1e3
    plain = score(network, x, "swap").value
    found = score(network, x, "swap_reg", settings={"mu": thousands + 3, "sigma": 9.0}).value
    assert found == pytest.approx(plain / math.e, rel=1e-12)
    network[0].auxiliary = nn.Linear(500, 100)  # never run; does not count
    assert score(network, x, "swap_reg", settings={"mu": thousands + 3, "sigma": 9.0}).value == pytest.approx(found)
    found = score(network, x, "swap_reg", settings={"mu": 1e6, "sigma": 1.0})
    assert (found.status, "set mu and sigma" in found.reason) == ("nan", True)
    with pytest.raises(InputError, match="sigma"):
        score(network, x, "swap_reg", settings={"sigma": 0})


def test_repeats_average_over_initialisations(small, batch):
    x = batch(6)[0]
    found = score(small(), x, "swap", repeats=4)
    assert found.spread > 0
    assert score(small(), x, "swap", repeats=4, settings=OWN).spread == 0
