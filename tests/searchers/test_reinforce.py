"""REINFORCE beside torch's own gradients and its Adam; a policy that learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.searchers.driving import convolutions, drive, made

from foresee.errors import InputError, UnsupportedError
from foresee.testing import SearcherSuite


class TestReinforce(SearcherSuite):
    searcher = "reinforce"


def test_the_policy_is_that_of_torch():
    """The same results told to a policy in torch: log-probabilities by autograd, torch's Adam, a moving average by hand."""
    searcher = made("reinforce", 40, settings={"lr": 0.05, "momentum": 0.8})
    _, results = drive(searcher, merit=lambda one: convolutions(one) ** 2)
    assert len({str(result.architecture) for result in results}) == 40
    logits = torch.zeros(6, 5, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([logits], lr=0.05)
    baseline = None
    for result in results:
        baseline = 0.8 * (result.merit if baseline is None else baseline) + 0.2 * result.merit
        picks = torch.tensor(searcher.space.picks(result.architecture))
        log_p = torch.log_softmax(logits, -1).gather(1, picks[:, None]).sum()
        adam.zero_grad()
        (-(result.merit - baseline) * log_p).backward()
        adam.step()
    np.testing.assert_allclose(searcher._logits, logits.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_a_batch_takes_the_mean():
    one, two = made("reinforce", settings={"batch": 2}), made("reinforce", settings={"batch": 2})
    _, results = drive(one, merit=lambda drawn: float(one.space.picks(drawn)[0]), evaluations=8)
    results = results[2:] if results[0].merit == results[1].merit else results
    assert results[0].merit != results[1].merit
    before = two.policy
    two.tell(results[:1])
    assert (two.policy == before).all()
    two.tell(results[1:2])
    assert (two.policy != before).any()
    assert [one.told_before(candidate) for candidate in range(5)] == [0, 0, 2, 2, 4]


def test_it_learns_what_is_better():
    searcher = made("reinforce", 80, settings={"lr": 0.1})
    _, results = drive(searcher)
    early, late = (np.mean([result.merit for result in part]) for part in (results[:20], results[40:80]))
    assert late > early + 1
    conv = searcher.space.choices[0].options.index("nor_conv_3x3")
    assert (searcher.policy.argmax(axis=1) == conv).sum() >= 4


def test_what_draws_nothing_new_any_more_draws_at_random():
    searcher = made("reinforce", 5)
    _, results = drive(searcher)
    seen = results[0].architecture
    searcher._logits[:] = -50.0
    searcher._logits[np.arange(6), searcher.space.picks(seen)] = 50.0
    rng = searcher.problem.stream("test")
    assert searcher.propose(rng, 0)[0] == seen
    assert searcher.propose(rng, 200)[0] != seen
    (proposal,) = searcher.ask(1)
    assert proposal.architecture != seen


def test_sizes_that_differ_from_choice_to_choice():
    searcher = made("reinforce", 12, space="autoformer_tiny", settings={"lr": 0.3})
    drive(searcher, merit=lambda one: float(one.depth))
    policy = searcher.policy
    np.testing.assert_allclose(policy.sum(axis=1), 1.0)
    sizes = [len(choice.options) for choice in searcher.space.choices]
    assert all((row[size:] == 0).all() for row, size in zip(policy, sizes, strict=True))


def test_a_space_without_choices_is_refused_and_others_are_named():
    with pytest.raises(UnsupportedError, match=r"reinforce: mobilenet is not made of independent choices.*nasbench201"):
        made("reinforce", space="mobilenet")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"lr": 0}, "reinforce.lr = 0: expected a number above 0"),
        ({"momentum": 1}, "reinforce.momentum = 1: expected"),
        ({"batch": 0}, "reinforce.batch = 0: expected a whole number"),
    ],
)
def test_what_is_refused(settings, said):
    with pytest.raises(InputError, match=said):
        made("reinforce", settings=settings)
