"""Rates against torch's own schedulers, and the laws of all schedules."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foresee.training.recipe import SCHEDULES, Recipe
from foresee.training.schedules import drop_path, rate


def of_torch(make, steps: int) -> list[float]:  # type: ignore[no-untyped-def]
    made = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.4)
    schedule = make(made)
    found = []
    for _ in range(steps):
        found.append(made.param_groups[0]["lr"])
        made.step()
        schedule.step()
    return found


def test_cosine_is_that_of_torch() -> None:
    recipe = Recipe(lr=0.4, lr_min=0.01)
    theirs = of_torch(lambda made: torch.optim.lr_scheduler.CosineAnnealingLR(made, 17, eta_min=0.01), 17)
    assert [rate(recipe, step, 17, 5) for step in range(17)] == pytest.approx(theirs)


def test_linear_is_that_of_torch() -> None:
    theirs = of_torch(lambda made: torch.optim.lr_scheduler.LinearLR(made, 1.0, 0.0, total_iters=12), 12)
    assert [rate(Recipe(lr=0.4, schedule="linear"), step, 12, 5) for step in range(12)] == pytest.approx(theirs)


def test_steps_are_those_of_torch() -> None:
    theirs = of_torch(lambda made: torch.optim.lr_scheduler.MultiStepLR(made, [6, 9]), 12)
    assert [rate(Recipe(lr=0.4, schedule="step"), step, 12, 5) for step in range(12)] == pytest.approx(theirs)


@given(
    schedule=st.sampled_from(SCHEDULES),
    steps=st.integers(1, 200),
    per_epoch=st.integers(1, 50),
    warm=st.floats(0, 10),
    low=st.floats(0, 0.1),
)
def test_rises_then_falls_within_its_bounds(schedule: str, steps: int, per_epoch: int, warm: float, low: float) -> None:
    recipe = Recipe(lr=0.5, lr_min=low, schedule=schedule, warmup_epochs=warm)
    found = [rate(recipe, step, steps, per_epoch) for step in range(steps)]
    top = min(round(warm * per_epoch), steps)
    assert all(0 < one <= 0.5 for one in found)
    assert found[:top] == sorted(found[:top])
    assert found[top:] == sorted(found[top:], reverse=True)
    assert all(one >= low - 1e-12 for one in found[top:])
    if top < steps:
        assert found[top] == 0.5


def test_dropped_paths_rise_from_zero() -> None:
    recipe = Recipe(drop_path=0.3, epochs=10)
    assert [drop_path(recipe, epoch) for epoch in (0, 5, 9)] == pytest.approx([0, 0.15, 0.27])
