"""SNAS: relaxed draws, one loss for both, a temperature that falls."""

from __future__ import annotations

import pytest
import torch
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import done, searcher
from torch.nn import functional as F

from foresee.errors import InputError


def test_draws_follow_the_logits_and_sharpen_as_it_gets_colder():
    one = searcher("snas", two_edges.NAME)
    with torch.no_grad():
        one.logits["first"].copy_(torch.tensor([0.5, 0.3, 0.2]).log())
    draws = {heat: [one.drawn(heat, number)["first"].detach() for number in range(800)] for heat in (1.0, 0.03)}
    for found in draws.values():
        assert all(vector.sum().item() == pytest.approx(1, abs=1e-5) for vector in found)
        counts = torch.bincount(torch.stack(found).argmax(1), minlength=3) / len(found)
        torch.testing.assert_close(counts, torch.tensor([0.5, 0.3, 0.2]), rtol=0, atol=0.06)
    peaks = {heat: torch.stack(found).max(1).values.mean().item() for heat, found in draws.items()}
    assert peaks[1.0] < 0.8 < 0.95 < peaks[0.03]


def test_one_loss_moves_weights_and_logits_and_validation_is_never_seen(monkeypatch):
    one, other = (searcher("snas", two_edges.NAME) for _ in range(2))
    monkeypatch.setattr(one, "validation", lambda number: pytest.fail("the validation half was looked at"))
    one.learn(0)
    batch = other.halves.training(0)
    F.cross_entropy(other.network.mix(other.drawn(1.0, 0))(batch.inputs), batch.labels).backward()
    other.architect.step()
    torch.nn.utils.clip_grad_norm_(other.network.parameters(), 5.0)
    other.optimiser.step()
    for name in one.logits:
        assert torch.equal(one.logits[name], other.logits[name])
    for ours, theirs in zip(one.network.parameters(), other.network.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_temperature_falls_from_epoch_to_epoch():
    outcomes = done(searcher("snas", two_edges.NAME, said={"epochs": 3, "batches": 1, "hot": 2.0, "cold": 0.5}))
    assert [one["temperature"] for one in outcomes] == [2.0, 1.25, 0.5]
    with pytest.raises(InputError, match=r"snas.cold = 0: expected a number above 0"):
        searcher("snas", two_edges.NAME, said={"cold": 0})
