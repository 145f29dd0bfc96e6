"""Which part of a supernet a step trains: fairness by chi-square, NASRec's schedule against its definition."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from scipy.stats import binom, chisquare
from tests.one_shots import CASES

from foresee.errors import InputError
from foresee.seeds import stream
from foresee.supernets.sampling import AnyPath, Uniform, input_count, usual

STEPS = 700
#: all choices of all spaces together are some hundred tests: none of them below this by luck
LEAST = 1e-4


def counted(case):
    """How often each option of each choice was on, over the first steps; rows of several are one after the other."""
    space, one_shot = case.space(), case.one_shot()
    sampler = Uniform(space, seed=5)
    found = {choice.name: torch.zeros(len(choice.options)) for choice in one_shot.choices}
    for step in range(STEPS):
        for name, vector in one_shot.path(sampler.architecture(step)).items():
            found[name] += vector.reshape(-1, vector.shape[-1]).sum(0)
    return one_shot, found


@pytest.mark.parametrize("name", CASES)
def test_every_option_is_as_likely_as_any_other(name):
    one_shot, found = counted(CASES[name])
    tested = 0
    for choice in one_shot.choices:
        counts = found[choice.name]
        if choice.options[0] == "none" and name.startswith("darts"):  # an edge that is not chosen has no operation
            counts = counts[1:]
        if choice.options == ("off", "on"):  # how many inputs are read is another question; which ones, below
            continue
        if len(counts) > 1 and counts.sum() > 0:
            tested += 1
            assert chisquare(counts).pvalue > LEAST, f"{choice.name}: {counts.tolist()}"
    assert tested >= 2


@pytest.mark.parametrize("name", ["darts", "nasrec_small", "nasrec_full"])
def test_every_input_is_as_likely_as_any_other(name):
    one_shot, found = counted(CASES[name])
    groups: dict[str, list[float]] = {}
    for choice in one_shot.choices:
        if choice.options == ("off", "on"):
            groups.setdefault(choice.name.rpartition(".")[0], []).append(found[choice.name][-1].item())
        elif choice.options[0] == "none":
            groups.setdefault(choice.name.rpartition(".")[0], []).append(found[choice.name][1:].sum().item())
    assert groups
    for place, counts in groups.items():
        assert chisquare(counts).pvalue > LEAST, f"{place}: {counts}"


def test_a_biased_draw_would_be_seen():
    counts = torch.tensor([0.30, 0.20, 0.20, 0.15, 0.15]) * STEPS
    assert chisquare(counts).pvalue < LEAST


def test_a_step_is_what_its_number_says():
    case = CASES["nasbench201"]
    first, second = case.one_shot(), case.one_shot()
    for step in (3, 0, 9):
        Uniform(case.space(), 1)(first, step)
    Uniform(case.space(), 1)(second, 9)
    for name, vector in first.weights.items():
        assert torch.equal(vector, second.weights[name])


# -- NASRec ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("candidates", [1, 2, 3, 4, 5, 7])
def test_numbers_of_inputs(candidates):
    rng = stream(candidates)
    counts = Counter(input_count(candidates, rng) for _ in range(2000))
    most = min(candidates - 1, 3)
    assert set(counts) <= set(range(1, most + 2))
    if most:
        expected = [2000 * binom.pmf(k, most, 0.5) for k in range(most + 1)]
        assert chisquare([counts[1 + k] for k in range(most + 1)], expected).pvalue > LEAST


def full_shares(sampler, one_shot, steps):
    """How often the wiring, and each block, was the full one."""
    wide = blocks = both = 0
    for step in steps:
        weights = sampler.weights(one_shot, step)
        last = len({name.partition(".")[0] for name in weights})
        wired = all(weights[f"{last}.{kind}.{read}"][-1] == 1 for kind in ("dense", "sparse") for read in range(last))
        wired = wired and bool(weights[f"{last}.left"].sum() == last)
        block = bool(weights[f"{last}.dense_op"].sum() > 1)
        wide, blocks, both = wide + wired, blocks + block, both + (wired and block)
    return wide / len(steps), blocks / len(steps), both / len(steps)


def test_the_full_path_comes_ever_more_rarely():
    one_shot, far = CASES["nasrec_full"].one_shot(), 10**9
    for share in (0.2, 0.7):
        sampler = AnyPath(steps=far)
        steps = range(int(share * far), int(share * far) + 600)
        wide, block, both = full_shares(sampler, one_shot, steps)
        assert wide == pytest.approx(1 - share, abs=0.07)
        assert block == pytest.approx(1 - share, abs=0.07)
        assert both == pytest.approx((1 - share) ** 2, abs=0.07)  # wiring and block draw apart
    assert full_shares(AnyPath(steps=0), one_shot, range(50)) == (0, 0, 0)
    assert full_shares(AnyPath(steps=10), one_shot, range(10, 60)) == (0, 0, 0)


def test_the_first_step_is_never_full():
    one_shot = CASES["nasrec_full"].one_shot()
    for seed in range(30):
        assert full_shares(AnyPath(10**9, seed), one_shot, [0]) == (0, 0, 0)
        assert full_shares(AnyPath(10**9, seed), one_shot, [1]) == (1, 1, 1)


def test_one_of_each_otherwise():
    one_shot = CASES["nasrec_full"].one_shot()
    options = {choice.name: choice.options for choice in one_shot.choices}
    counts = {name: torch.zeros(len(found)) for name, found in options.items()}
    for step in range(STEPS):
        for name, vector in AnyPath(0).weights(one_shot, step).items():
            assert vector.sum() == 1
            counts[name] += vector
    for name, found in counts.items():
        if options[name] != ("off", "on") or name.endswith(("fm", "interact")):
            assert len(found) == 1 or chisquare(found).pvalue > LEAST, name


@pytest.mark.parametrize("name", ["nasrec_small", "nasrec_full"])
def test_whatever_is_drawn_runs(name):
    case = CASES[name]
    one_shot, batch = case.one_shot(), case.batch()
    for step in range(12):
        AnyPath(8)(one_shot, step)
        assert torch.isfinite(batch.call(one_shot)).all()


def test_what_is_usual():
    assert isinstance(usual(CASES["darts"].space(), 0, 100), Uniform)
    found = usual(CASES["nasrec_full"].space(), 0, 71_626)
    assert found.facts == {"sampler": "any_path", "full_path_steps": 15_000}


def test_a_wrong_number_of_steps():
    with pytest.raises(InputError, match="steps"):
        AnyPath(-1)
