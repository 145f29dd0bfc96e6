"""Warm-up of networks by themselves: against a plain training, nothing lost when it is stopped."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from foresee.papers.sigeo.warming import WARM_UP, Descent, Warming, warmed
from foresee.papers.workshop import Workshop
from foresee.proxies.base import Score
from foresee.scoring import Job, Scorer, ScoringSettings, score
from foresee.seeds import derive

TEXTS = ("mlp(2)", "mlp(4)", "mlp(6)")
OWN = {**WARM_UP, "levels": (0, 10, 40), "samples": 160, "batch": 8}  # 0, 2 and 8 steps
PROXIES = ("sigeo:vision", "grad_norm")


def scorer(proxies=PROXIES):
    return Scorer("mlp", ScoringSettings(proxies=proxies, inputs=(1, 8, 8), batch_size=4))


def alone(own=OWN, proxies=PROXIES):
    return Warming(scorer(proxies), Descent.of(own))


def test_levels_in_steps():
    assert Descent.of(WARM_UP).steps == (0, 39, 78, 156)
    assert Descent.of(OWN).steps == (0, 2, 8)


def test_a_level_is_a_plain_training_of_so_many_steps():
    one, descent = scorer(), Descent.of(OWN)
    found = Warming(one, descent)(("mlp(4)", 3))
    network = one.candidate("mlp(4)", 3).build()
    batches = one.data.batches(4, 4, seed=3)
    motion = [torch.zeros_like(parameter) for parameter in network.parameters()]
    for step in range(9):
        if step in descent.steps:
            expected = score(network, batches, "sigeo:vision", seed=3)
            level = found[descent.steps.index(step)]
            assert [each.proxy for each in level] == list(PROXIES)
            assert level[0].value == pytest.approx(expected.value, rel=1e-5), step
            assert level[0].parts == pytest.approx(dict(expected.parts), rel=1e-4), step
        batch = one.data.batch(8, seed=derive(3, "warm-up"), index=step)
        gradients = torch.autograd.grad(
            F.cross_entropy(network(batch.inputs), batch.labels), list(network.parameters())
        )
        with torch.no_grad():
            for parameter, gradient, moved in zip(network.parameters(), gradients, motion, strict=True):
                moved.mul_(0.9).add_(gradient + 5e-4 * parameter)
                parameter -= 0.1 * moved


def test_without_warm_up_it_is_the_score_of_a_search():
    found = warmed(Workshop(), alone(), TEXTS)
    for text, ours in zip(TEXTS, found[0, "sigeo:vision"][0], strict=True):
        (theirs,) = scorer()(Job((text,), ("sigeo:vision",), seed=0))
        assert ours.value == theirs.scores[0].value
    assert found[40, "sigeo:vision"][0][0].value != found[0, "sigeo:vision"][0][0].value


def test_seeds_engines_and_what_is_asked_do_not_matter():
    both = warmed(Workshop(repeats=2), alone(), TEXTS)
    second = warmed(Workshop(seed=1, engine="processes", workers=1), alone(proxies=("grad_norm",)), TEXTS[::-1])
    assert [one.value for one in both[40, "grad_norm"][1]] == [one.value for one in second[40, "grad_norm"][0]][::-1]
    first, other = both[10, "grad_norm"]
    assert first[0].value != other[0].value


def test_what_was_done_is_not_done_again(tmp_path, monkeypatch):
    cache = tmp_path / "scores.sqlite"
    seen, work = [], Warming.__call__

    def stopped_after_two(self, job):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(job[0])
        return work(self, job)

    whole = warmed(Workshop(), alone(), TEXTS)
    monkeypatch.setattr(Warming, "__call__", stopped_after_two)
    with pytest.raises(KeyboardInterrupt):
        warmed(Workshop(cache=cache), alone(), TEXTS)
    done, seen = seen, []
    assert values(warmed(Workshop(cache=cache), alone(), TEXTS)) == values(whole)
    assert sorted([*done, *seen]) == sorted(TEXTS)
    events, seen = [], [None, None]
    again = warmed(Workshop(cache=cache, observers=[events.append]), alone(), TEXTS)
    assert values(again) == values(whole)
    assert [(one.kind, one.done) for one in events] == [("resumed", 3), ("finished", 3)]
    # the levels of another list that are known are taken, another way of warming up is another score
    with pytest.raises(KeyboardInterrupt):
        warmed(Workshop(cache=cache), alone({**OWN, "lr": 0.2}), TEXTS)
    fewer = warmed(Workshop(cache=cache), alone({**OWN, "levels": (10, 40)}), TEXTS)
    assert values(fewer) == {key: one for key, one in values(whole).items() if key[0]}


def values(found):
    return {key: [[one.value for one in row] for row in rows] for key, rows in found.items()}


def test_a_network_that_fails_is_alone_with_it(monkeypatch):
    work = Warming.__call__

    def picky(self, job):
        if job[0] == "mlp(4)":
            raise RuntimeError("not this one")
        return work(self, job)

    monkeypatch.setattr(Warming, "__call__", picky)
    found = warmed(Workshop(), alone(), TEXTS)
    statuses = [one.status for one in found[10, "grad_norm"][0]]
    assert statuses == ["ok", "failed", "ok"]
    assert "not this one" in found[10, "grad_norm"][0][1].reason
    assert isinstance(found[10, "grad_norm"][0][1], Score)


def test_a_training_that_blows_up_has_no_score():
    found = warmed(Workshop(), alone({**OWN, "lr": 1e30}), TEXTS[:1])
    assert found[0, "grad_norm"][0][0].ok
    late = found[40, "grad_norm"][0][0]
    assert (late.status, "smaller lr" in late.reason) == ("nan", True)
