"""Agreement of estimates with the truth: against a slow count, and what it is of equal and of opposite orders."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from foresee.papers.nesbs_agreement import accuracies, agreement, by_size


@pytest.fixture
def networks():
    torch.manual_seed(0)
    return torch.randn(6, 40, 3).softmax(-1), torch.arange(40) % 3


def test_every_ensemble_is_counted(networks):
    probabilities, labels = networks
    found = accuracies(probabilities, labels, 3)
    for value, group in zip(found, itertools.combinations(range(6), 3), strict=True):
        total = sum(probabilities[place] for place in group)
        right = sum(int(total[row].argmax() == labels[row]) for row in range(40))
        assert value == pytest.approx(right / 40)


def test_orders_that_are_equal_and_opposite():
    true = np.arange(10.0)
    assert agreement(true, true) == {"spearman": 1.0, "pearson": pytest.approx(1.0), "agreement-30": 100.0}
    opposite = agreement(-true, true)
    assert opposite["spearman"] == -1.0
    assert opposite["agreement-30"] == 0.0
    assert math.isnan(agreement(np.ones(4), np.arange(4.0))["spearman"])


def test_a_size_that_there_are_no_networks_for_is_left_out(networks):
    probabilities, labels = networks
    assert set(by_size(probabilities, probabilities, labels, (1, 3, 7))) == {"n=1", "n=3"}
