"""ENAS: rates that begin anew, steps of the controller by hand, and what it draws."""

from __future__ import annotations

import pytest
import torch
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import done, searcher

from foresee.seeds import generator


def test_the_rate_begins_anew_as_torch_has_it():
    one = searcher("enas", two_edges.NAME, said={"restart": 2, "epochs": 14})
    reference = torch.optim.SGD(one.network.parameters(), 0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(reference, 2, 2, eta_min=0.001)
    for epoch in range(14):
        assert one.rate(epoch) == pytest.approx(schedule.get_last_lr()[0])
        reference.step()
        schedule.step()
    assert searcher("enas", two_edges.NAME, said={"restart": 0}).rate(1) < 0.05
    assert one.optimiser.param_groups[0]["nesterov"]


def test_a_step_of_the_controller_by_hand():
    one, other = (searcher("enas", two_edges.NAME, said={"baseline_decay": 0.5, "entropy": 0.2}) for _ in range(2))
    rewards, baseline = [], None
    for number in range(3):
        right = one.teach(number)
        policy = other.controller(generator(3, "enas", "teach", number))
        cell = other.space.parse("-".join(two_edges.OPS[pick] for (pick,) in policy.picks))
        batch = other.halves.validation(number)
        with torch.no_grad():
            share = (other.network.select(cell)(batch.inputs).argmax(1) == batch.labels).double().mean().item()
        assert right == pytest.approx(share)
        rewards.append(share + 0.2 * policy.entropy.item())
        baseline = rewards[0] if baseline is None else 0.5 * baseline + 0.5 * rewards[-1]
        other.teacher.zero_grad()
        (-(rewards[-1] - baseline) * policy.log_probability).backward()
        other.teacher.step()
        assert one.baseline == pytest.approx(baseline)
    for ours, theirs in zip(one.controller.parameters(), other.controller.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("space", ["nasbench201", "nasbench1shot1_s2", "darts"])
def test_every_decision_of_the_controller_is_in_the_architecture(space):
    one = searcher("enas", space)
    with torch.no_grad():
        picks = one.controller(generator(0)).picks
    cell = one._architecture(picks)
    weights = one.network.path(cell)
    for decision, kept in list(zip(one.plan.decisions, picks, strict=True)):
        for option, (choice, place) in enumerate(decision.places):
            if place is None:  # an edge of the DARTS space: there, or `none`
                assert bool(weights[choice][0] == 0) == (option in kept)
            elif space != "darts" or not weights[choice][0]:
                assert bool(weights[choice][place]) == (option in kept)
    assert str(one.draw(generator(0))) == str(cell)


def test_the_reward_of_an_epoch_is_stored_and_the_baseline_kept():
    one = searcher("enas", two_edges.NAME)
    outcome = done(one)[0]
    assert 0 <= outcome["reward"] <= 1
    again = searcher("enas", two_edges.NAME)
    again.restore(one.tensors(), one.facts())
    assert again.baseline == one.baseline
    assert str(again.draw(generator(7))) == str(one.draw(generator(7)))
