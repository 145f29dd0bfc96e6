"""GDAS: hard draws, of which only what was drawn is computed and has a gradient."""

from __future__ import annotations

import torch
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import done, searcher
from torch.nn import functional as F

from foresee.seeds import generator


def test_a_draw_trains_one_path_and_leaves_the_others():
    one = searcher("gdas", said={"one_shot": {}})
    before = {name: weight.clone() for name, weight in one.network.named_parameters()}
    one.learn(0)
    drawn = one.network.draw(one.network.logits(), temperature=10.0, generator=generator(3, "gdas", "weights", 0))
    path = {choice.name: choice.options[drawn[choice.name].argmax()] for choice in one.network.choices}
    moved = {name for name, weight in one.network.named_parameters() if not torch.equal(weight, before[name])}
    ops = {name.split("options.")[1].split(".")[0] for name in moved if "options." in name}
    assert ops
    assert ops <= set(path.values())


def test_the_logits_have_the_gradient_of_what_was_drawn():
    """By hand: the straight-through weights, with what was not drawn cut off."""
    one, other = (searcher("gdas", two_edges.NAME, said={"hot": 2.0}) for _ in range(2))
    one.learn(0)
    numbers = generator(3, "gdas", "weights", 0)
    batch, path = other.halves.training(0), other.network.draw(other.logits, temperature=2.0, generator=numbers)
    other.network.mix({name: vector.detach() for name, vector in path.items()})
    other.descend(F.cross_entropy(other.network(batch.inputs), batch.labels))
    numbers, weights = generator(3, "gdas", "logits", 0), {}
    for name, vector in other.logits.items():
        noise = -torch.log(-torch.log(torch.rand(len(vector), generator=numbers, dtype=torch.float64))).float()
        soft = torch.softmax((vector + noise) / 2.0, 0)
        hard = F.one_hot(soft.argmax(), len(soft)).float()
        weights[name] = (hard + soft - soft.detach()) * hard
    batch = other.halves.validation(0)
    loss = F.cross_entropy(other.network.mix(weights)(batch.inputs), batch.labels)
    other.settle(torch.autograd.grad(loss, list(other.logits.values())))
    for name in one.logits:
        torch.testing.assert_close(one.logits[name], other.logits[name])


def test_the_temperature_falls_from_ten_to_a_tenth():
    outcomes = done(searcher("gdas", two_edges.NAME, said={"epochs": 3, "batches": 1}))
    assert [round(one["temperature"], 9) for one in outcomes] == [10.0, 5.05, 0.1]
