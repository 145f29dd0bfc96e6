from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.probes.draws import Draws
from foresee.proxies import Probe, get
from foresee.proxies.features.dextr_parts import fmi_profile
from foresee.scoring import score


def test_dextr_is_made_of_its_parts(small, batch):
    x, _ = batch(2)
    a, b = (math.log1p(score(small(), x, name, seed=3).value) for name in ("inverse_conditions", "curvature"))
    assert score(small(), x, "dextr", seed=3).value == pytest.approx(a * b / (a + b), rel=1e-12)


@pytest.mark.checks("inverse_conditions", "curvature", by="parts of the golden values of dextr:reference")
def test_golden_parts(golden):
    parts = golden.parts("dextr_b1_s32")
    found = golden.compute("inverse_conditions:reference", golden.inputs[:1])
    assert found == pytest.approx(parts["independence"], rel=golden.tolerance())
    found = golden.compute("curvature:reference", golden.inputs[:1])
    assert found == pytest.approx(parts["curvature"], rel=golden.tolerance(float32=1e-3))


def test_without_batch_statistics_the_sum_is_that_of_the_single_points(small, batch):
    network, x = small(norm=False), batch(1)[0]
    angles = [2 * math.pi * i / 4 for i in range(5)]
    alone = [score(network, x, "curvature", settings={"angle": angle}).value for angle in angles]
    assert score(network, x, "curvature", settings={"points": 5}).value == pytest.approx(sum(alone), rel=1e-8)
    with pytest.raises(InputError, match="points"):
        score(network, x, "curvature", settings={"points": 0})


def test_curvature_of_a_circle():
    turned = nn.Linear(2, 2, bias=False).double()
    nn.init.eye_(turned.weight)
    found = score(turned, torch.zeros(1, 2), "curvature", settings={"radius": 4.0})
    assert found.value == pytest.approx(1 / 4)


def test_repeats_of_a_shared_part_are_real_repeats(small, batch):
    from foresee.scoring import scores

    x, _ = batch(1)
    together = scores(small(), x, ["dextr", "curvature"], repeats=3)
    assert together["curvature"].spread > 0
    assert together["curvature"].value == score(small(), x, "curvature", repeats=3).value


def test_profile(golden):
    parts = golden.parts("dextr_b1_s32")
    profile = fmi_profile(golden.network, golden.inputs[:1], every_module=True)
    assert [layer.value for layer in profile] == pytest.approx(parts["modules"], abs=1e-6)


def test_profile_sums_up_and_leaves_the_network_alone(small, batch):
    network, (x, _) = small(), batch(3)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    profile = fmi_profile(network, x)
    assert sum(layer.value for layer in profile) == pytest.approx(score(network, x, "inverse_conditions").value)
    assert [layer.kind for layer in profile][:3] == ["Conv2d", "BatchNorm2d", "ReLU"]
    drawn = fmi_profile(network, x, initialise="he", seed=1)
    assert [layer.value for layer in drawn] != [layer.value for layer in profile]
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())


def test_unsupported(small):
    mlp = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    assert "no feature maps" in score(mlp, torch.randn(1, 4), "inverse_conditions").reason
    assert score(mlp, torch.randn(1, 4), "curvature").ok
    probe = Probe(nn.Linear(4, 2), torch.zeros(1, 4), draws=Draws(0))
    assert float(get("curvature")(probe)) > 0
