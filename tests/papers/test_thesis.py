"""Chapter 7's tables: each number beside a slow version of it, what is asked of the networks, what mu and nu may see."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from foresee.benchmarks import save
from foresee.benchmarks.table import Rows, Table
from foresee.papers import Measured, Sample, Workshop, guarantees, reproduce
from foresee.papers.base import load_all
from foresee.papers.bound import choose
from foresee.papers.guarantees import Guarantees, asked, base, kappa, metrics, validation_errors
from foresee.papers.numbers import published
from foresee.seeds import derive, stream
from foresee.spaces import get

SLOW = {"spearman": spearmanr, "kendall": kendalltau, "pearson": pearsonr}
TABLES = ["7.1", "7.4", "7.5", "7.6", "7.9", "7.10", "7.11", "7.12"]


def table(space: str, columns: dict[tuple[str, int], np.ndarray], texts: list[str]) -> Table:
    """A table of CIFAR-10 with a number for each architecture, metric and epoch."""
    n, names = len(texts), sorted({metric for metric, _ in columns})
    rows = Rows(
        architecture=np.tile(np.arange(n, dtype=np.int32), len(columns)),
        task=np.zeros(n * len(columns), np.int16),
        metric=np.repeat([names.index(metric) for metric, _ in columns], n).astype(np.int16),
        epochs=np.repeat([epochs for _, epochs in columns], n).astype(np.int32),
        seed=np.full(n * len(columns), -1, np.int32),
        value=np.concatenate(list(columns.values())),
        tasks=("cifar10",),
        metrics=tuple(names),
    )
    return Table(space, texts, rows)


def cells(space: str, n: int) -> list[str]:
    rng, made = stream(0, space), get(space)
    return list(dict.fromkeys(str(made.sample(rng)) for _ in range(3 * n)))[:n]


def made_up(name: str, text: str, low: float = 1.0, high: float = 50.0) -> float:
    return low + (high - low) * (derive(0, name, text) % 10_000) / 10_000


def save_tables(folder):
    """Tables of NAS-Bench-101 and 201 with made-up accuracies, in files."""
    for space in ("nasbench101", "nasbench201"):
        texts = cells(space, 30)
        test = np.array([made_up("truth", text, 80, 95) for text in texts])
        short = np.array([made_up("short", text, 40, 80) for text in texts]) + test
        made = table(space, {("test_acc", 200): test, ("val_acc", 12): short}, texts)
        save(made, folder / f"{space}.npz")


@pytest.fixture
def folder(tmp_path):
    save_tables(tmp_path)
    return tmp_path


class MadeUp(Workshop):
    """Proxies whose values are a function of what was asked, so that every number can be computed again."""

    asked_for: list

    def measure(self, sample, asked):
        self.asked_for = [*getattr(self, "asked_for", []), *asked.values()]
        return {name: Measured(np.array([[self.number(one, t) for t in sample.texts]])) for name, one in asked.items()}

    def number(self, one, text):
        if one.proxy == "ntk_cond:hnas" and made_up("deficient", text) < 5:
            return np.nan
        value = made_up(
            repr((one.proxy, one.batch_size, sorted(one.space_settings.items()), one.settings, one.data)), text
        )
        return -value if one.proxy == "grasp" and value < 25 else value


@pytest.fixture
def workshop(folder, monkeypatch):
    monkeypatch.setattr(guarantees, "choose", partial(choose, method="random"))
    monkeypatch.setattr(guarantees, "SUBSET", (4, 100))
    return MadeUp(tables=folder, sample=24, bootstrap=5)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Each page once, with the workshop it was made in."""
    folder, done = tmp_path_factory.mktemp("tables"), {}
    save_tables(folder)

    def page(name):
        if name not in done:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(guarantees, "choose", partial(choose, method="random"))
                patch.setattr(guarantees, "SUBSET", (4, 100))
                workshop = MadeUp(tables=folder, sample=24, bootstrap=5)
                done[name] = reproduce(name, workshop), workshop
        return done[name]

    return page


def lines(page):
    return {(f"{one.group}/{one.row}" if one.group else one.row, one.column): one for one in page.lines}


def values(workshop, sample, one):
    return np.array([workshop.number(one, text) for text in sample.texts])


# -- every table --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TABLES)
def test_every_published_cell_has_a_number_or_a_reason(name, pages):
    page, _ = pages(f"thesis-table-{name}")
    paper = published(f"thesis-table-{name}")
    count = len(paper.rows) * len(paper.columns)
    for line in page.lines[:count]:
        elsewhere = any(word in f"{line.group} {line.row} {line.column}" for word in ("cifar100", "imagenet16"))
        assert (line.ours is None) == elsewhere
        assert ("no table of nasbench201 with" in line.reason) == elsewhere
        if line.ours:
            assert -1 <= line.ours.low <= line.ours.high <= 1
            assert line.ours.n == 24
    extra = {line.row for line in page.lines[count:]}
    assert extra <= {"m-grad", "m-snip", "m-grasp", "m-grad-vs-trace", "m-snip-vs-trace", "m-grasp-vs-trace"}
    assert (len(extra) == 3) == (name in ("7.1", "7.4"))


@pytest.mark.parametrize("name", [*(f"thesis-table-{one}" for one in TABLES), "thesis-figure-7.2", "thesis-figure-7.4"])
def test_without_tables_every_cell_says_why(name, tmp_path):
    page = reproduce(name, Workshop(tables=tmp_path))
    assert page.lines
    assert all(line.ours is None and "no table" in line.reason for line in page.lines)


def test_the_page_says_which_forms_and_what_the_thesis_fitted_on():
    how = load_all()["thesis-table-7.1"].how
    for word in ("zero-cost-nas", "Eq. 7.2 and 7.3", "validation errors", "the thesis chose them on the test errors"):
        assert word in " ".join(how.split())


# -- numbers ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_table_7_5_is_the_correlation_of_each_bound_with_the_error(coefficient, pages, workshop):
    found = lines(pages("thesis-table-7.5")[0])
    sample = workshop.sampled("nasbench201-cifar10")
    condition = values(workshop, sample, kappa())
    condition[np.isnan(condition)] = np.inf
    assert np.isinf(condition).any()
    bounds = Guarantees(workshop, sample, metrics(workshop, sample, base(guarantees.METRICS)))
    for name, proxy in guarantees.METRICS.items():
        metric = np.abs(values(workshop, sample, asked(proxy)))
        mu, nu = bounds.choice(name).mu, bounds.choice(name).nu
        trade_off = mu * (metric**2 - nu) ** 2
        for row, bound in {
            "realizable": 1 / metric,
            "realizable + trade-off": 1 / metric + trade_off,
            "realizable + kappa": condition / metric,
            "non-realizable": condition / metric + trade_off,
        }.items():
            slow = SLOW[coefficient](bound, 100 - sample.truth).statistic
            line = found[f"nasbench201-cifar10/{row}", f"{name}:{coefficient}"]
            assert line.ours.value == pytest.approx(slow)
            assert ("ranked last" in line.reason) == bool(np.isinf(bound).any())


def test_what_the_choice_of_mu_and_nu_is_worth_stands_beside(pages):
    found = lines(pages("thesis-table-7.5")[0])
    for name in guarantees.METRICS:
        for column in (f"{name}:spearman", f"{name}:kendall"):
            without = found["nasbench201-cifar10/realizable + kappa", column].ours.value
            line = found["nasbench201-cifar10/non-realizable", column]
            assert f"{without:.2f} with mu = 0" in line.reason
            assert "with mu and nu of the judged errors, as in the thesis" in line.reason
            assert "mu" not in found["nasbench201-cifar10/realizable", column].reason


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_table_7_4_is_between_two_metrics(coefficient, pages):
    page, workshop = pages("thesis-table-7.4")
    found = lines(page)
    for benchmark in ("nasbench101", "nasbench201-cifar10"):
        sample = workshop.sampled(benchmark)
        grasp, knas = (values(workshop, sample, asked(one)) for one in ("grasp", "m_knas"))
        line = found["gradient-based metrics/KNAS vs. GraSP", f"{benchmark}:{coefficient}"]
        assert line.ours.value == pytest.approx(SLOW[coefficient](np.abs(grasp), knas).statistic)


def test_table_7_6_is_the_mean_over_data_sets(pages):
    page, workshop = pages("thesis-table-7.6")
    found = lines(page)["realizable/nasbench201-cifar10", "snip"]
    sample = workshop.sampled("nasbench201-cifar10")
    one_each = [
        spearmanr(values(workshop, sample, asked("snip", data=data)), sample.truth).statistic
        for data in (None, "synthetic")
    ]
    assert found.ours.value == pytest.approx(np.mean(one_each))
    assert f"standard deviation {np.std(one_each):.3f}" in found.reason


# -- what is asked ------------------------------------------------------------------------------------------------------
def test_what_each_table_varies(pages):
    def seen(table, proxy):
        return {
            (one.batch_size, one.space_settings["channels"], one.settings["initialise"])
            for one in pages(f"thesis-table-{table}")[1].asked_for
            if one.proxy == proxy
        }

    assert seen("7.1", "snip") == {(64, 16, "lecun")}
    assert seen("7.1", "m_trace") == {(16, 16, "lecun")}
    assert seen("7.1", "ntk_cond:hnas") == {(64, 4, "lecun")}
    assert seen("7.9", "ntk_cond:hnas") == {(64, 4, scheme) for scheme in ("lecun", "xavier", "he")}
    assert seen("7.10", "m_trace") == {(size, 16, "lecun") for size in (4, 8, 16, 32, 64)}
    assert seen("7.10", "ntk_cond:hnas") == {(size, 4, "lecun") for size in (4, 8, 16, 32, 64)}
    assert seen("7.11", "grad_norm") == {(64, width, "lecun") for width in (4, 8, 16, 32)}
    assert seen("7.11", "ntk_cond:hnas") == {(64, 4, "lecun"), *((16, width, "lecun") for width in (4, 8, 16, 32))}
    assert {one.space_settings["variant"] for one in pages("thesis-table-7.1")[1].asked_for} == {"reference"}


def test_rows_that_are_the_same_thing_agree(pages):
    """Both parts of Table 7.10 have one row in common."""
    found = lines(pages("thesis-table-7.10")[0])
    for column in ("grad:spearman", "trace:kendall"):
        upper = found["kappa at batch 64, metric batch varies/batch 64", column].ours
        assert upper == found["kappa batch varies, metric at batch 64/batch 64", column].ours
        assert upper != found["kappa at batch 64, metric batch varies/batch 4", column].ours


# -- mu and nu ----------------------------------------------------------------------------------------------------------
def test_mu_and_nu_see_half_of_the_short_trainings_and_no_judged_number(workshop):
    sample = workshop.sampled("nasbench201-cifar10")
    found = metrics(workshop, sample, base(guarantees.METRICS))
    errors = validation_errors(sample)
    places = [sample.table.find(text) for text in sample.texts]
    short = sample.table.values("val_acc_cifar10@12")[places]
    assert errors[:12] == pytest.approx(100 - short[:12])
    assert np.isnan(errors[12:]).all()
    choice = Guarantees(workshop, sample, found).choice("snip")
    other = sample.table.rows.value.copy()
    judged = np.repeat([metric == "test_acc" for metric in ("test_acc", "val_acc")], len(sample.table))
    other[judged] = other[judged][::-1]
    for unseen in sample.texts[12:]:
        other[len(sample.table) + sample.table.find(unseen)] = 7.0
    changed = table(
        "nasbench201",
        {("test_acc", 200): other[judged], ("val_acc", 12): other[~judged]},
        list(sample.table.architectures),
    )
    again = type(sample)(**{**sample.__dict__, "table": changed, "truth": sample.truth[::-1].copy()})
    assert Guarantees(workshop, again, found).choice("snip") == choice
    agreement = spearmanr(errors[:12], 100 - sample.truth[:12]).statistic
    assert any(f"12 architectures they see, these have Spearman {agreement:.3f}" in note for note in workshop.notes)


@pytest.mark.parametrize(("size", "seen"), [(8, 8), (40, 30), (80, 40), (300, 100)])
def test_half_of_the_sample_within_limits_is_seen(size, seen):
    texts = [str(number) for number in range(size)]
    found = table("nasbench201", {("test_acc", 200): np.ones(size), ("val_acc", 12): np.ones(size)}, texts)
    sample = Sample("nasbench201-cifar10", "nasbench201", "cifar10", "test_acc_cifar10", texts, np.ones(size), found)
    assert np.isfinite(validation_errors(sample)).sum() == seen


def test_what_whole_trainings_would_choose_stands_beside_where_the_table_has_them(workshop):
    sample = workshop.sampled("nasbench201-cifar10")
    found = metrics(workshop, sample, base(guarantees.METRICS))
    columns = {"spearman": "spearman"}
    (cell,) = Guarantees(workshop, sample, found).cells("row", columns, "snip", "non_realizable")
    assert "whole trainings" not in cell.reason  # the table has 12 epochs alone
    texts = list(sample.table.architectures)
    test, short = (sample.table.values(name) for name in ("test_acc_cifar10", "val_acc_cifar10@12"))
    longer = table(
        "nasbench201", {("test_acc", 200): test, ("val_acc", 12): short, ("val_acc", 200): test - 1.0}, texts
    )
    fuller = type(sample)(**{**sample.__dict__, "table": longer})
    (cell,) = Guarantees(workshop, fuller, found).cells("row", columns, "snip", "non_realizable")
    assert "with mu and nu of validation errors after whole trainings" in cell.reason
    assert np.isfinite(validation_errors(fuller, epochs=None)).sum() == np.isfinite(validation_errors(fuller)).sum()


def test_mu_and_nu_are_not_chosen_by_what_is_judged(tmp_path, workshop):
    texts = cells("nasbench201", 8)
    only = table("nasbench201", {("val_acc", 12): np.arange(8.0)}, texts)
    save(only, tmp_path / "only.npz")
    (tmp_path / "nasbench201.npz").unlink()
    found = lines(reproduce("thesis-table-7.5", workshop))
    assert "is what the table is judged on" in found["nasbench201-cifar10/non-realizable", "snip:spearman"].reason
    assert found["nasbench201-cifar10/realizable + kappa", "snip:spearman"].ours is not None


def test_without_the_extra_the_other_scenarios_are_still_computed(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "botorch", None)
    found = lines(reproduce("thesis-table-7.5", MadeUp(tables=folder, sample=12, bootstrap=5)))
    assert "foresee[bayes]" in found["nasbench201-cifar10/non-realizable", "snip:spearman"].reason
    assert found["nasbench201-cifar10/realizable", "snip:spearman"].ours is not None


# -- figures ------------------------------------------------------------------------------------------------------------
def test_figure_7_2_draws_what_table_7_4_counts(pages):
    page, _ = pages("thesis-figure-7.2")
    assert [len(one.x) for one in page.scatters] == [24] * 6
    one = next(one for one in page.scatters if one.name == "snip-nasbench101")
    line = lines(page)["SNIP vs. Trace", "nasbench101:spearman"]
    assert line.ours.value == pytest.approx(spearmanr(one.x, one.y).statistic)


def test_figure_7_4_has_bins_and_kappa_within_them(pages):
    page, workshop = pages("thesis-figure-7.4")
    sample = workshop.sampled("nasbench201-cifar10")
    metric, condition = values(workshop, sample, asked("snip")), values(workshop, sample, kappa())
    parts = np.array_split(np.argsort(metric), 4)  # 24 architectures in bins of at least 5
    errors = next(one for one in page.scatters if one.name == "error-snip")
    assert errors.y == pytest.approx([np.mean(100 - sample.truth[part]) for part in parts])
    assert errors.bars == pytest.approx([np.std(sample.truth[part]) for part in parts])
    within = []
    for part in parts:
        there = part[np.isfinite(condition[part])]
        within.append(spearmanr(condition[there], -sample.truth[there]).statistic)
    assert next(one for one in page.scatters if one.name == "kappa-snip").y == pytest.approx(within)
    assert lines(page)["snip", "kappa within bins:spearman"].ours.value == pytest.approx(np.mean(within))
    there = np.isfinite(condition)
    every = spearmanr(condition[there], -sample.truth[there]).statistic
    assert lines(page)["kappa", "kappa over all:spearman"].ours.value == pytest.approx(every)


# -- real networks ------------------------------------------------------------------------------------------------------
def test_table_7_5_of_real_networks(folder, monkeypatch):
    monkeypatch.setattr(guarantees, "choose", partial(choose, method="random"))
    small = {"nasbench201": {"channels": 4, "cells": 1}}
    workshop = Workshop(tables=folder, sample=8, batch_size=4, bootstrap=5, space_settings=small)
    page = reproduce("thesis-table-7.5", workshop)
    ours = [line for line in page.lines if line.group == "nasbench201-cifar10"]
    assert len(ours) == 32
    assert all(line.ours is not None and line.ours.n == 8 for line in ours)
    assert any("mu = " in note and "8 architectures" in note for note in page.notes)
