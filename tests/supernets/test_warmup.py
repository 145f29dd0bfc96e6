"""Levels in steps, and a network after one."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.one_shots import CASES
from torch import nn

from foresee.batch import call
from foresee.data import load
from foresee.data.arrays import Arrays
from foresee.data.clicks.made.generating import generated
from foresee.data.features import Features
from foresee.errors import InputError
from foresee.quantities import format_share, parse_share
from foresee.spaces.nasrec import NASRecSmall
from foresee.supernets.level import stated_steps, steps_of
from foresee.supernets.recipes import usual_recipe, usual_warmup
from foresee.supernets.supernet import Supernet
from foresee.supernets.warmup import Warmup, warmed
from foresee.task import Task
from foresee.training.recipe import Recipe, recipe

DATA = Arrays(torch.randn(50, 4, generator=torch.Generator().manual_seed(0)), torch.arange(50) % 2)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 80), st.integers(1, 5))
def test_more_is_never_fewer_steps(first, second, batch, epochs):
    chosen = Recipe(batch=batch, epochs=epochs)
    low, high = sorted((first, second))
    whole = epochs * (50 // min(batch, 50))
    assert steps_of(0.0, DATA, chosen) == 0
    assert steps_of(1.0, DATA, chosen) == whole
    assert steps_of(low, DATA, chosen) <= steps_of(high, DATA, chosen) <= whole
    assert steps_of(low, DATA, chosen) * min(batch, 50) >= low * whole * min(batch, 50) - 1e-3  # rounded up


@given(st.integers(0, 10_000))
def test_shares_are_read_as_they_are_written(parts):
    share = parts / 10_000
    assert parse_share(format_share(share)) == pytest.approx(share, abs=1e-12)
    assert format_share(parse_share(format_share(share))) == format_share(share)


@pytest.mark.parametrize("wrong", ["-1%", "101%", "1.5", "nan", "", "10%%", True, math.inf])
def test_what_is_no_share(wrong):
    with pytest.raises(InputError, match="share"):
        parse_share(wrong)


def test_what_is_recorded():
    one = Warmup(0.25, Recipe(name="mine", batch=8, epochs=2), DATA)
    assert one.steps == 3
    assert {key: one.facts[key] for key in ("level", "by", "steps", "samples", "of")} == {
        "level": "25%",
        "by": "network",
        "steps": 3,
        "samples": 24,
        "of": 50,
    }
    assert one.words == "25%: each network by itself, 3 steps of recipe mine, 24 samples of 50"


def test_a_level_is_reached_from_the_weights_that_are_there():
    """As many plain steps, by hand."""
    chosen = Recipe(batch=10, epochs=1, lr=0.1, momentum=0.0, schedule="constant")
    torch.manual_seed(0)
    network = nn.Linear(4, 2)
    plain = nn.Linear(4, 2)
    plain.load_state_dict(network.state_dict())
    state = torch.get_rng_state()
    found = warmed(network, DATA, "40%", recipe=chosen, seed=5)
    assert found is network
    assert torch.equal(torch.get_rng_state(), state)
    from foresee.seeds import derive
    from foresee.supernets.course import Course

    for batch in Course(DATA, chosen, 2, derive(5, "warmup")).batches():
        loss = nn.functional.cross_entropy(plain(batch.inputs), batch.labels)
        with torch.no_grad():
            for parameter, slope in zip(plain.parameters(), torch.autograd.grad(loss, plain.parameters()), strict=True):
                parameter -= 0.1 * slope
    torch.testing.assert_close(found.weight, plain.weight)


def test_the_mode_is_kept():
    assert not warmed(nn.Linear(4, 2).eval(), DATA, "50%").training


def test_what_is_usual():
    assert {name: usual_recipe(case.space()) for name, case in CASES.items() if name in ("darts", "autoformer")} == {
        "darts": "nesbs_supernet",
        "autoformer": "autoformer_supernet",
    }
    assert usual_recipe(CASES["nasrec_full"].space()) == "nasrec_supernet"
    clicks = CASES["nasrec_full"].task
    known = {rows: usual_warmup(clicks, rows) for rows in (10_000, 3_999_999, 4_000_000)}
    assert list(known.values()) == ["ctr_warmup", "ctr_warmup", "ctr"]
    assert {recipe(name).epochs for name in (usual_warmup(Task(), 50_000), *known.values())} == {1}


def test_the_usual_steps_of_a_small_log_leave_no_supernet_worse_than_they_found_it(tmp_path):
    """By Adagrad's first steps, each as large as its rate, the mean loss rose from 1.0 to 3.0."""
    log = load(str(generated(tmp_path / "clicks.csv", 4_000, seed=3).path))
    space = NASRecSmall(blocks=3)
    drawn, seen = [space.sample(random.Random(seed)) for seed in range(10)], log.batch(1024, seed=0)

    def loss(supernet):
        with torch.no_grad():
            outputs = [call(supernet.inherit(one).eval(), seen.inputs) for one in drawn]
        labels = seen.labels.reshape(-1).float()
        return (
            sum(float(nn.functional.binary_cross_entropy_with_logits(one.reshape(-1), labels)) for one in outputs) / 10
        )

    before = loss(Supernet(space, log.task))
    steps = {"steps": 20, "batch": 64}
    assert loss(Supernet(space, log.task).train(log, recipe=usual_warmup(log.task, len(log)), **steps)) < before
    assert loss(Supernet(space, log.task).train(log, recipe="ctr", **steps)) > before


def test_a_click_log_is_warmed_up_by_twenty_steps_at_least():
    """At any level above 0 %; images keep what they had."""
    rows = np.arange(600).reshape(300, 2)
    log = Features(rows.astype(np.float32), rows % 7, np.arange(300) % 2)
    chosen = Recipe(name="ctr", batch=50, epochs=1)
    assert steps_of(0.0, log, chosen) == 0
    assert [steps_of(share, log, chosen) for share in (1e-6, 0.01, 1.0)] == [20, 20, 20]
    assert [stated_steps(share, log, chosen) for share in (0.01, 1.0)] == [1, 6]
    assert steps_of(0.5, log, Recipe(batch=1, epochs=1)) == 150
    one = Warmup(0.01, chosen, log, "supernet")
    assert one.words == "1%: one supernet, 20 steps (the least; 1% would be 1) of recipe ctr, 1,000 samples of 300"
    assert "stated_steps" not in Warmup(0.5, Recipe(batch=1, epochs=1), log).facts
    assert Warmup(0.01, Recipe(batch=512, epochs=1), log).facts["samples"] == 20 * 300  # fewer rows than a batch


def test_a_log_of_fewer_rows_than_a_batch_warms_up():
    rows = np.arange(60).reshape(30, 2)
    log = Features(rows.astype(np.float32), rows % 7, np.arange(30) % 2)
    tiny = NASRecSmall(blocks=1, dense_widths=(16,), sparse_widths=(16,))
    made = Supernet(tiny, log.task).train(log, share=0.01, recipe="ctr")
    assert (made.steps, len(made.losses)) == (20, 20)
