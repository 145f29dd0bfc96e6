"""Random search with parameter sharing: uniform paths, judged by the weights they share."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import done, searcher
from torch.nn import functional as F

from foresee.searchers.one_shot.drawn import TOGETHER, ranked
from foresee.seeds import generator


@pytest.mark.parametrize(("space", "expected"), [(two_edges.NAME, 9), ("nasbench1shot1_s2", None)])
def test_paths_are_drawn_uniformly(space, expected):
    one = searcher("rsps", space)
    numbers = generator(0)
    drawn = Counter(str(one.draw(numbers)) for _ in range(900))
    if expected:
        assert len(drawn) == expected
        chi = sum((count - 100) ** 2 / 100 for count in drawn.values())
        assert chi < 26.1  # 0.999 quantile, 8 degrees of freedom
    else:  # of 29,160 hardly any comes twice, and each first choice is as likely
        assert len(drawn) > 850
        firsts = Counter(text.partition("@")[0] for text in drawn)
        assert max(firsts.values()) - min(firsts.values()) < 100


def test_one_batch_trains_one_path():
    one = searcher("rsps", two_edges.NAME)
    before = {name: weight.clone() for name, weight in one.network.named_parameters()}
    one.learn(0)
    path = one.draw(generator(3, "rsps", "path", 0))
    for name, weight in one.network.named_parameters():
        if "options." in name:
            place, op = (0 if name.startswith("network.1") else 1), name.split("options.")[1].split(".")[0]
            assert torch.equal(weight, before[name]) == (path.ops[place] != op), name


def test_the_best_of_the_draws_is_the_answer_and_the_best_few_are_judged_again():
    one = searcher("rsps", two_edges.NAME, said={"draws": TOGETHER + 5, "again": 2, "looks": 3}, evaluations=9)
    one.halves._training = one.halves._validation = type(one.problem.data)(one.problem.task, epoch_samples=64)
    outcomes = done(one)
    assert len(outcomes) == 2 + 2 + 1
    assert [one.step_place(number) for number in (1, 2, 4)] == [("epochs", 2, 2), ("judging", 1, 3), ("judging", 3, 3)]
    assert [len(part["architectures"]) for part in outcomes[2:]] == [TOGETHER, 5, 2]
    texts, accuracies = (outcomes[2][key] + outcomes[3][key] for key in ("architectures", "accuracy"))
    # by hand: a path's accuracy with the shared weights, on the first batches of the validation half
    batches = [one.halves.validation(number) for number in range(3)]
    for text, accuracy in list(zip(texts, accuracies, strict=True))[:6]:
        one.network.select(one.space.parse(text))
        with torch.no_grad():
            right = [(one.network(batch.inputs).argmax(1) == batch.labels).float().mean() for batch in batches]
        assert accuracy == pytest.approx(sum(right).item() / 3, abs=1e-6)
    assert set(outcomes[4]["architectures"]) <= set(texts)
    best = max(dict(zip(texts, accuracies, strict=True)).values())
    assert dict(zip(texts, accuracies, strict=True))[outcomes[4]["architectures"][0]] == best
    answers = [str(proposal.architecture) for proposal in one.ask(3)]
    assert answers[:2] == [outcomes[4]["architectures"][place] for place in ranked(outcomes[4])]


def test_draws_keep_within_the_limits():
    from foresee.budgets import Limits
    from foresee.searchers.base import make

    plain = searcher("rsps", two_edges.NAME)
    plain.problem.limits = Limits.from_json({"params": {"max": 200}})
    one = make("rsps", plain.problem, {"epochs": 1, "batches": 1, "batch": 4, "draws": 10, "again": 0, "followed": 0})
    _, judged = done(one)
    assert all(one.problem.costs(one.space.parse(text))["params"] <= 200 for text in judged["architectures"])
    assert any(plain.problem.costs(cell)["params"] > 200 for cell in plain.space.enumerate())


def test_loss_is_the_mean_over_the_batches_of_an_epoch():
    one, other = (searcher("rsps", two_edges.NAME, said={"batches": 3, "followed": 0}) for _ in range(2))
    found = one.step(0)
    losses = []
    for number in range(3):
        batch = other.halves.training(number)
        other.network.select(other.draw(generator(3, "rsps", "path", number)))
        losses.append(other.descend(F.cross_entropy(other.network(batch.inputs), batch.labels)))
    assert found == {"loss": pytest.approx(sum(losses) / 3, rel=1e-5)}
