from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.networks import NETWORKS
from tests.golden.values import VALUES, load
from tests.probes.curves import assert_same, curve_of, seeded
from tests.properties import examples
from torch import nn

from foresee.errors import InputError, UnsupportedError
from foresee.probes.jets import curvature, taylor

IMAGE, TOKENS, ROWS = (2, 4, 6, 6), (2, 5, 8), (3, 8)


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def test_agrees_with_finite_differences():
    network = seeded(nn.Sequential(nn.Linear(8, 6), nn.Softplus(), nn.Linear(6, 2)))
    point, velocity, acceleration = curve_of(ROWS)
    step = 1e-3
    with torch.no_grad():
        below, here, above = (network(point + t * velocity + t * t / 2 * acceleration) for t in (-step, 0.0, step))
    value, first, second = taylor(network, point, velocity, acceleration)
    assert torch.allclose(value, here, rtol=1e-12)
    assert torch.allclose(first, (above - below) / (2 * step), rtol=1e-4)
    assert torch.allclose(second, (above - 2 * here + below) / step**2, rtol=1e-4, atol=1e-5)


# -- golden values -----------------------------------------------------------------------------------------------------


def test_golden_curvature(golden):
    for side, entry in ((32, "dextr_b1_s32"), (64, "dextr_nb201_b1_s64")):
        if entry not in VALUES[golden.name]:
            continue
        cosine, sine = golden.draws[f"plane.{3 * side**2}"].to(golden.dtype).T.reshape(2, 1, 3, side, side)
        _, velocity, acceleration = taylor(golden.network, cosine, sine, -cosine, method="jets")
        chosen = golden.draws["coordinates"]
        kappa = curvature(velocity[0, chosen], acceleration[0, chosen])
        assert float(kappa) == pytest.approx(golden.parts(entry)["curvature"], rel=golden.tolerance(1e-9, 1e-3))


@pytest.mark.parametrize("name", NETWORKS)
def test_golden_curvature_of_eight_coupled_points(name):
    """All angles in one batch, coupled by batch norm, as the reference code differentiates them.

    F = sum of outputs over the batch, H its Hessian in the angles: v_j = dF/dangle_j and a_j = (H 1)_j. Along angles that
    move with speeds w the jets give grad F . w and w H w; speeds 1 + e_j and 1 - e_j separate the two by polarisation.
    """
    golden = load(name, torch.float64)
    cosine, sine = golden.draws["plane.3072"].T
    angles = torch.linspace(0, 2 * math.pi, 8, dtype=torch.float64)[:, None]
    point, ahead = angles.cos() * cosine + angles.sin() * sine, angles.cos() * sine - angles.sin() * cosine
    shape, chosen = (8, 3, 32, 32), golden.draws["coordinates"]

    def along(speeds):
        velocity, acceleration = speeds[:, None] * ahead, -(speeds[:, None] ** 2) * point
        _, first, second = taylor(
            golden.network, *(x.view(shape) for x in (point, velocity, acceleration)), method="jets"
        )
        return first.sum(0)[chosen], second.sum(0)[chosen]

    kappa = 0.0
    for one in torch.eye(8, dtype=torch.float64):
        (v_more, a_more), (v_less, a_less) = along(1 + one), along(1 - one)
        kappa += float(curvature((v_more - v_less) / 2, (a_more - a_less) / 4))
    assert kappa == pytest.approx(golden.value("curvature_theta8_s32"), rel=1e-8)


# -- doors: inputs, outputs, failures ----------------------------------------------------------------------------------


class Two(nn.Module):
    """Dense and sparse inputs; features and logits."""

    def __init__(self):
        super().__init__()
        self.table, self.linear = nn.Embedding(5, 8), nn.Linear(8, 3)

    def forward(self, dense, sparse):
        dense.mul_(1.0)  # whatever it does to its inputs, the caller's tensors stay
        sparse.add_(0)
        features = dense.tanh() * self.table(sparse)
        return features, self.linear(features)


@pytest.mark.parametrize("method", ["jets", "double_backward"])
def test_several_inputs_and_outputs(method):
    network, (point, velocity, acceleration) = seeded(Two()), curve_of(ROWS)
    which, kept = torch.tensor([1, 4, 2]), point.clone()
    ours = taylor(network, (point, which), (velocity, None), (acceleration, None), method=method)
    dense = nn.Sequential(Lambda(lambda x: x.tanh() * network.table(which)), network.linear)
    assert_same(ours, taylor(dense, point, velocity, acceleration))
    assert torch.equal(point, kept)
    features = taylor(
        network, (point, which), (velocity, which), (acceleration, which), select=lambda out: out[0], method=method
    )
    assert features[0].shape == (3, 8)
    still = taylor(network, (point, which), (None, None), (None, None), method=method)
    assert torch.allclose(still[0], ours[0], rtol=1e-12)
    assert not still[1].any()


def test_a_dictionary_with_logits():
    network, curve = seeded(nn.Linear(8, 3)), curve_of(ROWS)
    assert_same(
        taylor(Lambda(lambda x: {"logits": network(x), "x": x}), *curve, method="jets"), taylor(network, *curve)
    )


@pytest.mark.parametrize(
    ("velocity", "message"),
    [(torch.zeros(3, 7), r"point \(3, 8\), velocity \(3, 7\)"), ((torch.zeros(3, 8), None), "1 inputs, 2 velocities")],
)
def test_a_malformed_curve_is_named(velocity, message):
    point = torch.zeros(3, 8)
    with pytest.raises(InputError, match=message):
        taylor(nn.Identity(), point, velocity, point)
    with pytest.raises(InputError, match="method 'fast': expected one of auto, jets, double_backward"):
        taylor(nn.Identity(), point, point, point, method="fast")


def test_an_operation_without_a_rule_takes_the_slow_way():
    network, curve = Lambda(lambda x: x.prod(1)), curve_of(ROWS)
    with pytest.raises(UnsupportedError, match=r"aten\.prod"):
        taylor(network, *curve, method="jets")
    factors = Lambda(lambda x: x[:, 0] * x[:, 1] * x[:, 2] * x[:, 3] * x[:, 4] * x[:, 5] * x[:, 6] * x[:, 7])
    assert_same(taylor(network, *curve), taylor(factors, *curve, method="jets"))


def test_a_recurrent_network_takes_the_slow_way():
    network = nn.LSTM(8, 4, batch_first=True).double()
    point, velocity, acceleration = curve_of(TOKENS)
    step = 1e-4
    _, _, second = taylor(network, point, velocity, acceleration)
    with torch.no_grad():
        below, here, above = (network(point + t * velocity + t * t / 2 * acceleration)[0] for t in (-step, 0.0, step))
    assert torch.allclose(second, (above - 2 * here + below) / step**2, atol=1e-5)


def test_jets_know_what_autograd_does_not():
    network, curve = nn.Hardsigmoid(), curve_of(ROWS)
    with pytest.raises(UnsupportedError, match="cannot be differentiated twice"):
        taylor(network, *curve, method="double_backward")
    point, velocity, _ = curve
    _, first, _ = taylor(network, *curve)
    assert torch.allclose(first, velocity * (point.abs() < 3) / 6, rtol=1e-12)


def test_what_nobody_can_differentiate_is_unsupported_with_both_reasons():
    with pytest.raises(UnsupportedError, match=r"differentiated twice: .*_cdist.*; nor forward: .*_cdist_forward"):
        taylor(Lambda(lambda x: torch.cdist(x, x * x)), *curve_of(ROWS))
    with pytest.raises(UnsupportedError, match="returns NoneType"):
        taylor(Lambda(lambda x: None), *curve_of(ROWS))


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen = self.seen + x.sum()
        self.extra = nn.Buffer(torch.ones(1))
        self.norm(x * torch.rand(8))
        raise ZeroDivisionError("a mistake in the module")


def state_of(network):
    named = {**dict(network.named_buffers()), **dict(network.named_parameters())}
    return {
        name: (tensor, tensor.detach().clone(), tensor.requires_grad, tensor.grad) for name, tensor in named.items()
    }


@pytest.mark.parametrize("method", ["auto", "jets", "double_backward"])
@pytest.mark.parametrize("grad", [True, False])
def test_everything_is_left_as_found(method, grad):
    norm = nn.BatchNorm2d(4)
    norm.weight.requires_grad_(False)
    good = nn.Sequential(
        nn.Conv2d(4, 4, 3), norm, nn.Dropout(0.5), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(64, 2)
    )
    good.double()
    broken = Broken().double()
    torch.manual_seed(0)
    before = torch.get_rng_state()
    for network, shape in ((good, IMAGE), (broken, ROWS)):
        kept, modes = state_of(network), [module.training for module in network.modules()]
        curve = curve_of(shape).requires_grad_()
        with torch.set_grad_enabled(grad):
            if network is broken:
                error = UnsupportedError if method == "jets" else ZeroDivisionError
                with pytest.raises(error, match="a mistake in the module"):
                    taylor(network, *curve, method=method)
            else:
                taylor(network, *curve, method=method)
            assert torch.is_grad_enabled() == grad
        after = state_of(network)
        assert after.keys() == kept.keys()
        for name, (tensor, value, flag, gradient) in kept.items():
            assert after[name][0] is tensor, name
            assert torch.equal(tensor, value), name
            assert (tensor.requires_grad, tensor.grad) == (flag, gradient), name
        assert [module.training for module in network.modules()] == modes
        assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
        assert curve.grad is None
    assert int(norm.num_batches_tracked) == 0
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.backends.mha.get_fastpath_enabled()
    assert torch.backends.cuda.flash_sdp_enabled()


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_scripted_modules():
    network, curve = seeded(nn.Sequential(nn.BatchNorm2d(4), nn.Conv2d(4, 2, 3), nn.ReLU())), curve_of(IMAGE)
    expected = taylor(network, *curve)
    scripted = torch.jit.script(network)
    for whole in (scripted, nn.Sequential(scripted, nn.Identity())):
        assert_same(taylor(whole, *curve, method="jets"), expected)
    assert not scripted.state_dict()["0.running_mean"].any()


# -- curvature ---------------------------------------------------------------------------------------------------------

VECTORS = st.lists(st.floats(-10, 10, allow_subnormal=False), min_size=2, max_size=5)


@examples(50)
@given(radius=st.floats(1e-3, 1e3), speed=st.floats(1e-3, 1e3), angle=st.floats(0, 6.3), push=st.floats(-100, 100))
def test_a_circle_bends_by_one_over_its_radius(radius, speed, angle, push):
    """At any point of it and at any speed, also when the speed changes (a push along the velocity)."""
    inward = -torch.tensor([math.cos(angle), math.sin(angle), 0.0], dtype=torch.float64)
    ahead = torch.tensor([-math.sin(angle), math.cos(angle), 0.0], dtype=torch.float64)
    velocity, acceleration = speed * ahead, speed**2 / radius * inward + push * ahead
    assert float(curvature(velocity, acceleration)) == pytest.approx(
        1 / radius, rel=1e-6, abs=1e-12 * abs(push) / speed**2
    )


@examples(50)
@given(v=VECTORS, seed=st.integers(0, 1000))
def test_curvature_is_the_formula(v, seed):
    velocity = torch.tensor(v, dtype=torch.float64)
    acceleration = torch.randn(len(v), dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    kappa, vv = float(curvature(velocity, acceleration)), float(velocity @ velocity)
    if vv < 1e-12:
        return
    radicand = vv * float(acceleration @ acceleration) - float(velocity @ acceleration) ** 2
    assert kappa == pytest.approx(vv**-1.5 * max(radicand, 0) ** 0.5, rel=1e-5, abs=1e-6 / vv)


def test_curvature_at_the_edges():
    v = torch.tensor([0.1, 0.2, 0.3])
    assert float(curvature(v, 7 * v)) < 1e-6  # a straight line: the radicand rounds to either sign
    assert math.isnan(curvature(torch.zeros(3), v))
    assert curvature(torch.ones(4, 1, 3), torch.rand(2, 3)).shape == (4, 2)
    assert curvature(v, v).dtype == torch.float64
    assert float(curvature(v.double() * 1e-100, torch.tensor([1.0, 0, 0]))) > 0
