"""Courses: which batch is which step, whatever step one begins with; windows of losses; what is refused."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from foresee.data.arrays import Arrays
from foresee.errors import SettingsMismatchError, TrainingError
from foresee.supernets.course import WINDOWS, Course, Place, follow
from foresee.training.recipe import Recipe

INPUTS = torch.arange(22.0).reshape(22, 1).repeat(1, 4)
DATA = Arrays(INPUTS, torch.arange(22) % 2)


def course(steps, batch=4, data=DATA, **more):
    return Course(data, Recipe(epochs=1, batch=batch, lr=0.01, **more), steps, seed=3)


@given(st.integers(0, 25), st.integers(0, 25), st.integers(1, 30))
def test_batches_from_any_step_on(steps, start, batch):
    whole = list(course(steps, batch).batches())
    assert len(whole) == steps
    rest = list(course(steps, batch).batches(min(start, steps)))
    assert len(rest) == steps - min(start, steps)
    for mine, other in zip(rest, whole[min(start, steps) :], strict=True):
        assert torch.equal(mine.inputs, other.inputs)
        assert len(mine) == min(batch, 22)


def test_an_epoch_has_no_sample_twice_and_the_next_is_another():
    first, second = (list(course(10).batches())[part] for part in (slice(0, 5), slice(5, 10)))
    numbers = [torch.cat([batch.inputs[:, 0] for batch in half]).tolist() for half in (first, second)]
    assert all(len(set(one)) == 20 for one in numbers)
    assert numbers[0] != numbers[1]


def followed(steps, **more):
    torch.manual_seed(0)
    network = nn.Linear(4, 2)
    asked = course(steps)
    return network, asked, follow(asked, asked.training(network, DATA.task), **more)


@pytest.mark.parametrize("steps", [1, 7, 49, 50, 101, 103])
def test_losses_are_means_over_windows(steps):
    _, asked, found = followed(steps)
    torch.manual_seed(0)
    training = asked.training(nn.Linear(4, 2), DATA.task)
    each = [float(training.step(batch).loss) for batch in asked.batches()]
    windows = [each[start : start + asked.window] for start in range(0, steps, asked.window)]
    assert found == pytest.approx([sum(part) / len(part) for part in windows], rel=1e-5)
    assert len(found) <= 2 * WINDOWS


def test_no_gradients_are_left():
    network, _, _ = followed(2)
    assert all(parameter.grad is None for parameter in network.parameters())


def test_no_steps_change_nothing():
    network, _, losses = followed(0)
    torch.manual_seed(0)
    assert torch.equal(network.weight, nn.Linear(4, 2).weight)
    assert losses == []


def test_another_course_is_refused(tmp_path):
    place = Place(tmp_path, "last")
    followed(3, place=place, said={"form": (1, 2)})
    assert followed(3, place=place, resume=True, said={"form": (1, 2)})[2] == followed(3)[2]
    with pytest.raises(SettingsMismatchError, match=r"form: \[1, 3\] here, \[1, 2\] in the run"):
        followed(3, place=place, resume=True, said={"form": (1, 3)})
    with pytest.raises(SettingsMismatchError, match="steps: 4 here, 3 in the run"):
        followed(4, place=place, resume=True, said={"form": (1, 2)})


def test_a_loss_that_is_no_number_is_said():
    bad = Arrays(INPUTS * 1e30, torch.arange(22) % 2).split({"train": 1.0})["train"]
    asked = Course(bad, Recipe(epochs=1, batch=4, lr=1e30), 20)
    with pytest.raises(TrainingError, match="the loss is"):
        follow(asked, asked.training(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), DATA.task))
