"""SiGeo's Figures 2 and 5 to 7: statistics and losses of perceptrons that are trained for a while."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from foresee import data as data_room
from foresee.errors import InputError
from foresee.papers import Workshop, reproduce
from foresee.papers.cells import Scatter
from foresee.papers.sigeo.mlps import NAMES, figure, loss_of, taken_from, trained

THIN = {"mlp": {"widths": [2, 4, 8]}}


@pytest.fixture(scope="module")
def digits():
    return {part: data_room.load("digits", inputs=(1, 8, 8), split=part) for part in ("train", "test")}


def network(width=3):
    torch.manual_seed(width)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def test_the_statistics(digits):
    net, batches = network().double(), [digits["train"].batch(8, index=index) for index in range(4)]
    before = copy.deepcopy(net.state_dict())
    found = taken_from(net, batches)
    losses, gradients = [], []
    for batch in batches:
        losses.append(F.cross_entropy(net(batch.inputs.double()), batch.labels))
        flat = torch.autograd.grad(losses[-1], list(net.parameters()))
        gradients.append(torch.cat([one.flatten() for one in flat]))
    theta = torch.cat([one.detach().flatten() for one in net.parameters()])
    rows = torch.stack(gradients).numpy()
    expected = {
        "loss": losses[-1].item(),
        "fisher-rao": np.mean([float(theta @ one) ** 2 for one in gradients]),
        "mean-abs-gradient": np.abs(rows).mean(0).sum(),
        "gradient-spread": np.sqrt(((rows - rows.mean(0)) ** 2).mean(0)).sum(),
    }
    assert found == {name: pytest.approx(value, rel=1e-9) for name, value in expected.items()}
    assert all(torch.equal(now, before[name]) for name, now in net.state_dict().items())
    assert all(one.grad is None for one in net.parameters())


def test_training_is_plain_descent_and_looking_changes_nothing(digits):
    schedule = {"steps": 50, "lr": 0.1, "batch": 16}
    nets = [network(width) for width in (2, 5)]
    alone = copy.deepcopy(nets[1])
    found = trained(nets, digits, (0, 10), 7, schedule)
    looked = {}
    for step in range(50):
        if step in (0, 48):
            looked[step] = taken_from(
                alone, [digits["train"].batch(16, seed=7, index=step + more) for more in range(4)]
            )
        batch = digits["train"].batch(16, seed=7, index=step)
        gradients = torch.autograd.grad(F.cross_entropy(alone(batch.inputs), batch.labels), list(alone.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(alone.parameters(), gradients, strict=True):
                parameter -= 0.1 * gradient
    for level, step in ((0, 0), (10, 48)):
        assert {name: found.taken[level][name][1] for name in NAMES} == pytest.approx(looked[step])
    assert found.final["test"][1] == pytest.approx(loss_of(alone, digits["test"]))
    everything = digits["test"].batch(len(digits["test"]))
    with torch.no_grad():
        assert loss_of(alone, digits["test"], 50) == pytest.approx(
            float(F.cross_entropy(alone(everything.inputs), everything.labels)), rel=1e-5
        )
    assert found.final["train"][0] != found.final["train"][1]


def test_the_figure(digits):
    settings = {"steps": 192, "batch": 16}
    page = reproduce("sigeo-figure-2", Workshop(space_settings=THIN, repeats=2, table_settings=settings))
    assert {(line.row, line.column) for line in page.lines} == {
        (name, f"{level} %:{part} loss") for name in NAMES for level in (0, 10, 40) for part in ("train", "test")
    }
    assert all(-1 <= line.ours.value <= 1 and line.ours.n == 2 for line in page.lines)
    assert all(line.reason.startswith("3 widths; seeds ") for line in page.lines)
    assert len(page.scatters) == len(page.lines)
    assert all(len(one.x) == len(one.y) == 3 for one in page.scatters)
    assert any("steps = 192" in note for note in page.notes)
    state = torch.get_rng_state()
    again = list(figure(Workshop(space_settings=THIN, repeats=2, table_settings=settings), (40,), ("test",)))
    assert torch.equal(torch.get_rng_state(), state)
    scatters = {one.name: one for one in page.scatters}
    assert [one for one in again if isinstance(one, Scatter)] == [scatters[f"{name}-40-test"] for name in NAMES]


def test_after_a_while_the_loss_orders_the_networks():
    settings = {"steps": 480, "batch": 32, "lr": 0.1}
    found = list(figure(Workshop(space_settings=THIN, table_settings=settings), (0, 100), ("train",)))
    late = next(one for one in found if not isinstance(one, Scatter) and one.column == "100 %:train loss")
    assert (late.row, late.estimate.value) == ("loss", 1.0)
    assert math.isnan(late.estimate.low), "one seed has no interval"


def test_a_training_shorter_than_the_warm_up_is_refused():
    with pytest.raises(InputError, match="192 steps"):
        reproduce("sigeo-figure-2", Workshop(space_settings=THIN, table_settings={"steps": 100}))
