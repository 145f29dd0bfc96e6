"""One of our networks is looked at without being kept as found: every look is the one at a stranger's network."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.errors import UnsupportedError
from foresee.probes.ours import Ours, Remembered, plain
from foresee.probes.probe import Probe
from foresee.scoring.one import looked_at

CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|avg_pool_3x3~1|+|skip_connect~0|none~1|nor_conv_3x3~2|"
NAMES = [
    "dextr",
    "meco",
    "foresee",
    "zen",
    "zen:reference",
    "swap",
    "synflow",
    "snip",
    "zico",
    "naswot",
    "grasp",
]
TASK = fs.Task((3, 8, 8), 4)


def cell() -> nn.Module:
    torch.manual_seed(1)
    space = fs.spaces.get("nasbench201", channels=4, cells=1)
    return space.build(space.parse(CELL), TASK)


@pytest.fixture
def batches():
    return fs.data.load("synthetic", task=TASK).batches(2, 8, seed=3)


class Mine(nn.ReLU):
    pass


def test_a_network_of_known_layers_is_plain_and_any_other_is_not():
    assert plain(cell())
    assert not plain(nn.Sequential(Mine()))
    hooked, patched, synchronised = nn.ReLU(), nn.ReLU(), nn.SyncBatchNorm(3)
    hooked.register_forward_hook(lambda *_: None)
    patched.forward = lambda x: x
    weighed = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    assert not any(plain(nn.Sequential(one)) for one in (hooked, patched, synchronised, weighed))


def test_every_score_is_that_of_a_strangers_network(batches):
    proxies = [fs.proxies.get(name) for name in NAMES]
    both = [looked_at(cell(), batches, proxies, seed=2, repeats=1, ours=ours) for ours in (False, True)]
    for name in NAMES:
        assert both[0][name].ok, both[0][name].reason
        assert both[1][name].value == both[0][name].value, name
        assert both[1][name].parts == both[0][name].parts, name


def test_a_strangers_layer_is_put_back_whoever_built_it(batches):
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), Mine(), nn.Flatten(), nn.Linear(144, 4)).eval()
    found = copy.deepcopy(network.state_dict())
    probe = Probe(network, batches, ours=Ours.of(network))
    assert probe.ours is None
    probe.batch.gradients  # noqa: B018
    assert not network.training
    assert all(torch.equal(value, found[name]) for name, value in network.state_dict().items())


def test_nothing_is_copied_and_weights_are_converted_once(batches, monkeypatch):
    def never(*_, **__):
        raise AssertionError("one of ours was copied")

    monkeypatch.setattr(copy, "deepcopy", never)
    monkeypatch.setattr("foresee.probes.state.Belongings", never)
    made = []
    monkeypatch.setattr("foresee.probes.subject.double", lambda tensor: made.append(tensor) or tensor.double())
    network = cell()
    found = looked_at(network, batches, [fs.proxies.get("dextr")], seed=2, repeats=2, ours=True)
    assert found["dextr"].ok
    assert len(made) == len(list(network.parameters()))


def test_attributes_and_flags_that_a_look_exchanged_are_as_before(batches):
    network = cell()
    weight = network.stem[0].weight.requires_grad_(False)
    probe = Probe(network, batches, ours=Ours.of(network))
    with probe.contact() as inside:
        inside.eval()
        vars(inside.stem[1])["forward"] = lambda x: x
        weight.requires_grad_()
        inside.stem[0].weight.grad = torch.zeros_like(weight)
    assert network.training
    assert network.stem[1].training
    assert "forward" not in vars(network.stem[1])
    assert not weight.requires_grad
    assert weight.grad is None


def test_writing_into_weights_is_refused_unless_they_are_copies(batches):
    probe = Probe(network := cell(), batches, ours=Ours.of(network))
    with pytest.raises(UnsupportedError, match="ask for copies"), probe.contact() as network, torch.no_grad():
        network.stem[0].weight.add_(1)
    before = probe.network.stem[0].weight.clone()
    with probe.contact(torch.Tensor.clone) as network, torch.no_grad():
        network.stem[0].weight.add_(1)
    assert torch.equal(probe.network.stem[0].weight, before)


def test_a_network_of_ours_is_known_again():
    network = cell()
    assert Ours.of(network) is not None
    assert Ours.of(network) is not None


def test_running_statistics_are_kept_where_somebody_reads_them(batches):
    network = cell()
    norm, ours = network.stem[1], Ours(network)
    with ours.contact(), ours.tracking():
        network(batches[0].inputs)
        assert int(norm.num_batches_tracked) == 1
        assert bool(norm.running_mean.any())
    assert int(norm.num_batches_tracked) == 0
    assert not bool(norm.running_mean.any())
    with ours.contact():
        network(batches[0].inputs)
    assert int(norm.num_batches_tracked) == 0


def test_a_remembered_conversion_is_by_place():
    both = Remembered(torch.Tensor.double)
    one = torch.arange(6.0)
    assert both(one) is both(one.detach())
    assert both(one[:3]) is not both(one[3:])
    assert both(one.view(2, 3)) is not both(one.view(3, 2))
