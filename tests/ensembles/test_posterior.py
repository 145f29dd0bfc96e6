"""The posterior of architectures: probabilities against draws, and that it finds what fits."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from foresee.data import Arrays
from foresee.ensembles.posterior import Posterior, fit, kl_to_uniform
from foresee.errors import InputError
from foresee.spaces.find import get
from foresee.task import Task


def test_probabilities_of_all_paths_sum_to_one():
    posterior = Posterior({"a": torch.tensor([0.3, 1.0, -2.0, 0.5]), "b": torch.tensor([1.0, 0.0])}, {"a": 2})
    total = 0.0
    for pair, other in itertools.product(itertools.combinations(range(4), 2), range(2)):
        path = {"a": torch.zeros(4).index_fill_(0, torch.tensor(pair), 1.0), "b": torch.eye(2)[other]}
        total += float(posterior.log_probability(path).exp())
    assert total == pytest.approx(1, abs=1e-12)


def test_draws_come_as_often_as_they_are_likely():
    posterior = Posterior({"a": torch.tensor([0.3, 1.0, -1.0])}, {"a": 2})
    drawn = [tuple(posterior.draw(0, number)["a"].tolist()) for number in range(2000)]
    for path in set(drawn):
        likely = float(posterior.log_probability({"a": torch.tensor(path)}).exp())
        spread = math.sqrt(likely * (1 - likely) / len(drawn))
        assert drawn.count(path) / len(drawn) == pytest.approx(likely, abs=4 * spread)


def test_temperature_and_what_cannot_be():
    posterior = Posterior(
        {"a": torch.tensor([5.0, 1.0, 0.0])}, without=("none",), options={"a": ("none", "conv", "skip")}
    )
    assert posterior.probabilities()["a"][0] == 0
    assert posterior.mode()["a"].tolist() == [0.0, 1.0, 0.0]
    assert all(posterior.draw(0, number)["a"][0] == 0 for number in range(50))
    assert posterior.tempered(10).divergence < posterior.divergence < posterior.tempered(0.1).divergence
    with pytest.raises(InputError, match="temperature"):
        posterior.tempered(0)


def test_the_divergence_is_the_sum_it_is_said_to_be():
    posterior = Posterior({"a": torch.tensor([0.3, 1.0, -1.0]), "b": torch.tensor([2.0, 0.0])})
    total = sum(float((p * (p * len(p)).log()).sum()) for p in posterior.probabilities().values())
    assert posterior.divergence == pytest.approx(total)
    there = torch.ones(3, dtype=torch.bool)
    assert float(kl_to_uniform({"a": torch.full((3,), 7.0)}, {"a": there})) == pytest.approx(0, abs=1e-6)


def test_plain_values_come_back():
    posterior = Posterior({"a": torch.tensor([0.3, 1.0])}, {"a": 2}, 0.5, ("none",), {"a": ("none", "conv")})
    again = Posterior.from_json(posterior.to_json())
    assert again.to_json() == posterior.to_json()
    assert torch.equal(again.probabilities()["a"], posterior.probabilities()["a"])


@pytest.fixture(scope="module")
def one_shot():
    torch.manual_seed(0)
    return get("nasbench201", channels=2, cells=1).one_shot(Task((1, 6, 6), 2)).eval()


@pytest.fixture(scope="module")
def data():
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(64) % 2
    images = torch.randn(64, 1, 6, 6, generator=generator) * 0.3 + labels[:, None, None, None].float()
    return Arrays(images.numpy(), labels.numpy())


def test_the_one_shot_network_stays_as_it_is(one_shot, data):
    before = {key: value.clone() for key, value in one_shot.state_dict().items()}
    weights = one_shot.weights
    found = fit(one_shot, data, epochs=1, batch=32)
    assert all(torch.equal(before[key], value) for key, value in one_shot.state_dict().items())
    assert all(one.requires_grad for one in one_shot.parameters())
    assert all(torch.equal(weights[name], vector) for name, vector in one_shot.weights.items())
    assert not any(module.training for module in one_shot.modules())
    assert found.to_json() == fit(one_shot, data, epochs=1, batch=32).to_json()
    assert found.to_json() != fit(one_shot, data, epochs=1, batch=32, seed=1).to_json()


def test_what_fits_becomes_likely(one_shot, data):
    """Cells that let nothing through explain nothing: the posterior keeps away from them."""
    seen: list[float] = []
    found = fit(one_shot, data, epochs=15, batch=32, lr=0.1, prior=0.01, observe=lambda step, loss: seen.append(loss))
    last = [float(found.probabilities()[name][0]) for name in ("3.0", "3.1", "3.2")]
    assert min(last) < 0.2, last
    assert sum(seen[-5:]) < sum(seen[:5])


def test_a_strong_prior_keeps_it_uniform(one_shot, data):
    loose, strict = (fit(one_shot, data, epochs=3, batch=32, lr=0.1, prior=prior) for prior in (0.0, 100.0))
    assert strict.divergence < 0.05 < loose.divergence
