"""Averages of weights: against the recurrence, put back always, kept and gone on with bitwise."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import torch
from torch import nn

from foresee.training.averaging import Average
from foresee.training.loop import train
from foresee.training.recipe import Recipe


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))


def test_as_the_recurrence_says() -> None:
    made = nn.Linear(2, 1)
    average = Average(made, 0.9)
    slow = made.weight.detach().double().clone()
    for step in range(1, 30):
        nn.init.normal_(made.weight)
        average.update(step)
        decay = min(0.9, step / (step + 9))
        slow = decay * slow + (1 - decay) * made.weight.detach().double()
    assert torch.allclose(average.tensors()["weight"].double(), slow, atol=1e-6)


def test_the_own_weights_come_back_whatever_happens_inside() -> None:
    made = network()
    average = Average(made, 0.5)
    nn.init.ones_(made[0].weight)
    before = {key: one.clone() for key, one in made.state_dict().items()}
    with average.used():
        assert not torch.equal(made[0].weight, before["0.weight"])
        assert torch.equal(average.own["0.weight"], before["0.weight"])
    with suppress(KeyError), average.used():
        raise KeyError
    assert all(torch.equal(one, before[key]) for key, one in made.state_dict().items())


def test_a_training_goes_on_bitwise_with_its_averages(tmp_path: Path) -> None:
    draws = torch.Generator().manual_seed(0)
    data = torch.randn(60, 3, generator=draws), torch.randint(0, 2, (60, 1), generator=draws).float()
    recipe = Recipe(epochs=4, batch=10, average=0.8, validation=0.2)
    whole = train(network(), data, recipe, save_steps=2)

    def observe(event: object) -> None:
        if event.kind == "epoch" and event.done == event.total // 2:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(network(), data, recipe, out=tmp_path, observers=[observe], save_steps=2)
    again = train(network(), data, recipe, out=tmp_path, resume=True)
    assert [one.val_loss for one in again.history] == [one.val_loss for one in whole.history]
    for one, other in zip(again.network.state_dict().values(), whole.network.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_what_is_judged_is_the_average() -> None:
    draws = torch.Generator().manual_seed(0)
    data = torch.randn(60, 3, generator=draws), torch.randint(0, 2, (60, 1), generator=draws).float()
    plain, averaged = (train(network(), data, Recipe(epochs=2, batch=10, average=one)) for one in (0.0, 0.9))
    assert [one.loss for one in plain.history] == [one.loss for one in averaged.history]
    assert [one.val_loss for one in plain.history] != [one.val_loss for one in averaged.history]
