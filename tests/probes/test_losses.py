from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError, UnknownNameError
from foresee.probes.losses import binary_cross_entropy, choose, cross_entropy, squared_error


@given(
    st.lists(st.tuples(st.lists(st.floats(-5, 5), min_size=3, max_size=3), st.integers(0, 2)), min_size=1, max_size=4)
)
@examples(20)
def test_cross_entropy_is_the_mean_of_minus_log_softmax(rows):
    slow = [math.log(sum(map(math.exp, logits))) - logits[label] for logits, label in rows]
    outputs = torch.tensor([logits for logits, _ in rows], dtype=torch.float64)
    fast = cross_entropy(outputs, torch.tensor([label for _, label in rows]))
    assert float(fast) == pytest.approx(sum(slow) / len(slow))


def test_cross_entropy_of_tokens_and_of_images():
    tokens, labels = torch.randn(2, 4, 3), torch.randint(3, (2, 4))
    assert torch.allclose(cross_entropy(tokens, labels), F.cross_entropy(tokens.flatten(0, 1), labels.flatten()))
    images, labels = torch.randn(2, 3, 4, 5), torch.randint(3, (2, 4, 5))
    assert torch.allclose(cross_entropy(images, labels), F.cross_entropy(images, labels))


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0]])
def test_labels_out_of_range_are_named(labels):
    with pytest.raises(InputError, match=f"labels from {min(labels)} to {max(labels)}, but the network has 3 outputs"):
        cross_entropy(torch.zeros(2, 3), torch.tensor(labels))


@pytest.mark.parametrize("loss", [cross_entropy, binary_cross_entropy, squared_error])
def test_shapes_that_do_not_fit_are_named(loss):
    with pytest.raises(InputError, match="4x2"):
        loss(torch.zeros(3, 3), torch.zeros(4, 2))


def test_yes_or_no_labels_must_lie_between():
    with pytest.raises(InputError, match="0 to 1"):
        binary_cross_entropy(torch.zeros(2, 1), torch.tensor([0.0, 2.0]))


@pytest.mark.parametrize(
    ("outputs", "labels", "expected"),
    [
        ((4, 10), torch.tensor([0, 9, 3, 3]), "cross_entropy"),
        ((2, 5, 7), torch.zeros(2, 5).long(), "cross_entropy"),
        ((2, 1), torch.tensor([0, 1]), "binary_cross_entropy"),
        ((2,), torch.tensor([0, 1]), "binary_cross_entropy"),
        ((2, 1), torch.tensor([True, False]), "binary_cross_entropy"),
        ((2, 3), torch.tensor([[0, 1, 1], [0, 0, 1]]), "binary_cross_entropy"),
        ((2, 3), torch.tensor([[0.0, 1, 1], [0, 0, 1]]), "binary_cross_entropy"),
        ((2, 1), torch.tensor([0.3, -2.0]), "squared_error"),
        ((2, 2), torch.tensor([[0.3, 1.0], [0.0, 1.0]]), "squared_error"),
    ],
)
def test_the_loss_follows_labels_and_outputs(outputs, labels, expected):
    chosen = choose(None, torch.zeros(outputs), [labels])
    assert chosen.__name__ == expected
    assert bool(torch.isfinite(chosen(torch.zeros(outputs), labels)))


def test_all_batches_decide_together():
    labels = [torch.tensor([0.0, 1.0]), torch.tensor([0.5, 1.0])]
    assert choose(None, torch.zeros(2, 1), labels) is squared_error


def test_the_caller_decides():
    assert choose("mse", torch.zeros(2, 3), [torch.zeros(2).long()]) is squared_error
    assert choose(F.l1_loss, torch.zeros(2, 3), [torch.zeros(2)]) is F.l1_loss
    with pytest.raises(UnknownNameError, match="cross_entropy"):
        choose("cross_entropi", torch.zeros(2, 3), [torch.zeros(2)])
