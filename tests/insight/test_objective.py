"""The loss as a function of the weights, against slow and obvious versions."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.batch import Batch
from foresee.errors import DataError, InputError
from foresee.insight.objective import Objective, flat, moved
from foresee.spaces import get
from foresee.task import Task


def small(seed=0):
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Tanh(), nn.Flatten(), nn.Linear(8, 3))
    network(torch.randn(8, 1, 4, 4))  # batch statistics of something
    return network


def batches(count=2, seed=1):
    torch.manual_seed(seed)
    return [Batch(torch.randn(5, 1, 4, 4), torch.randint(0, 3, (5,))) for _ in range(count)]


def test_loss_is_that_of_the_network_and_leaves_it_alone():
    network, data = small(), batches()
    before = {name: one.clone() for name, one in network.state_dict().items()}
    objective = Objective(network, data)
    inputs, labels = torch.cat([one.inputs for one in data]), torch.cat([one.labels for one in data])
    expected = nn.functional.cross_entropy(network.eval()(inputs), labels).detach()
    assert objective.loss() == pytest.approx(float(expected), rel=1e-6)
    assert objective.loss(moved(objective.weights, (0.0, objective.weights))) == pytest.approx(
        float(expected), rel=1e-6
    )
    objective.gradient_variance()
    assert all(torch.equal(before[name], one) for name, one in network.state_dict().items())
    assert objective.samples == 10


def test_gradient_variance_is_that_of_single_backward_runs():
    network, data = small(), batches()
    network.eval()
    rows = []
    for batch in data:
        for place in range(len(batch)):
            network.zero_grad()
            nn.functional.cross_entropy(
                network(batch.inputs[place : place + 1]), batch.labels[place : place + 1]
            ).backward()
            rows.append(flat(one.grad for one in network.parameters()).double())
    each = torch.stack(rows)
    expected = float((each - each.mean(0)).square().sum(1).mean())
    for together in (3, 32):
        assert Objective(network, data).gradient_variance(together=together) == pytest.approx(expected, rel=1e-5)


def test_hessian_products_are_those_of_the_whole_hessian():
    network, data = small(), batches()
    objective = Objective(network, data, double=True)

    def loss(vector):
        weights = objective.unflat(vector)
        return sum(objective._of(batch, weights) * len(batch) for batch in data64) / 10

    data64 = objective.batches
    whole = torch.autograd.functional.hessian(loss, flat(objective.weights.values()))
    vector = torch.randn(objective.size, dtype=torch.float64)
    assert torch.allclose(objective.hessian_product(vector), whole @ vector, atol=1e-10)


def test_cells_of_darts():
    """Gradients of single samples and curvature of a network as spaces build them."""
    space = get("darts", channels=2, layers=1)
    network = space.build(space.named["DARTS_V2"], Task((1, 8, 8), 3))
    data = [Batch(torch.randn(3, 1, 8, 8), torch.tensor([0, 1, 2]))]
    objective = Objective(network, data)
    assert objective.gradient_variance() > 0
    assert torch.isfinite(objective.hessian_product(torch.ones(objective.size))).all()


def test_what_cannot_be_looked_at():
    with pytest.raises(InputError, match="no weights"):
        Objective(nn.ReLU(), batches())
    with pytest.raises(DataError, match="labels"):
        Objective(small(), [Batch(torch.randn(2, 1, 4, 4))])
