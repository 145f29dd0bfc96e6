"""Measures of ensembles against scikit-learn and counting by hand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, log_loss

from foresee.ensembles.measures import measure
from foresee.errors import InputError


def drawn(members, samples, classes, seed):
    generator = torch.Generator().manual_seed(seed)
    probabilities = torch.randn(members, samples, classes, generator=generator, dtype=torch.float64).mul(2).softmax(-1)
    return probabilities, torch.randint(classes, (samples,), generator=generator)


@given(st.integers(1, 5), st.integers(2, 40), st.integers(2, 6), st.integers(0, 1000))
def test_against_scikit_learn(members, samples, classes, seed):
    probabilities, labels = drawn(members, samples, classes, seed)
    found, mean = measure(probabilities, labels), probabilities.mean(0)
    assert found.nll == pytest.approx(log_loss(labels, mean, labels=range(classes)))
    assert found.error == pytest.approx(1 - accuracy_score(labels, mean.argmax(1)))
    singles = [1 - accuracy_score(labels, one.argmax(1)) for one in probabilities]
    assert found.members == pytest.approx(tuple(singles))
    assert found.ate == pytest.approx(sum(singles) / members)
    differ = [
        1 - accuracy_score(probabilities[i].argmax(1), probabilities[j].argmax(1))
        for i in range(members)
        for j in range(i)
    ]
    assert found.ppd == pytest.approx(sum(differ) / len(differ) if differ else 0.0)
    assert 0 <= found.calibration_error <= 1


def test_copies_do_not_disagree():
    probabilities, labels = drawn(1, 20, 3, 0)
    found = measure(probabilities.expand(4, -1, -1), labels)
    assert (found.ppd, found.gain) == (0.0, 0.0)
    assert found.error == found.ate


def test_what_cannot_be_is_said():
    with pytest.raises(InputError, match="expected"):
        measure(torch.rand(2, 3), torch.zeros(3, dtype=torch.long))
