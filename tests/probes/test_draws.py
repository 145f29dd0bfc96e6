from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.probes.draws import Draws, projection_of


@given(seed=st.integers(0, 2**40), dimension=st.integers(2, 50))
@examples(20)
def test_a_plane_is_orthonormal(seed, dimension):
    plane = Draws(seed).plane("p", dimension)
    assert torch.allclose(plane.T @ plane, torch.eye(2, dtype=torch.float64), atol=1e-12)


@given(seed=st.integers(0, 2**40))
@examples(10)
def test_a_draw_depends_on_seed_name_and_repeat_alone(seed):
    draws = Draws(seed)
    first = draws.uniform("a", 4)
    draws.normal("b", 3)
    assert torch.equal(draws.uniform("a", 4), first)
    assert not torch.equal(draws.uniform("c", 4), first)
    assert not torch.equal(Draws(seed, repeat=1).uniform("a", 4), first)
    assert not torch.equal(Draws(seed + 1).uniform("a", 4), first)


def test_given_draws_come_first_and_use_is_noticed():
    draws = Draws(0, given={"i": torch.tensor([4])})
    assert not draws.used
    assert draws.integers("i", 10, 5).tolist() == [4]
    assert draws.used
    assert set(draws.integers("other", 3, 50).tolist()) == {0, 1, 2}


def test_what_is_drawn_apart_is_not_counted_here():
    draws = Draws(1)
    with draws.apart() as apart:
        draws.normal("x", 2)
    assert (draws.used, apart.used) == (False, True)
    draws.normal("x", 2)
    with pytest.raises(KeyError), draws.apart() as apart:
        raise KeyError
    assert (draws.used, apart.used) == (True, False)


def test_a_projection_is_named_by_the_shape_of_the_outputs():
    outputs = torch.zeros(3, 2, dtype=torch.float32)
    found = projection_of(Draws(5), outputs)
    assert torch.equal(found, Draws(5).normal("projection.3x2", 3, 2).float())
