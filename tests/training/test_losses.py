"""Losses against slow obvious versions."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foresee.errors import InputError
from foresee.training.losses import correct, distil, kind_of, loss


def softmax(row: list[float]) -> list[float]:
    powers = [math.exp(value - max(row)) for value in row]
    return [value / sum(powers) for value in powers]


def slow_cross_entropy(outputs: list[list[float]], targets: list[list[float]], smoothing: float) -> float:
    total = 0.0
    for row, target in zip(outputs, targets, strict=True):
        for share, wanted in zip(softmax(row), target, strict=True):
            total -= (wanted * (1 - smoothing) + smoothing / len(row)) * math.log(share)
    return total / len(outputs)


rows = st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=1, max_size=4)


@given(rows, st.floats(0, 0.5))
def test_cross_entropy_hard_and_soft(outputs: list[list[float]], smoothing: float) -> None:
    labels = [number % 3 for number in range(len(outputs))]
    hard = [[float(label == one) for one in range(3)] for label in labels]
    slow = slow_cross_entropy(outputs, hard, smoothing)
    made = torch.tensor(outputs, dtype=torch.float64)
    assert float(loss(made, torch.tensor(labels), "classes", smoothing)) == pytest.approx(slow)
    assert float(loss(made, torch.tensor(hard, dtype=torch.float64), "classes", smoothing)) == pytest.approx(slow)


def test_sequences_and_maps() -> None:
    outputs, labels = torch.randn(2, 5, 3), torch.randint(0, 3, (2, 5))
    flat = loss(outputs.reshape(10, 3), labels.reshape(10), "classes")
    assert torch.equal(loss(outputs, labels, "classes"), flat)
    assert loss(outputs.transpose(1, 2), labels, "classes").item() == pytest.approx(flat.item())
    share = (outputs.argmax(-1) == labels).float().mean()
    assert correct(outputs, labels, "classes").item() == pytest.approx(2 * share.item())
    assert correct(outputs.transpose(1, 2), labels, "classes").item() == pytest.approx(2 * share.item())


def test_answers() -> None:
    outputs, labels = torch.tensor([[2.0, -1.0], [0.5, 3.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    slow = [math.log1p(math.exp(-2)), math.log1p(math.exp(-1)), math.log1p(math.exp(0.5)), math.log1p(math.exp(-3))]
    assert loss(outputs, labels, "answers").item() == pytest.approx(sum(slow) / 4)
    assert correct(outputs, labels, "answers").item() == pytest.approx(1.5)


def test_values() -> None:
    assert loss(torch.tensor([[1.0], [3.0]]), torch.tensor([2.0, 1.0]), "values").item() == pytest.approx(2.5)
    assert correct(torch.ones(2, 1), torch.ones(2, 1), "values") == 0


def test_loss_of_few_digits_is_in_float32() -> None:
    assert loss(torch.randn(2, 3).bfloat16(), torch.tensor([0, 1]), "classes").dtype == torch.float32


@given(rows, st.sampled_from([1.0, 2.0, 4.0]))
def test_distillation_is_hintons(outputs: list[list[float]], temperature: float) -> None:
    teacher = [row[::-1] for row in outputs]
    slow = 0.0
    for ours, theirs in zip(outputs, teacher, strict=True):
        p = softmax([value / temperature for value in theirs])
        q = softmax([value / temperature for value in ours])
        slow += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    found = distil(torch.tensor(outputs), torch.tensor(teacher), "classes", temperature)
    assert float(found) == pytest.approx(temperature**2 * slow / len(outputs), abs=1e-5, rel=1e-4)


def test_a_network_is_nowhere_from_itself() -> None:
    outputs = torch.randn(3, 4)
    assert distil(outputs, outputs, "classes", 3.0).item() == pytest.approx(0, abs=1e-6)
    assert distil(outputs, outputs, "values").item() == 0


def test_answers_of_a_teacher() -> None:
    outputs, teacher = torch.tensor([[1.0]]), torch.tensor([[2.0]])
    p = 1 / (1 + math.exp(-1.0))
    slow = 4 * (p * math.log1p(math.exp(-0.5)) + (1 - p) * math.log1p(math.exp(0.5)))
    assert distil(outputs, teacher, "answers", 2.0).item() == pytest.approx(slow)


@pytest.mark.parametrize(
    ("labels", "outputs", "kind"),
    [
        (torch.tensor([0, 5]), 6, "classes"),
        (torch.tensor([0, 1]), 1, "answers"),
        (torch.tensor([[0, 1], [1, 1]]), 2, "answers"),
        (torch.tensor([[0.0, 1.0]]), 2, "answers"),
        (torch.tensor([[0.5]]), 1, "values"),
        (torch.zeros(2, 4, 4, dtype=torch.int64), 3, "classes"),
    ],
)
def test_kinds(labels: torch.Tensor, outputs: int, kind: str) -> None:
    assert kind_of([labels], outputs) == kind


def test_kind_is_that_of_all_parts() -> None:
    assert kind_of([torch.tensor([[0.0]]), torch.tensor([[7.0]])], 1) == "values"


def test_mistakes() -> None:
    with pytest.raises(InputError, match="above 1 for one output"):
        kind_of([torch.tensor([0, 2])], 1)
    with pytest.raises(InputError, match="do not fit"):
        loss(torch.zeros(2, 3), torch.zeros(3, dtype=torch.int64), "classes")
    with pytest.raises(InputError, match="do not fit"):
        loss(torch.zeros(2, 3), torch.zeros(2, 2), "values")
    with pytest.raises(InputError, match="soft targets"):
        loss(torch.zeros(2, 3), torch.zeros(2, 2), "classes")
