"""RandAugment and AutoAugment: which operation, how often, how strong; each sample by itself."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from scipy import stats
from tests.training.augmentation.made import drawn, pixels
from torch import Tensor

from foresee.training.augmentation import policies
from foresee.training.augmentation.autoaugment_cifar10 import CIFAR10
from foresee.training.augmentation.operations import OPERATIONS, Operation

Seen = list[tuple[str, float]]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Operations that change nothing and say what they were asked, sample by sample."""
    seen: Seen = []

    def spy(name: str) -> Operation:
        def change(images: Tensor, strength: Tensor) -> Tensor:
            seen.extend((name, value) for value in strength.flatten().tolist())
            return images

        return Operation(OPERATIONS[name].sides, change, lambda strength: strength)

    monkeypatch.setattr(policies, "OPERATIONS", {name: spy(name) for name in OPERATIONS})
    return seen


def test_randaugment_is_uniform_over_fourteen_at_one_magnitude(heard: Seen) -> None:
    images = torch.rand(2800, 1, 1, 1)
    assert torch.equal(policies.rand_augment(images, 2, 7, drawn()), images)
    counts = Counter(name for name, _ in heard)
    assert len(counts) == 14
    assert sum(counts.values()) == 5600
    assert stats.chisquare(list(counts.values())).pvalue > 0.01
    assert {round(abs(strength), 5) for _, strength in heard} == {0.7}
    turns = [strength for name, strength in heard if name == "rotate"]
    assert abs(sum(turns)) < 0.2 * sum(map(abs, turns))
    assert min(strength for name, strength in heard if name == "solarize") > 0


def test_autoaugment_has_the_probabilities_and_magnitudes_of_the_table(heard: Seen) -> None:
    count = 10_000
    policies.auto_augment(torch.zeros(count, 1, 1, 1), drawn())
    found = Counter(name for name, _ in heard)
    expected: Counter[str] = Counter()
    allowed: dict[str, set[float]] = {}
    for pair in CIFAR10:
        for name, probability, magnitude in pair:
            expected[name] += count * probability / len(CIFAR10)  # type: ignore[assignment]
            share = magnitude / 9
            signs = {"both": {share, -share}, "factor": {2 * share - 1}}.get(OPERATIONS[name].sides, {share})
            allowed.setdefault(name, set()).update(round(one, 4) for one in signs)
    for name, times in expected.items():
        assert abs(found[name] - times) < 5 * times**0.5 + 1, name
    for name, strength in heard:
        assert round(strength, 4) in allowed[name] or round(strength, 4) == 0


def test_the_table_is_whole() -> None:
    assert len(CIFAR10) == 25
    steps = [step for pair in CIFAR10 for step in pair]
    assert {step[0] for step in steps} <= set(OPERATIONS)
    assert all(0 <= probability <= 1 and 0 <= magnitude <= 9 for _, probability, magnitude in steps)


@pytest.mark.parametrize("policy", ["rand", "auto"])
def test_samples_that_share_an_operation_are_changed_as_if_alone(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same draws, one sample at a time."""
    images = pixels(24)

    def run() -> Tensor:
        if policy == "rand":
            return policies.rand_augment(images, 2, 9, drawn(5))
        return policies.auto_augment(images, drawn(5))

    together = run()
    changed = policies._changed

    def singly(some: Tensor, name: str, chosen: Tensor, strength: Tensor) -> Tensor:
        for row in chosen.nonzero()[:, 0].tolist():
            some = changed(some, name, torch.arange(len(some)) == row, strength)
        return some

    monkeypatch.setattr(policies, "_changed", singly)
    assert torch.equal(run(), together)
    assert (together != images).any()
