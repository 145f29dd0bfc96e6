from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from foresee.errors import InputError, UnknownNameError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.initialise import SCHEMES, initialised
from foresee.proxies import Probe, get, proxies, proxy
from foresee.scoring import score, scores


def state(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize(
    ("scheme", "variance"), [("lecun", 1 / 36), ("xavier", 2 / (36 + 72)), ("he", 2 / 36), ("normal", 1.0)]
)
def test_variances(scheme, variance):
    layer = nn.Conv2d(8, 16, 3, groups=2)  # each unit reads 4 channels, each channel feeds 8
    drawn = []
    for seed in range(20):
        with initialised(layer, scheme, Draws(seed)):
            drawn.append(layer.weight.detach().clone())
            assert not layer.bias.any()
    weights = torch.cat(drawn).flatten()
    assert float(weights.var()) == pytest.approx(variance, rel=0.1)
    assert abs(float(weights.mean())) < 4 * math.sqrt(variance / len(weights))


def test_norms_start_anew_and_everything_comes_back():
    network = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.GroupNorm(1, 3), nn.LSTM(2, 2)).double()
    for tensor in (*network.parameters(), *network.buffers()):
        if tensor.is_floating_point():
            nn.init.uniform_(tensor, 2, 3)
    network[1].num_batches_tracked.fill_(7)
    before, objects = state(network), [id(p) for p in network.parameters()]
    pointers = [p.data_ptr() for p in network.parameters()]

    def inside_then_raise():
        with initialised(network, "he", Draws(0)):
            inside = state(network)
            assert inside["1.weight"].tolist() == inside["2.weight"].tolist() == [1, 1, 1]
            assert inside["1.running_mean"].tolist() == inside["2.bias"].tolist() == [0, 0, 0]
            assert inside["1.running_var"].tolist() == [1, 1, 1]
            assert int(inside["1.num_batches_tracked"]) == 0
            assert torch.equal(inside["3.weight_ih_l0"], before["3.weight_ih_l0"])
            assert inside["0.weight"].dtype == torch.float64
            raise KeyError

    with pytest.raises(KeyError):
        inside_then_raise()
    assert same(state(network), before)
    assert pointers == [p.data_ptr() for p in network.parameters()]
    assert objects == [id(p) for p in network.parameters()]


def test_shared_weights_stay_shared_and_attention_is_drawn():
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    second.weight = first.weight
    attention = nn.MultiheadAttention(4, 2)
    network = nn.ModuleList([first, second, attention])
    draws = Draws(0)
    with initialised(network, "normal", draws):
        assert first.weight is second.weight
        assert torch.equal(first.weight.detach(), draws.normal("weights.0.weight", 4, 4).float())
        assert torch.equal(attention.in_proj_weight.detach(), draws.normal("weights.2.in_proj_weight", 12, 4).float())


def test_computed_weights_cannot_be_drawn():
    network = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    with pytest.raises(UnsupportedError, match="parametrised"), initialised(network, "he", Draws(0)):
        pass
    found = score(network, torch.zeros(1, 3), "params", initialise="he")
    assert found.status == "unsupported"


def test_every_proxy_has_the_setting():
    for name in proxies.names():
        assert get(name).settings["initialise"] in SCHEMES
    with pytest.raises(UnknownNameError, match="did you mean he"):
        get("dextr", {"initialise": "hee"})
    with pytest.raises(UnknownNameError, match="initialisation"):
        score(nn.Linear(2, 2), torch.zeros(1, 2), "params", initialise="kaiming")


def test_a_formula_cannot_take_it_for_itself():
    with pytest.raises(InputError, match="setting of every proxy"):

        @proxy("mine", paper="none", cost="nothing")
        def mine(probe, *, initialise="he"):
            """Never registered."""


@pytest.mark.parametrize("name", ["dextr", "snip", "l2_norm", "synflow", "zico", "naswot"])
def test_scores_are_those_of_a_network_with_such_weights(small, batch, name):
    network, data = small(), batch(6)
    before = state(network)
    found = score(network, data, name, seed=4, initialise="he")
    assert same(state(network), before)
    other = small(1)
    with initialised(network, "he", Draws(4)):
        other.load_state_dict(network.state_dict())
    assert found.value == score(other, data, name, seed=4).value
    assert found.value != score(network, data, name, seed=4).value


def test_repeats_average_over_initialisations(small, batch):
    network, data = small(), batch(6)
    found = score(network, data, "snip", initialise="he", repeats=3)
    values = []
    for repeat in range(3):
        probe = Probe(network, data, draws=Draws(0, repeat=repeat))
        values.append(float(get("snip", {"initialise": "he"})(probe)))
    assert len(set(values)) == 3
    assert found.value == pytest.approx(sum(values) / 3, rel=1e-12)
    assert found.spread == pytest.approx(float(torch.tensor(values, dtype=torch.float64).std()), rel=1e-9)
    assert score(network, data, "snip", repeats=3).spread == 0


_LOGS: list = []


class Counted(nn.Module):
    """Counts its runs outside of itself, where nothing is put back."""

    def __init__(self, inner, log):
        super().__init__()
        self.inner, self.log = inner, len(_LOGS)
        _LOGS.append(log)

    def forward(self, x):
        _LOGS[self.log].append(torch.is_grad_enabled())
        return self.inner(x)


def test_proxies_share_runs_under_the_same_weights_only(small, batch):
    log: list = []
    network, data = Counted(small(), log), batch(6)
    asked = ["naswot", "swap", "linear_regions", "grad_norm"]
    settings = {"swap": {"initialise": "he"}, "linear_regions": {"initialise": "he"}}
    for repeats, runs in ((1, 2), (3, 1 + 3)):
        log.clear()
        together = scores(network, data, asked, settings=settings, repeats=repeats)
        assert log == [True] + [False] * (runs - 1)  # the gradients are of the own weights: only that run has a graph
        for name in asked:
            alone = score(network, data, name, settings=settings.get(name), repeats=repeats)
            assert alone.value == together[name].value


def test_the_setting_of_a_proxy_comes_before_the_argument(small, batch):
    network, data = small(), batch(6)
    found = scores(network, data, ["snip", "swap"], settings={"snip": {"initialise": "default"}}, initialise="he")
    assert found["snip"].value == score(network, data, "snip").value
    assert found["swap"].value == score(network, data, "swap", initialise="he").value
    assert (
        score(network, data, "swap", initialise="he", settings={"initialise": "normal"}).value
        == score(network, data, "swap").value
    )


@pytest.mark.parametrize("name", ["snip", "az_trainability", "curvature:reference_sum", "zen", "swap", "dextr_opt"])
def test_inference_mode_around_it_does_not_matter(batch, name):
    torch.manual_seed(0)
    layers = [nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
    network, data = nn.Sequential(*layers, nn.Flatten(), nn.Linear(3, 5)).double(), batch(4)
    expected = score(network, data, name, initialise="he")
    with torch.inference_mode():
        found = score(network, data, name, initialise="he")
    assert found.ok
    assert found.value == expected.value
