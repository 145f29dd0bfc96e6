"""Evaluations against scikit-learn and slow obvious versions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, roc_auc_score
from torch import nn

from foresee.batch import Batch
from foresee.errors import DataError, InputError
from foresee.training.evaluations import Evaluation, Predictions, calibration, confused, evaluate, judge, reestimate


def pieces(logits: torch.Tensor, labels: torch.Tensor) -> list[Batch]:
    return [Batch(logits[:7], labels[:7]), Batch(logits[7:], labels[7:])]


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_classes_as_in_sklearn(seed: int, classes: int) -> None:
    draws = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(20, classes, generator=draws)
    labels = torch.randint(0, classes, (20,), generator=draws)
    found = evaluate(nn.Identity(), pieces(logits, labels))
    shares = logits.double().softmax(1).numpy()
    assert found.samples == 20
    assert found.accuracy == pytest.approx(accuracy_score(labels, logits.argmax(1)))
    assert found.loss == pytest.approx(log_loss(labels, shares, labels=range(classes)), rel=1e-5)
    assert np.array_equal(found.confusion, confusion_matrix(labels, logits.argmax(1), labels=range(classes)))
    assert found.calibration_error == pytest.approx(slow_calibration_error(shares, labels.numpy()), abs=1e-6)
    assert Evaluation.from_json(found.to_json()) == found


def slow_calibration_error(shares: np.ndarray, labels: np.ndarray, bins: int = 15) -> float:
    total = 0.0
    for low in range(bins):
        inside = [i for i in range(len(labels)) if low / bins < shares[i].max() <= (low + 1) / bins]
        if inside:
            sure = np.mean([shares[i].max() for i in inside])
            right = np.mean([shares[i].argmax() == labels[i] for i in inside])
            total += len(inside) / len(labels) * abs(sure - right)
    return total


def test_a_sure_and_right_network_is_calibrated() -> None:
    bins = calibration(torch.ones(4), torch.ones(4).bool())
    assert (bins[-1].count, bins[-1].confidence, bins[-1].accuracy) == (4, 1.0, 1.0)
    assert sum(one.count for one in bins) == 4


def test_answers_and_values() -> None:
    answers = evaluate(
        nn.Identity(), [Batch(torch.tensor([[2.0], [-1.0], [3.0]]), torch.tensor([[1.0], [0.0], [0.0]]))]
    )
    assert answers.accuracy == pytest.approx(2 / 3)
    assert answers.confusion is None
    values = evaluate(nn.Identity(), [Batch(torch.tensor([[2.0], [1.0]]), torch.tensor([[1.5], [1.0]]))])
    assert (values.accuracy, values.loss) == (None, pytest.approx(0.125))
    assert Evaluation.from_json(values.to_json()) == values


def test_better_is_more_accurate_then_less_loss() -> None:
    first, second, third = Evaluation(1, 0.5, 0.9), Evaluation(1, 0.4, 0.9), Evaluation(1, 9.0, 0.95)
    assert sorted([third, first, second], key=lambda one: one.merit) == [first, second, third]


def test_modes_and_random_state_stay() -> None:
    network = nn.Sequential(nn.Dropout(), nn.Linear(2, 2))
    network[1].eval()
    state = torch.get_rng_state()
    evaluate(network, [Batch(torch.ones(2, 2), torch.tensor([0, 1]))])
    assert network.training
    assert network[0].training
    assert not network[1].training
    assert torch.equal(state, torch.get_rng_state())


def test_mistakes() -> None:
    with pytest.raises(DataError, match="no batch"):
        evaluate(nn.Identity(), [])
    with pytest.raises(DataError, match="no labels"):
        evaluate(nn.Identity(), [Batch(torch.ones(2, 2))])
    with pytest.raises(InputError, match="labels from 0 to 5, but the network has 2 outputs"):
        confused(torch.tensor([0, 1]), torch.tensor([0, 5]), 2)


def test_statistics_are_measured_anew() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Dropout(0.9), nn.BatchNorm1d(3, momentum=0.2), nn.Linear(3, 2))
    given = [Batch(3 + 2 * torch.randn(8, 3)) for _ in range(4)]
    weights = [one.clone() for one in network.parameters()]
    assert reestimate(network, given) == 1
    norm = network[1]
    means = torch.stack([batch.inputs.mean(0) for batch in given]).mean(0)
    variances = torch.stack([batch.inputs.var(0) for batch in given]).mean(0)
    assert torch.allclose(norm.running_mean, means, atol=1e-5)
    assert torch.allclose(norm.running_var, variances, atol=1e-4)
    assert norm.momentum == 0.2
    assert network.training
    assert all(torch.equal(a, b) for a, b in zip(weights, network.parameters(), strict=True))
    assert reestimate(nn.Linear(3, 2), given) == 0


@given(st.integers(0, 10**6), st.booleans())
def test_yes_or_no_as_in_sklearn(seed: int, coarse: bool) -> None:
    draws = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(20, 1, generator=draws)
    logits = logits.round() if coarse else logits  # many ties
    labels = (torch.rand(20, 1, generator=draws) < 0.3).float()
    labels[:2] = torch.tensor([[0.0], [1.0]])
    kept = Predictions()
    found = evaluate(nn.Identity(), pieces(logits, labels), keep=kept)
    probabilities, truth = logits.double().sigmoid().numpy().ravel(), labels.numpy().ravel()
    assert found.auc == pytest.approx(roc_auc_score(truth, logits.numpy().ravel()))
    assert found.loss == pytest.approx(log_loss(truth, probabilities), rel=1e-5)
    assert (found.predicted, found.observed) == pytest.approx((probabilities.mean(), truth.mean()))
    places = np.ceil(probabilities * 15).clip(1, 15)
    gaps = [abs((probabilities - truth)[places == place].sum()) for place in np.unique(places)]
    assert found.calibration_error == pytest.approx(sum(gaps) / 20)
    assert found.yes_or_no
    assert found.merit == (0.0, -found.loss)
    assert Evaluation.from_json(found.to_json()) == found
    assert np.allclose(kept.probabilities, probabilities)
    assert np.array_equal(kept.labels, truth)
    other = judge(probabilities, truth)
    assert (other.auc, other.accuracy) == pytest.approx((found.auc, found.accuracy))
    assert other.loss == pytest.approx(found.loss, rel=1e-5)


def test_logits_beyond_what_a_probability_can_say_are_still_told_apart() -> None:
    found = evaluate(nn.Identity(), [Batch(torch.tensor([[40.0], [60.0]]), torch.tensor([[0.0], [1.0]]))])
    assert found.auc == 1.0


def test_answers_that_are_all_alike_have_no_auc() -> None:
    found = evaluate(nn.Identity(), [Batch(torch.tensor([[1.0], [2.0]]), torch.ones(2, 1))])
    assert found.auc is None
    assert "AUC" not in str(found)
    assert found.observed == 1.0


def test_several_answers_per_sample_go_by_what_is_right() -> None:
    found = evaluate(nn.Identity(), [Batch(torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0, 1.0]]))])
    assert (found.accuracy, found.auc, found.yes_or_no) == (0.5, None, False)


def test_an_evaluation_of_before_there_was_an_auc_is_read() -> None:
    old = {"samples": 3, "loss": 0.5, "accuracy": 0.5, "confusion": None, "calibration": [], "calibration_error": None}
    assert Evaluation.from_json(old).auc is None


def test_the_less_lossy_of_two_is_better_though_it_is_right_less_often() -> None:
    labels = [0, 0, 0, 0, 1]
    always_no, careful = judge([1e-6] * 5, labels), judge([0.2, 0.2, 0.2, 0.51, 0.8], labels)
    assert always_no.accuracy == careful.accuracy
    assert careful.merit > always_no.merit


def test_as_many_labels_as_probabilities() -> None:
    with pytest.raises(InputError, match="2 probabilities for 1 labels"):
        judge([0.1, 0.2], [1])
