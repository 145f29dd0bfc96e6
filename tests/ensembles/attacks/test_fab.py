"""The nearest point beyond the boundary."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from tests.ensembles.attacks.golden.network import EPS, arrays, trained
from tests.ensembles.attacks.networks import exact, linear

from foresee.ensembles.attacks import attacks
from foresee.ensembles.attacks.fab import onto_plane
from foresee.errors import InputError


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_images_are_those_of_torchattacks(norm):
    found = attacks["fab_t"](*trained(), eps=None, targets=1, norm=norm)
    theirs = torch.from_numpy(arrays()[f"torchattacks_fab_{norm}"])
    assert bool(found.success.all())
    torch.testing.assert_close(found.images, theirs, atol=1e-3, rtol=0)
    lengths = (theirs - trained()[1]).flatten(1).norm(dim=1).double()
    torch.testing.assert_close(found.l2[found.right], lengths[found.right], rtol=1e-3, atol=0)


@pytest.mark.parametrize(("norm", "dual"), [("linf", 1), ("l2", 2)])
def test_of_a_linear_network_the_distance_is_found(norm, dual):
    network, images, labels = linear()
    away = exact(network, images, labels, dual)
    found = attacks["fab_t"](network, images, labels, eps=None, steps=40, norm=norm)
    lengths = getattr(found, norm)
    assert bool(found.success.all())
    assert bool((lengths >= away * (1 - 1e-4)).all())
    assert float((lengths / away).max()) < 1.01


def test_what_is_further_than_eps_does_not_count():
    network, images, labels = trained()
    free = attacks["fab_t"](network, images, labels, eps=None, steps=15)
    bound = attacks["fab_t"](network, images, labels, eps=EPS, steps=15)
    assert torch.equal(bound.success, ~bound.right | (free.linf <= EPS))
    assert float(bound.linf.max()) <= EPS + 1e-6


def test_an_unknown_norm():
    with pytest.raises(InputError, match="norm 'l1'"):
        attacks["fab_t"](*linear(), norm="l1")


numbers = st.floats(0, 1)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(numbers, st.floats(-2, 2)), min_size=2, max_size=5), st.floats(-2, 2))
def test_the_projection_is_the_optimum_of_a_solver(pairs, offset):
    x, w = torch.tensor(pairs, dtype=torch.float64).T
    point = onto_plane(x[None], w[None], torch.tensor([offset], dtype=torch.float64), "linf")[0]
    low, high = float(w.clamp(max=0).sum()) + offset, float(w.clamp(min=0).sum()) + offset
    assert bool(((point >= 0) & (point <= 1)).all())
    if low < -1e-6 and high > 1e-6:
        assert abs(float((w * point).sum()) + offset) < 1e-9
        # min t subject to |u - x| <= t, <w, u> = -offset, 0 <= u <= 1
        n = len(x)
        eye, one = torch.eye(n, dtype=torch.float64), torch.ones(n, 1, dtype=torch.float64)
        sides = torch.cat([torch.cat([eye, -one], 1), torch.cat([-eye, -one], 1)])
        best = linprog(
            [0.0] * n + [1.0],
            A_ub=sides.numpy(),
            b_ub=torch.cat([x, -x]).numpy(),
            A_eq=[[*w.tolist(), 0.0]],
            b_eq=[-offset],
            bounds=[(0, 1)] * n + [(0, None)],
        )
        assert float((point - x).abs().max()) == pytest.approx(best.fun, abs=1e-7)


def test_the_euclidean_projection_is_the_optimum_of_a_solver():
    drawn = torch.Generator().manual_seed(0)
    for _ in range(10):
        x, w = torch.rand(5, generator=drawn).double(), torch.randn(5, generator=drawn).double()
        offset = -float((w * torch.rand(5, generator=drawn).double()).sum())  # the plane goes through the box
        point = onto_plane(x[None], w[None], torch.tensor([offset], dtype=torch.float64), "l2")[0]
        plane = {"type": "eq", "fun": lambda u, w=w, offset=offset: float((w.numpy() * u).sum()) + offset}
        best = minimize(lambda u, x=x: ((u - x.numpy()) ** 2).sum(), x.numpy(), bounds=[(0, 1)] * 5, constraints=plane)
        assert float((w * point).sum()) + offset == pytest.approx(0, abs=1e-9)
        assert float(((point - x) ** 2).sum()) == pytest.approx(best.fun, abs=1e-6)


def test_a_plane_outside_the_box_is_come_near_to():
    point = onto_plane(torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, -1.0]]), torch.tensor([-9.0]), "linf")
    assert point.tolist() == [[1.0, 0.0]]
    still = onto_plane(torch.tensor([[0.5, 0.5]]), torch.zeros(1, 2), torch.tensor([1.0]), "l2")
    assert still.tolist() == [[0.5, 0.5]]
