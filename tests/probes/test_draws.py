from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.probes.draws import Draws


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
