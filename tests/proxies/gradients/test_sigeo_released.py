from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from foresee.probes.steps import Trail, frozen
from foresee.proxies import Probe
from foresee.proxies.gradients.sigeo_released import ctr_fisher_rao_term, ctr_steadiness_term, cv_fisher_rao_term


def trail_of(network, values):
    """Two batches of gradients: each entry of a parameter is `values` plus its place."""
    theta = {name: p.detach() for name, p in network.named_parameters()}
    gradients = [
        {name: torch.arange(p.numel()).view_as(p) * scale + scale for name, p in theta.items()} for scale in values
    ]
    return Trail(gradients, [torch.tensor(1.0)] * len(values), theta, [n for n in theta if n.endswith("weight")])


def test_layers_with_one_description_are_taken_for_one():
    network = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    nn.init.constant_(network[0].weight, 5.0)
    nn.init.constant_(network[1].weight, 2.0)
    trail = trail_of(network, [1.0, 3.0])
    # one group of four rows 1, 3, 1, 3 and the second layer's theta
    assert float(ctr_fisher_rao_term(trail, network)) == pytest.approx(math.log(2 * 8))
    deviation = torch.tensor([1.0, 3.0, 1.0, 3.0]).std()
    assert float(ctr_steadiness_term(trail, network)) == pytest.approx(math.log(2 / deviation))
    # image code: every layer by its name
    assert float(cv_fisher_rao_term(trail)) == pytest.approx(2 * math.log(5 * 4 + 2 * 4), rel=1e-6)


def test_only_the_first_entry_that_varies_counts():
    network = nn.Linear(2, 1, bias=False)
    gradients = [{"weight": torch.tensor([[1.0, second]])} for second in (2.0, 6.0)]
    trail = Trail(gradients, [], {"weight": network.weight.detach()}, ["weight"])
    assert float(ctr_steadiness_term(trail, network)) == pytest.approx(math.log(4 / math.sqrt(8)))


def test_parameters_beside_leaf_modules_do_not_count(small, batch):
    class Extra(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.shift = small(), nn.Parameter(torch.ones(5).double())

        def forward(self, x):
            return self.inner(x) + self.shift

    network, batches = Extra(), [batch(4, i) for i in range(4)]
    whole = frozen(Probe(network, batches), 4)
    without = Trail(
        [{n: g for n, g in one.items() if n != "shift"} for one in whole.gradients],
        whole.losses,
        {n: t for n, t in whole.theta.items() if n != "shift"},
        whole.layers,
    )
    for term in (ctr_fisher_rao_term, ctr_steadiness_term):
        assert float(term(whole, network)) == float(term(without, network))


def test_equal_gradients_have_no_deviation():
    network = nn.Linear(2, 1, bias=False)
    with pytest.raises(FloatingPointError, match="varies"):
        ctr_steadiness_term(trail_of(network, [1.0, 1.0]), network)
