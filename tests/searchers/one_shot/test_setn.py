"""SETN: weights by uniform paths, an evaluator by the mixture, draws by the evaluator."""

from __future__ import annotations

from collections import Counter

import torch
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import done, searcher
from torch.nn import functional as F

from foresee.seeds import generator


def test_draws_follow_the_evaluator_and_paths_do_not():
    one = searcher("setn", two_edges.NAME)
    with torch.no_grad():
        for vector in one.logits.values():
            vector.copy_(torch.tensor([0.7, 0.2, 0.1]).log())
    numbers = generator(0)
    firsts = Counter(one.draw(numbers).ops[0] for _ in range(1000))
    assert abs(firsts["pool"] / 1000 - 0.7) < 0.05
    assert abs(firsts["conv3"] / 1000 - 0.1) < 0.04
    paths = Counter()
    one.loss = lambda batch, weights: (
        paths.update([int(weights["first"].argmax())]) or torch.zeros((), requires_grad=True)
    )
    one.descend, one.settle, one.by_logits = lambda loss: 0.0, lambda gradients: None, lambda loss: []
    for number in range(600):
        one.learn(number)
    # half of the calls are paths, uniform; the other half are mixtures, whose largest weight is the first
    assert abs(paths[1] - 200) < 50
    assert abs(paths[2] - 200) < 50


def test_the_evaluator_has_the_gradient_of_the_mixture():
    one, other = (searcher("setn", two_edges.NAME) for _ in range(2))
    one.learn(0)
    even = {name: torch.zeros_like(vector) for name, vector in other.logits.items()}
    path = other.network.derive(other.perturbed(even, generator(3, "setn", "path", 0)))
    batch = other.halves.training(0)
    other.descend(F.cross_entropy(other.network.select(path)(batch.inputs), batch.labels))
    batch = other.halves.validation(0)
    weights = {name: torch.softmax(vector, 0) for name, vector in other.logits.items()}
    F.cross_entropy(other.network.mix(weights)(batch.inputs), batch.labels).backward()
    other.architect.step()
    for name in one.logits:
        torch.testing.assert_close(one.logits[name], other.logits[name])


def test_the_answer_is_the_best_that_was_judged():
    one = searcher("setn", two_edges.NAME, said={"draws": 9})
    judged = done(one)[-1]
    best = max(range(9), key=lambda place: (judged["accuracy"][place], -judged["loss"][place]))
    assert str(one.ask(1)[0].architecture) == judged["architectures"][best]
