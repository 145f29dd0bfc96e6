"""Counts of NAS-Bench-Macro by hand; every row of the table is in `test_space`."""

from __future__ import annotations

import pytest

from foresee.spaces.nasbench_macro import NASBenchMacro
from foresee.spaces.nasbench_macro.counts import formulas
from foresee.task import Task

CIFAR = Task((3, 32, 32), 10)


@pytest.mark.parametrize(
    ("text", "params", "macs"), [("00000000", 387_882, 7_713_280), ("00000001", 791_594, 14_115_328)]
)
def test_published_counts(text, params, macs):
    counts = NASBenchMacro().counts(NASBenchMacro().parse(text), CIFAR)
    assert (counts.params, counts.macs) == (params, macs)


def test_the_last_layer_by_hand():
    """256 channels on a map of 4x4, widened to 768: two 1x1 convolutions and nine numbers a channel, and three norms."""
    _, layers = formulas(CIFAR, 32, 1280)
    weights = 256 * 768 + 768 * 9 + 768 * 256
    assert (layers[7]["e3k3"].params, layers[7]["e3k3"].macs) == (weights + 2 * (768 + 768 + 256), weights * 16)
    assert layers[7]["identity"].params == 0
