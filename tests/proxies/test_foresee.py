from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

import foresee as fs
from foresee.probes.draws import Draws
from foresee.scoring import score

RANDOM = examples(10)


def slow_sphericity(matrix):
    rank = min(matrix.shape[0], matrix.shape[1] - 1)
    values = np.linalg.eigvalsh(np.corrcoef(matrix))[-rank:]
    # what float32 cannot tell from 0 is added
    values = np.maximum(values / values.mean(), 0) + np.finfo(np.float32).eps
    return np.exp(np.log(values).mean())


def slow_mean(maps, measure, least):
    """Mean over groups of as few samples as give `least` positions: one group after the other."""
    samples, _, positions = maps.shape
    size = min(samples, math.ceil(least / positions))
    size = samples // (samples // size)
    groups = [maps[start : start + size] for start in range(0, samples - size + 1, size)]
    return np.mean([measure(np.concatenate(list(group), axis=1)) for group in groups])


def slow(network, x, seed, form):
    """Sum over layers by two looks, and how far outputs move: every tensor kept, gradients one by one."""
    kept = []
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            module.register_forward_hook(lambda m, a, o: kept.append((m, a[0], o)))
    outputs = network.train()(x)
    projection = Draws(seed).normal(f"projection.{len(x)}x{outputs.shape[1]}", *outputs.shape)
    rows = []
    for layer, read, made in kept:
        told, slope = torch.autograd.grad((outputs * projection).sum(), [made, layer.weight], retain_graph=True)
        moved = float(((slope * layer.weight.detach()) ** 2).sum()) / outputs.numel()
        maps = [t.detach().numpy().reshape(len(x), t.shape[1], -1) for t in (read, told)]
        even = math.sqrt(math.prod(slow_mean(one, slow_sphericity, 8 * one.shape[1]) for one in maps))
        rows.append((layer, even, moved, made[0, 0].numel()))
    if form == 2:
        wide = [layer.in_channels * 3 if isinstance(layer, nn.Conv2d) else layer.in_features for layer, *_ in rows]
        total = sum(n * even for n, (_, even, _, _) in zip(wide, rows, strict=True))
        return total / (1 + math.log(1 + math.sqrt(sum(moved for *_, moved, _ in rows))))
    maps = [row for row in rows if row[3] > 4], [row for row in rows if row[3] <= 4]  # 36 positions, and 4 or 1
    whole, total = sum(moved for *_, moved, _ in rows), 0.0
    for group in maps:
        for_all = {"whole": [(1 + whole) ** (1 / 3) - 1] * len(group), 3: [len(group) * row[2] for row in group]}
        error = for_all.get(form, [(len(group) - place) * row[2] for place, row in enumerate(group)])
        works = [layer.weight.numel() * (made**0.5 if form == 4 else 1) for layer, _, _, made in group]
        sizes = [math.sqrt(work) * row[1] for work, row in zip(works, group, strict=True)]
        total += math.sqrt(sum(size / math.sqrt(1 + off) for size, off in zip(sizes, error, strict=True)))
    return total**2 / (2 if form == 4 else 1)


@pytest.mark.checks("foresee")
@RANDOM
@given(
    seed=st.integers(0, 10**6), norm=st.booleans(), samples=st.integers(3, 9), form=st.sampled_from([2, 3, 4, "whole"])
)
def test_the_formula(seed, norm, samples, form):
    torch.manual_seed(seed)
    layers = [nn.Conv2d(2, 5, 3), nn.BatchNorm2d(5) if norm else nn.Identity(), nn.GELU(), nn.Conv2d(5, 4, 3, stride=2)]
    network = nn.Sequential(*layers, nn.GELU(), nn.Flatten(), nn.Linear(4 * 4, 6)).double()
    x = torch.randn(samples, 2, 8, 8, dtype=torch.float64)
    found = score(network, x, f"foresee:{form}", seed=seed)
    assert found.proxy == f"foresee:{form}"
    assert found.value == pytest.approx(slow(network, x, seed, form), rel=1e-4)


def test_it_is_the_default_of_score_rank_and_search():
    x = torch.randn(4, 3, 8, 8)
    nets = {"one": nn.Conv2d(3, 4, 3), "two": nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3))}
    assert score(nets["one"], x).proxy == "foresee"
    assert list(fs.rank(nets, x).scores["one"]) == ["foresee"]
    assert fs.searchers.SearchSettings(space="nasbench201").scoring.proxies == ("foresee",)


def test_labels_and_the_network_are_left_alone():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3))
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    x = torch.randn(4, 3, 8, 8)
    values = {score(network, (x, labels)).value for labels in (torch.zeros(4), torch.arange(4))}
    assert len(values) == 1
    assert score(network, x).value in values
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())


def test_an_activation_in_place_changes_nothing():
    torch.manual_seed(1)
    first, last = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)
    plain, in_place = (nn.Sequential(first, nn.ReLU(inplace=flag), last) for flag in (False, True))
    x = torch.randn(4, 3, 8, 8)
    assert score(plain, x).value == pytest.approx(score(in_place, x).value, rel=1e-6)


def test_a_dead_layer_stops_those_before_it():
    torch.manual_seed(1)
    network = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1))
    x = torch.randn(8, 3, 8, 8)
    nn.init.zeros_(network[2].weight)  # nothing comes back through it, but it can learn from what it reads
    read = network[1](network[0](x)).detach()
    assert score(network, x).value == pytest.approx(score(network[2], read).value, rel=1e-3)
    nn.init.constant_(network[0].bias, -100.0)  # now it reads nothing either
    assert score(network, x).value < 1e-4


def test_copies_of_a_channel_are_no_new_directions():
    torch.manual_seed(2)
    layer, x = nn.Conv2d(3, 8, 3), torch.randn(8, 3, 8, 8)
    network = nn.Sequential(layer, nn.ReLU(), nn.Conv2d(8, 4, 1))
    free = score(network, x).parts["reads"]
    with torch.no_grad():
        layer.weight[4:], layer.bias[4:] = layer.weight[:4], layer.bias[:4]
    alone = score(layer, x).parts["reads"]
    assert score(network, x).parts["reads"] - alone < 0.01 * (free - alone)


def test_a_filter_of_a_group_reads_only_its_group():
    torch.manual_seed(3)
    x = torch.randn(8, 8, 8, 8)
    parts = [score(nn.Conv2d(8, 8, 3, groups=g), x, "foresee:2").parts["reads"] for g in (1, 2, 8)]
    assert parts == pytest.approx([parts[0], parts[0] / 2, parts[0] / 8])
    parts = [
        score(nn.Conv2d(8, 8, 3, groups=g), x, "foresee:3").parts["reads"] for g in (1, 2, 8)
    ]  # as many weights, so many times less
    assert parts == pytest.approx([parts[0], parts[0] / 2**0.5, parts[0] / 8**0.5])


@RANDOM
@given(seed=st.integers(0, 10**6), channels=st.integers(1, 6), side=st.integers(4, 7))
def test_a_layer_learns_no_more_than_its_weights_allow(seed, channels, side):
    torch.manual_seed(seed)
    layer = nn.Conv2d(channels, 9, 3)
    found = score(layer, torch.randn(4, channels, side, side))
    assert 0 < found.value <= math.sqrt(layer.weight.numel() * (side - 2)) * (1 + 1e-9)
    sides = sorted([found.parts["reads"], found.parts["told"]])
    assert sides[0] * (1 - 1e-9) <= found.value / found.parts["steady"] <= sides[1] * (1 + 1e-9)


@pytest.mark.parametrize("form", ["foresee:3", "foresee:4"])
def test_a_starved_resolution_is_not_made_good_by_another(form):
    """Where weights go to one resolution, and hardly any to the other, they count less than where both have them."""

    def network(first, second):
        torch.manual_seed(4)
        bodies = [
            [layer for _ in range(many) for layer in (nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())]
            for many in (first, second)
        ]
        return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), *bodies[0], nn.MaxPool2d(2), *bodies[1])

    x = torch.randn(8, 3, 12, 12)
    even, uneven = (score(network(*how), x, form).value for how in ((3, 3), (5, 1)))
    assert even > uneven


def test_how_far_outputs_move_when_every_weight_is_off():
    """`steady` against weights that really are off by chance, many times."""
    torch.manual_seed(4)
    network = nn.Sequential(
        nn.Conv2d(3, 6, 3), nn.GELU(), nn.Conv2d(6, 5, 3, bias=False), nn.Flatten(), nn.Linear(80, 7)
    )
    network, x = network.double(), torch.randn(6, 3, 8, 8, dtype=torch.float64)
    steady = [score(network, x, "foresee:2", seed=seed).parts["steady"] for seed in range(40)]  # forty projections
    found = [math.exp(1 / one - 1) - 1 for one in steady]
    weights = [layer.weight for layer in network if hasattr(layer, "weight")]
    true, error, squares = [w.detach().clone() for w in weights], 1e-4, []
    with torch.no_grad():
        outputs = network(x)
        for _ in range(400):
            for weight, value in zip(weights, true, strict=True):
                weight.copy_(value * (1 + error * torch.randn_like(value)))
            squares.append(float((network(x) - outputs).square().mean()) / error**2)
    assert np.mean(np.square(found)) == pytest.approx(np.mean(squares), rel=0.1)


def test_frozen_weights_are_looked_at_and_stay_frozen():
    torch.manual_seed(5)
    network, x = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3)), torch.randn(4, 3, 8, 8)
    free = score(network, x)
    network.requires_grad_(False)
    assert score(network, x).parts == free.parts
    assert not any(parameter.requires_grad for parameter in network.parameters())


@pytest.mark.parametrize("form", ["foresee:2", "foresee:3", "foresee:4", "foresee:whole"])
def test_larger_outputs_are_less_steady_and_smaller_ones_are_not_rewarded_without_end(form):
    torch.manual_seed(6)
    network, x = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3)), torch.randn(4, 3, 8, 8)
    values = {}
    for factor in (1e-6, 1e-3, 1.0, 1e3):
        with torch.no_grad():
            scaled = nn.Sequential(network[0], nn.ReLU(), nn.Conv2d(4, 4, 3))
            scaled[2].weight.copy_(network[2].weight * factor)
            scaled[2].bias.copy_(network[2].bias * factor)
        values[factor] = score(scaled, x, form).value
    assert values[1e-6] == pytest.approx(values[1e-3], rel=1e-2)
    assert values[1e-3] > values[1.0] > values[1e3] > 0


def test_forms_are_called_by_their_number():
    torch.manual_seed(1)
    network, x = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3)), torch.randn(4, 3, 8, 8)
    before = score(network, x, "foresee:2")
    assert before.value == score(network, x, "foresee", settings={"form": 2}).value
    values = [score(network, x, f"foresee:{form}").value for form in (2, 3, 4)]
    assert len(set(values)) == 3
    assert values[-1] == score(network, x).value


def test_layers_that_hear_nothing_do_not_count():
    """A branch that no output depends on changes neither what there is nor how steady the others are."""

    class Branched(nn.Module):
        def __init__(self, idle):
            super().__init__()
            torch.manual_seed(11)
            self.first, self.last = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
            self.idle = nn.Conv2d(4, 4, 3, padding=1) if idle else None

        def forward(self, x):
            x = torch.relu(self.first(x))
            out = self.last(x)
            return out if self.idle is None else out + 0 * self.idle(x)

    x = torch.randn(4, 3, 8, 8)
    assert score(Branched(True), x).value == pytest.approx(score(Branched(False), x).value, rel=1e-6)


def test_layers_written_as_functions_have_the_same_order():
    """What the graph shows stands where it runs: the score is that of the same network of modules."""

    class Written(nn.Module):
        def __init__(self, layers):
            super().__init__()
            self.weights = nn.ParameterList([layer.weight for layer in layers])

        def forward(self, x):
            for weight in self.weights[:-1]:
                x = torch.relu(nn.functional.conv2d(x, weight))
            return nn.functional.conv2d(x, self.weights[-1])

    torch.manual_seed(12)
    layers = [nn.Conv2d(3, 6, 3, bias=False), nn.Conv2d(6, 4, 3, bias=False), nn.Conv2d(4, 5, 3, bias=False)]
    with torch.no_grad():
        layers[2].weight.mul_(8)  # so that how steady a layer is matters
    modules = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    x = torch.randn(4, 3, 12, 12)
    assert score(Written(layers), x).value == pytest.approx(score(modules, x).value, rel=1e-5)


@pytest.mark.parametrize("form", [2, 3, 4])
def test_parts_of_layers_add_up_to_the_score(form):
    torch.manual_seed(1)
    shared = nn.Conv2d(4, 4, 3, padding=1)
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.ReLU(), shared, nn.MaxPool2d(2), shared, nn.Flatten(), nn.Linear(36, 2)
    )
    x = torch.randn(4, 3, 8, 8)
    found = score(network, x, "foresee", settings={"form": form, "layers": True})
    layers = {name: part for name, part in found.parts.items() if name.startswith("layer ")}
    assert sum(layers.values()) == pytest.approx(found.value)
    assert list(layers) == ["layer 0", "layer 2", "layer 6"]


def test_tokens_vectors_and_categories():
    class Clicks(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.out = nn.Embedding(20, 6), nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))

        def forward(self, categories):
            return self.out(self.table(categories).sum(1))

    assert score(Clicks(), torch.randint(20, (16, 3))).value > 0
    assert score(nn.Sequential(nn.Linear(5, 9), nn.GELU(), nn.Linear(9, 2)), torch.randn(16, 5)).value > 0
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
    assert score(nn.Sequential(layer, nn.Flatten(), nn.Linear(80, 3)), torch.randn(4, 10, 8)).value > 0


def test_what_it_cannot_look_at_is_a_status():
    assert score(nn.ReLU(), torch.randn(2, 3)).status == "unsupported"
    broken = nn.Conv2d(1, 2, 1)
    nn.init.constant_(broken.weight, float("inf"))
    assert score(broken, torch.randn(2, 1, 3, 3)).status == "nan"
    for settings in ({"channels": 1}, {"columns": 0}):
        with pytest.raises(fs.errors.InputError, match="at least 2 channels"):
            score(nn.Conv2d(1, 2, 1), torch.randn(2, 1, 3, 3), settings=settings)
    with pytest.raises(fs.errors.InputError, match="forms 2, 3, 4"):
        score(nn.Conv2d(1, 2, 1), torch.randn(2, 1, 3, 3), settings={"form": 1})


def test_other_settings_are_looked_at_in_the_shared_pass():
    """The look that is taken along by another proxy's pass has the settings of this call."""
    torch.manual_seed(7)
    runs = []
    network = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 36, 3))
    network[0].register_forward_hook(lambda *_: runs.append(1))
    batch = torch.randn(6, 3, 8, 8), torch.arange(6) % 3
    settings = {"channels": 4, "columns": 2}
    alone = score(network, batch, "foresee", settings=settings)
    runs.clear()
    together = fs.scores(network, batch, ["snip", "jacov", "foresee"], settings={"foresee": settings})
    assert len(runs) == 1
    assert (together["foresee"].value, together["foresee"].parts) == (alone.value, alone.parts)
    assert alone.value != score(network, batch, "foresee").value


def test_repeats_draw_anew_beside_others_as_alone():
    torch.manual_seed(8)
    network = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 36, 3))
    batch = torch.randn(6, 3, 8, 8), torch.arange(6) % 3
    alone = score(network, batch, "foresee", repeats=3)
    together = fs.scores(network, batch, ["snip", "foresee", "jacov"], repeats=3)
    assert alone.spread > 0
    assert (together["foresee"].value, together["foresee"].spread) == (alone.value, alone.spread)
    assert together["snip"].spread == 0  # what it was taken along with is not its own draw
