"""Margins and targets."""

from __future__ import annotations

import torch

from foresee.ensembles.attacks.margins import margin, targets


def test_margin_is_below_zero_exactly_where_the_class_is_another_one():
    logits, labels = torch.randn(50, 5, generator=torch.Generator().manual_seed(0)), torch.arange(50) % 5
    slow = [row[y] - max(v for i, v in enumerate(row) if i != y) for row, y in zip(logits, labels, strict=True)]
    torch.testing.assert_close(margin(logits, labels), torch.stack(slow))
    assert torch.equal(margin(logits, labels) < 0, logits.argmax(1) != labels)


def test_targets_are_all_others_likeliest_first():
    logits, labels = torch.randn(20, 5, generator=torch.Generator().manual_seed(0)), torch.arange(20) % 5
    for row, y, found in zip(logits, labels, targets(logits, labels, 9), strict=True):
        assert found.tolist() == [i for i in row.argsort(descending=True).tolist() if i != y]
    assert targets(logits, labels, 2).shape == (20, 2)
