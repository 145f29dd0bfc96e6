from __future__ import annotations

import copy
import math
import statistics

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.data import Synthetic
from foresee.errors import InputError
from foresee.probes.steps import Trail, frozen
from foresee.proxies import Probe, get
from foresee.proxies.gradients.sigeo_released import ctr_fisher_rao_term, ctr_steadiness_term, cv_fisher_rao_term
from foresee.scoring import score
from foresee.seeds import stream
from foresee.spaces.nasrec import NASRecSmall
from foresee.task import Task


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
    assert float(cv_fisher_rao_term(trail, network)) == pytest.approx(2 * math.log(5 * 4 + 2 * 4), rel=1e-6)


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


# -- what the released scripts leave trainable ----------------------------------------------------------------------------
SPACE, TASK = NASRecSmall(blocks=2, dense_widths=[16, 32], sparse_widths=[16]), Task((3,), 1, (5, 7))


def networks():
    """The same architecture alone and with weights of a one-shot network, where its head lies in pieces."""
    architecture = SPACE.sample(stream(3))
    torch.manual_seed(1)
    return {"alone": SPACE.build(architecture, TASK), "inherited": SPACE.one_shot(TASK).inherit(architecture)}


def told_slowly(network, batches):
    """The facts one after the other, with torch's own optimiser: first term, second term, last loss."""
    network = copy.deepcopy(network).train().requires_grad_(False)
    head = list(network.head.parameters())
    for one in head:
        one.requires_grad_(True)
    optimiser = torch.optim.Adagrad(head, lr=1.0, eps=1e-2)
    weights, biases = [], []
    pieces = [one for one in head if one.ndim == 2]
    (bias,) = (one for one in head if one.ndim == 1)
    for batch, rate in zip(
        batches, (1e-8, 1e-8, 1e-8 + (0.04 - 1e-8) / 50, 1e-8 + (0.04 - 1e-8) * 2 / 50), strict=True
    ):
        optimiser.param_groups[0]["lr"] = rate
        optimiser.zero_grad()
        loss = F.binary_cross_entropy_with_logits(network(*batch.inputs), batch.labels)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        weights.append([float(entry) for piece in pieces for entry in piece.grad.flatten()])
        biases.append([float(entry) for entry in bias.grad])
        optimiser.step()
    theta = [float(entry) for one in (*pieces, bias) for entry in one.detach().flatten()]
    first = 0.0
    for rows in (weights, biases):
        for entry in range(len(rows[0])):
            seen = [row[entry] for row in rows]
            if statistics.stdev(seen) > 0:
                first += math.log(statistics.mean(map(abs, seen)) / statistics.stdev(seen))
                break
    sums = [sum(entries) for entries in zip(*(w + b for w, b in zip(weights, biases, strict=True)), strict=True)]
    second = math.log(abs(sum(t * s for t, s in zip(theta, sums, strict=True))) + 1e-10)
    return first, second, float(loss.detach())


@pytest.mark.parametrize("kind", ["alone", "inherited"])
def test_released_ctr_is_what_the_scripts_compute(kind):
    network, batches = networks()[kind], Synthetic(TASK).batches(4, 16, seed=2)
    first, second, loss = told_slowly(network, batches)
    found = score(network, batches, "sigeo:released_ctr")
    assert found.parts == pytest.approx({"steadiness": first, "fisher_rao": second, "loss": loss}, rel=1e-4)
    assert found.value == pytest.approx(first + second - loss, rel=1e-4)
    assert get("sigeo:released_ctr").settings["trainable"] == "last"


@pytest.mark.parametrize("settings", [{}, {"optimizer": "sgd", "lr": 0.5}, {"form": "released_cv"}])
def test_seeing_only_the_last_layer_is_freezing_the_rest(settings):
    network, batches = networks()["alone"], Synthetic(TASK).batches(4, 16, seed=2)
    seen = score(network, batches, "sigeo", settings={**settings, "trainable": "last"}).value
    network.requires_grad_(False)
    network.head.requires_grad_(True)
    assert seen == pytest.approx(score(network, batches, "sigeo", settings=settings).value, rel=1e-9)
    network.requires_grad_(True)
    assert seen != pytest.approx(score(network, batches, "sigeo", settings=settings).value, rel=1e-3)


def test_what_can_learn_has_two_names(batch, small):
    with pytest.raises(InputError, match="expected one of all, last"):
        score(small(), batch(8), "sigeo", settings={"trainable": "x"})
