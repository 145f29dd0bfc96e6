"""Formulas of the size space against the published counts and the networks themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.spaces.counting import measure
from foresee.spaces.nats_size import Architecture, NATSSize
from foresee.task import Task

CIFAR10, CIFAR100 = Task((3, 32, 32), 10), Task((3, 32, 32), 100)
SPACE = NATSSize()
widths = st.tuples(*[st.sampled_from(SPACE.widths)] * 5).map(Architecture)


@pytest.mark.parametrize(
    ("text", "params", "flops"),
    [
        ("64:64:64:64:64", 713_674, 274_399_882),
        ("8:8:8:8:8", 11_714, 4_481_114),
        ("8:16:32:48:64", 251_394, 26_780_298),
    ],
)
def test_published_counts(text, params, flops):
    one = SPACE.parse(text)
    assert SPACE.counts(one, CIFAR10).params == params
    assert SPACE.benchmark_flops(one, CIFAR10) == flops
    assert SPACE.counts(one, CIFAR100).params == params + 90 * (one.channels[-1] + 1)


@examples(10)
@given(widths, st.sampled_from([(1, 16, 16), (3, 32, 32), (5, 9, 9), (2, 13, 7)]), st.integers(1, 120))
def test_formulas_equal_the_network(one, inputs, outputs):
    task = Task(inputs, outputs)
    assert SPACE.counts(one, task) == measure(lambda: SPACE.build(one, task), task)
