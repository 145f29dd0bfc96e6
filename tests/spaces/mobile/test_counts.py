"""Counts of mobile networks against networks that are run; published ones are in `test_designs`."""

from __future__ import annotations

import pytest

from foresee.seeds import stream
from foresee.spaces.counting import measure
from foresee.spaces.mobile import DESIGNS, Mobile
from foresee.task import Task


@pytest.mark.parametrize("design", DESIGNS)
def test_formulas_are_the_networks(design):
    space, task = Mobile(design=design), Task((1, 33, 40), 7)
    one = space.sample(stream(3))
    assert space.counts(one, task) == measure(lambda: space.build(one, task), task)
