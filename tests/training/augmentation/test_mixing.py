"""Mixup and CutMix: targets follow the pixels."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.properties import examples
from tests.training.augmentation.made import drawn, recipe
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.training.augmentation import mixed

alphas = st.sampled_from([0.0, 0.2, 1.0, 3.0])


@given(st.integers(1, 7), alphas, alphas, st.integers(0, 50))
@examples(40)
def test_targets_are_the_shares_of_what_is_seen(count: int, mixup: float, cutmix: float, seed: int) -> None:
    """Images that are their class's number in a channel of its own: what is seen of a class is its target."""
    labels = torch.arange(count) % 4
    images = F.one_hot(labels, 4).float().view(count, 4, 1, 1).expand(-1, -1, 6, 5)
    seen, targets = mixed(images, labels, 4, recipe(mixup=mixup, cutmix=cutmix), drawn(seed))
    assert isinstance(seen, torch.Tensor)
    assert seen.shape == images.shape
    torch.testing.assert_close(targets.sum(1), torch.ones(count))
    torch.testing.assert_close(seen.mean((2, 3)), targets)


def test_without_either_nothing_is_drawn_and_targets_are_rows() -> None:
    draws, images = drawn(), torch.rand(3, 1, 4, 4)
    before = draws.get_state()
    seen, targets = mixed(images, torch.tensor([2, 0, 1]), 3, recipe(), draws)
    assert seen is images
    assert targets.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert torch.equal(draws.get_state(), before)


def test_the_share_is_beta_for_mixup() -> None:
    images, labels = torch.arange(2000.0).view(-1, 1), torch.arange(2000)
    _, targets = mixed(images, labels, 2000, recipe(mixup=0.4), drawn())
    own = targets.gather(1, labels[:, None])[:, 0]
    assert stats.kstest(own.double().numpy(), stats.beta(0.4, 0.4).cdf).pvalue > 0.01


def test_with_both_about_half_are_boxes() -> None:
    images = torch.arange(1000.0).view(-1, 1, 1, 1).expand(-1, 1, 8, 8)
    seen, _ = mixed(images, torch.zeros(1000).long(), 2, recipe(mixup=1.0, cutmix=1.0), drawn())
    assert isinstance(seen, torch.Tensor)
    whole = (seen == seen.round()).flatten(1).all(1)  # mixup gives fractions, a box whole numbers
    assert 0.45 < whole.float().mean() < 0.55


def test_rows_of_targets_are_mixed_as_they_are() -> None:
    labels = torch.tensor([[1.0, 1.0], [0.0, 0.5]])
    _, targets = mixed(torch.rand(2, 3), labels, 2, recipe(mixup=1.0), drawn(1))
    torch.testing.assert_close(targets.sum(0), labels.sum(0), rtol=0, atol=1.1)
    with pytest.raises(InputError, match=r"expected \(2, 5\)"):
        mixed(torch.rand(2, 3), labels, 5, recipe(mixup=1.0), drawn())


def test_what_cannot_be_mixed_is_refused() -> None:
    labels = torch.tensor([0, 1])
    several = (torch.rand(2, 3), torch.zeros(2, 2).long())
    with pytest.raises(InputError, match="mixup=0"):
        mixed(several, labels, 2, recipe(mixup=1.0), drawn())
    with pytest.raises(InputError, match="cutmix=0"):
        mixed(torch.rand(2, 3), labels, 2, recipe(cutmix=1.0), drawn())
    assert mixed(several, labels, 2, recipe(), drawn())[0] is several
