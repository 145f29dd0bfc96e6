"""NASI's tables on NAS-Bench-1Shot1: the condition, cells without accuracies, labels and data that do not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from foresee.benchmarks import save, tasks
from foresee.benchmarks.table import Rows, Table
from foresee.papers import Measured, Workshop, reproduce
from foresee.papers.nasi import BATCHES, SPACES, agnostic, below, drawn
from foresee.papers.numbers import published
from foresee.scoring import Scorer, ScoringSettings, score
from foresee.seeds import derive, stream
from foresee.spaces import get

SMALL = {f"nasbench1shot1_s{number}": {"channels": 4, "stacks": 2, "cells": 1} for number in (1, 2, 3)}


def made_up(name: str, text: str) -> float:
    return 1 + derive(0, name, text) % 10_000 / 100


class MadeUp(Workshop):
    """Proxies whose values are a function of what was asked, so that every number can be computed again."""

    def measure(self, sample, asked):
        self.asked_for = asked
        return {
            name: Measured(np.array([[self.number(one, text) for text in sample.texts]])) for name, one in asked.items()
        }

    @staticmethod
    def number(one, text):
        return made_up(f"{one.proxy} {one.batch_size}", text)


@pytest.fixture
def folder(tmp_path):
    """A table of some cells of space 2 with made-up test accuracies."""
    space, rng = get("nasbench1shot1_s2", loose_ends="listed"), stream(0)
    texts = list(dict.fromkeys(str(space.sample(rng)) for _ in range(40)))[:30]
    n = len(texts)
    zeros = np.zeros(n)
    rows = Rows(
        architecture=np.arange(n, dtype=np.int32),
        task=zeros.astype(np.int16),
        metric=zeros.astype(np.int16),
        epochs=np.full(n, 108, np.int32),
        seed=np.full(n, -1, np.int32),
        value=np.array([made_up("accuracy", text) for text in texts]),
        tasks=("cifar10",),
        metrics=("test_acc",),
    )
    save(Table("nasbench1shot1_s2", texts, rows, space_settings={"loose_ends": "listed"}), tmp_path / "s2.npz")
    return tmp_path


def lines(page):
    return {(one.row, one.column): one for one in page.lines}


# -- with accuracies ----------------------------------------------------------------------------------------------------
def test_below_nu_are_those_under_the_mean_of_the_first_fifty():
    trace = np.concatenate([np.full(49, 2.0), [52.0], [2.9, 3.1, 1e9]])
    within, nu = below(Measured(trace[None]))
    assert nu == pytest.approx(3.0)
    assert within.tolist() == [True] * 49 + [False, True, False, False]


@pytest.mark.parametrize(("coefficient", "slow"), [("spearman", spearmanr), ("kendall", kendalltau)])
@pytest.mark.parametrize("name", ["nasi-table-3", "thesis-table-6.5"])
def test_table_3_and_its_condition(name, coefficient, slow, folder):
    workshop = MadeUp(tables=folder, bootstrap=5)
    found = lines(reproduce(name, workshop))
    sample = workshop.sampled("nasbench1shot1-s2")
    column = f"nasbench1shot1-s2:{coefficient}"
    assert {one.batch_size for one in workshop.asked_for.values()} == {64}

    def numbers(proxy):
        return np.array([made_up(f"{proxy} 64", text) for text in sample.texts])

    assert found["SNIP", column].ours.value == pytest.approx(slow(numbers("snip"), sample.truth).statistic)
    trace = numbers("nasi")
    within = trace < trace.mean()  # 30 cells: nu is the mean of all
    conditioned = found["NASI (conditioned)", column]
    assert conditioned.ours.value == pytest.approx(slow(trace[within], sample.truth[within]).statistic)
    assert conditioned.ours.n == within.sum()
    assert f"{within.sum()} of 30 are below nu" in conditioned.reason
    assert found["nasi", column].ours.n == 30
    for space in ("s1", "s3"):
        line = found["SNIP", f"nasbench1shot1-{space}:{coefficient}"]
        assert line.ours is None
        assert line.reason == f"no table of nasbench1shot1_{space}"


def test_figure_3_has_bins_of_the_error(folder):
    workshop = MadeUp(tables=folder, bootstrap=5)
    page = reproduce("nasi-figure-3", workshop)
    sample = workshop.sampled("nasbench1shot1-s2")
    trace = np.array([made_up("nasi 64", text) for text in sample.texts])
    errors = [100 - sample.truth[part] for part in np.array_split(np.argsort(trace), 6)]
    [drawing] = page.scatters
    assert drawing.y == pytest.approx([part.mean() for part in errors])
    assert drawing.bars == pytest.approx([part.std() / 2 for part in errors])
    found = lines(page)
    means = [part.mean() for part in errors]
    assert found["least error", "nasbench1shot1-s2"].ours.value == pytest.approx(min(means))
    assert f"bin {np.argmin(means) + 1} of 6" in found["least error", "nasbench1shot1-s2"].reason
    assert found["first bin", "nasbench1shot1-s2"].ours.value == pytest.approx(means[0])
    assert found["last bin", "nasbench1shot1-s2"].ours.value == pytest.approx(means[-1])


# -- without accuracies -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("benchmark", SPACES)
def test_cells_are_drawn_from_the_benchmarks_list(benchmark):
    sample = drawn(Workshop(sample=20), benchmark, 40)
    assert len(sample) == 20
    space = get(sample.space, loose_ends="listed")
    assert [str(space.parse(text)) for text in sample.texts] == sample.texts
    assert drawn(Workshop(sample=None), benchmark, 40).texts[:20] == sample.texts
    assert drawn(Workshop(sample=20, seed=1), benchmark, 40).texts != sample.texts


def test_table_7_sets_every_approximation_beside_the_exact_trace():
    workshop = MadeUp(sample=10, bootstrap=5)
    found = lines(reproduce("nasi-table-7", workshop))
    assert len(found) == 21
    assert {one.batch_size for name, one in workshop.asked_for.items() if name.startswith("batch")} == set(BATCHES)
    for benchmark in SPACES:
        texts = drawn(workshop, benchmark, 40).texts
        exact, approximated, total = (
            [made_up(name, text) for text in texts] for name in ("ntk_trace 8", "nasi 32", "nasi_sum 8")
        )
        assert found[benchmark, "batch-32"].ours.value == pytest.approx(pearsonr(approximated, exact).statistic)
        assert found[benchmark, "sum-of-sample-norms"].ours.value == pytest.approx(pearsonr(total, exact).statistic)
    assert published("thesis-table-6.7").rows[0].values == published("nasi-table-7").rows[0].values


def test_table_7_of_real_networks():
    """Even with 4 tiny networks of each space the approximation follows the exact trace."""
    page = reproduce(
        "thesis-table-6.7", Workshop(sample=4, batch_size=4, bootstrap=5, space_settings=SMALL, data="synthetic")
    )
    values = [line.ours.value for line in page.lines]
    assert len(values) == 21
    assert np.median(values) > 0.5


def test_agnostic_changes_only_what_it_says():
    settings = tasks.of("nasbench1shot1_s1", "cifar10")[1] | SMALL["nasbench1shot1_s1"]
    asked = ScoringSettings(proxies=("nasi",), inputs=(3, 32, 32), outputs=10)
    scorer = Scorer("nasbench1shot1_s1", asked, space_settings=settings)
    text = drawn(Workshop(sample=1), "nasbench1shot1-s1", 1).texts[0]
    true, labels, noise = agnostic(scorer, text, 16)
    network, batch = scorer.candidate(text).build(), scorer.data.batch(16, seed=0)
    assert true == pytest.approx(score(network, batch, "nasi").value)
    assert len({true, labels, noise}) == 3
    assert agnostic(scorer, text, 16) == [true, labels, noise]


def test_figure_1_finds_that_labels_hardly_matter():
    page = reproduce("nasi-figure-1", Workshop(sample=5, batch_size=16, bootstrap=5, space_settings=SMALL))
    found = lines(page)
    assert len(page.scatters) == 6
    assert all(len(one.x) == 5 for one in page.scatters)
    for benchmark in SPACES:
        assert found["random vs. true labels", benchmark].ours.value > 0.8
        line = found["random vs. true data", benchmark]
        one = next(one for one in page.scatters if one.name == f"random-vs-true-data-{benchmark}")
        assert line.ours.value == pytest.approx(pearsonr(one.x, one.y).statistic)
