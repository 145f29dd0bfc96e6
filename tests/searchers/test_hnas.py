"""HNAS: the objective selects, the model steers, validation results alone are seen, and a run resumes exactly."""

from __future__ import annotations

import csv
import gzip
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from foresee.errors import InfeasibleError, InputError, MissingExtraError, UnknownNameError
from foresee.scoring import Cache, Scorer, ScoringSettings
from foresee.searchers import search
from foresee.searchers.base import make
from foresee.searchers.hnas import GRID, PART
from foresee.searchers.pool import drawn
from foresee.searchers.problem import Known, Problem, objectives_of
from foresee.testing import SearcherSuite

SMALL = {"channels": 2, "cells": 1}
KAPPA = "ntk_cond:hnas"


class TestRandomPoints(SearcherSuite):
    """Without the extra: random points of (mu, nu), a metric that costs nothing."""

    searcher = "hnas"
    settings = {"pool": 18, "metric": "params", "kappa": False, "method": "random"}


class TestBayes(SearcherSuite):
    """As in the thesis, on networks of no size, of two widths, with few evaluations."""

    searcher = "hnas"
    settings = {"pool": 8, "metric": "m_grad", "kappa_settings": {"channels": 1}, "probes": 3}
    proxies = ("params",)
    evaluations = 6
    interruptions = (1, 5)

    @pytest.fixture(autouse=True)
    def _extra(self):
        pytest.importorskip("botorch")

    def asked(self, **changes):
        return super().asked(**{"batch_size": 4, **changes})


# -- a pool that is known ---------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def space():
    return Scorer("nasbench201", ScoringSettings(proxies=("params",)), space_settings=SMALL).space


@pytest.fixture(scope="module")
def cells(space):
    """Sixty cells with a metric, kappa, and accuracies that are best where M^2 is 25 and kappa is small."""
    problem = Problem(Scorer("nasbench201", ScoringSettings(proxies=("params",)), space_settings=SMALL))
    texts = [str(one) for one in drawn(problem, 60, seed=1)]
    rng = random.Random(0)
    rows = [(text, rng.uniform(1, 9), rng.uniform(1, 50)) for text in texts]
    accuracy = {text: 90 - abs(metric**2 - 25) / 5 - kappa / 50 for text, metric, kappa in rows}
    return rows, accuracy


@pytest.fixture
def pool_file(tmp_path, cells):
    path = tmp_path / "pool.csv"
    write(path, ["architecture", "m_trace", KAPPA], cells[0])
    return path


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def found(measured, out=None, evaluations=10, seed=0, proxies=("params",), objectives=("measured",), **settings):
    return search(
        "nasbench201",
        proxies,
        "hnas",
        evaluations=evaluations,
        seed=seed,
        data="synthetic",
        space_settings=SMALL,
        objectives=objectives,
        measured=measured,
        searcher_settings=settings,
        out=out,
    )


def choices(run):
    return [step.outcome for step in run.record.steps if step.kind != "pool parts"]


def test_each_candidate_minimises_the_objective_among_those_not_evaluated_yet(cells, pool_file):
    rows, accuracy = cells
    for form, power in (("squared", 2), ("absolute", 1)):
        run = found(accuracy, pool_file=str(pool_file), method="random", form=form)
        taken = set()
        for outcome, row in zip(choices(run), run.record.candidates, strict=True):
            mu, nu = (10**value for value in outcome["point"])
            bound = {t: k / (m + 1e-6) + mu * abs(m**2 - nu) ** power for t, m, k in rows if t not in taken}
            assert row.architecture == outcome["architecture"] == min(bound, key=bound.get)
            taken.add(row.architecture)
        assert run.record.best.merit == max(accuracy[row.architecture] for row in run.record.candidates)


def test_the_model_steers_to_what_validates_best(cells, pool_file):
    pytest.importorskip("botorch")
    _, accuracy = cells
    means = []
    for method in ("bayes", "random"):
        runs = [found(accuracy, pool_file=str(pool_file), method=method, seed=seed) for seed in range(2)]
        means.append(np.mean([[row.merit for row in run.record.candidates[5:]] for run in runs]))
    assert means[0] > means[1] + 0.5


def test_the_first_probes_lie_along_nu_and_then_the_model_is_kept_for_people(cells, pool_file):
    pytest.importorskip("botorch")
    run = found(cells[1], pool_file=str(pool_file), evaluations=7, probes=3, acquisition="ucb")
    points = np.array([one["point"] for one in choices(run)])
    (least, low), (most, high) = choices(run)[0]["box"]
    assert points[:3, 0] == pytest.approx([(least + most) / 2] * 3)
    assert points[:3, 1] == pytest.approx([low, (low + high) / 2, high])
    assert [one["model"] is None for one in choices(run)] == [True] * 3 + [False] * 4
    seen = choices(run)[-1]["model"]
    assert np.array(seen["mean"]).shape == np.array(seen["gain"]).shape == (GRID, GRID)
    assert seen["here"]["gain"] == pytest.approx(seen["here"]["mean"] + 2.576 * seen["here"]["deviation"], rel=1e-4)
    assert seen["here"]["gain"] >= max(max(row) for row in seen["gain"]) - 0.5  # the best of many evenly spread points


def test_without_kappa_it_is_one(cells, tmp_path):
    rows, accuracy = cells
    path = tmp_path / "metric.csv"
    write(path, ["architecture", "m_trace"], [row[:2] for row in rows])
    run = found(accuracy, pool_file=str(path), kappa=False, method="random", evaluations=3)
    for outcome in choices(run):
        mu, nu = (10**value for value in outcome["point"])
        least = min(1 / (m + 1e-6) + mu * (m**2 - nu) ** 2 for _, m, _ in rows)
        assert outcome["objective"] >= least * 0.999
    with pytest.raises(UnknownNameError, match="column of"):
        found(accuracy, pool_file=str(path), method="random")


def test_the_metric_counts_without_its_sign(cells, tmp_path):
    rows, accuracy = cells
    for sign in (1, -1):
        write(tmp_path / f"{sign}.csv", ["architecture", "grasp"], [(text, sign * m) for text, m, _ in rows])
    how = {"metric": "grasp", "kappa": False, "method": "random", "evaluations": 4}
    runs = [found(accuracy, pool_file=str(tmp_path / f"{sign}.csv"), **how) for sign in (1, -1)]
    assert choices(runs[0]) == choices(runs[1])


def test_what_has_no_score_is_taken_last(cells, tmp_path):
    rows, accuracy = cells
    some = [(text, *("" if i % 4 == 0 else m, "nan" if i % 4 == 1 else "inf" if i % 4 == 2 else k))
            for i, (text, m, k) in enumerate(rows[:12])]  # fmt: skip
    path = tmp_path / "holes.csv"
    write(path, ["architecture", "m_trace", KAPPA], some)
    run = found(accuracy, pool_file=str(path), method="random", evaluations=12)
    order = [row.architecture for row in run.record.candidates]
    assert set(order[:3]) == {some[i][0] for i in (3, 7, 11)}
    assert order[3:] == [some[i][0] for i in range(12) if i % 4 != 3]
    assert run.status == "finished"
    assert len(found(accuracy, pool_file=str(path), method="random", evaluations=20).record.candidates) == 12


def test_a_result_that_does_not_exist_is_not_shown_to_the_model(cells, pool_file):
    pytest.importorskip("botorch")

    def holed(texts):
        return [None if i_of(text) % 3 == 0 else cells[1][text] for text in texts]

    def i_of(text):
        return [row[0] for row in cells[0]].index(text)

    run = found(holed, pool_file=str(pool_file), evaluations=12)
    assert {row.status for row in run.record.candidates} == {"failed", "scored"}
    assert run.status == "finished"


def test_only_the_validation_column_is_seen(cells, pool_file, tmp_path):
    """The search is given validation results; whatever stands in the column it is judged by, the run is the same."""
    from foresee.benchmarks.formats import load
    from foresee.benchmarks.measuring import Measuring

    rows, accuracy = cells
    runs, texts = [], [row[0] for row in rows]
    for shift in (0, 7):
        test = {text: accuracy[texts[(i + shift) % len(texts)]] for i, text in enumerate(texts)}
        path = tmp_path / f"table{shift}.csv"
        lines = [(t, name, column[t]) for t in texts for name, column in (("val_acc", accuracy), ("test_acc", test))]
        write(path, ["architecture", "metric", "value"], lines)
        table = load(path, space="nasbench201")
        measuring = Measuring(table, "val_acc", Scorer("nasbench201", ScoringSettings(proxies=("params",))).space)
        runs.append(found(measuring, pool_file=str(pool_file), method="random"))
        assert list(table.values("test_acc")) == [test[text] for text in table.architectures]
    first, second = ([(r.architecture, dict(r.objectives)) for r in run.record.candidates] for run in runs)
    assert first == second
    assert choices(runs[0]) == choices(runs[1])


# -- pools ------------------------------------------------------------------------------------------------------------------
def pool_of(run):
    return {t: m for step in run.record.steps if step.kind == "pool parts"
            for t, m in zip(step.outcome["architecture"], step.outcome["params"], strict=True)}  # fmt: skip


CHEAP = {"metric": "params", "kappa": False, "method": "random"}


def test_one_pool_serves_many_seeds():
    runs = [
        found(None, objectives=("params",), evaluations=3, seed=seed, pool=40, pool_seed=5, resample=True, **CHEAP)
        for seed in (1, 2)
    ]
    own = found(None, objectives=("params",), evaluations=3, seed=5, pool=40, **CHEAP)
    assert pool_of(runs[0]) == pool_of(runs[1]) == pool_of(own)
    assert len(pool_of(own)) == 40
    assert [len(step.outcome["architecture"]) for step in own.record.steps[:2]] == [PART, 40 - PART]
    problem = Problem(Scorer("nasbench201", ScoringSettings(proxies=("params",), seed=1), space_settings=SMALL))
    members = []
    for resample in (True, False):
        searcher = make("hnas", problem, {"pool": 40, "pool_seed": 5, "resample": resample, **CHEAP})
        for number in range(searcher.parts):
            searcher.advance(number, searcher.step(number))
        members.append(searcher._members["architecture"])
    assert set(members[0]) < set(members[1])
    assert 20 <= len(members[0]) <= 30  # 1 - 1/e of them


def test_of_a_longer_file_the_seed_draws_a_pool(cells, pool_file):
    def pools(**settings):
        run = found(cells[1], pool_file=str(pool_file), method="random", evaluations=1, pool=30, **settings)
        (step,) = [one for one in run.record.steps if one.kind == "pool parts"]
        return step.outcome["architecture"]

    assert len(pools(seed=1)) == 30
    assert pools(seed=1) == pools(seed=2, pool_seed=1) != pools(seed=2)


def test_a_pool_of_a_file_is_as_one_that_is_scored(tmp_path):
    """What is drawn and scored by a run, written to a file, gives the same run."""
    how = {"objectives": ("params",), "evaluations": 4, "pool": 10, "metric": "grad_norm", "kappa": False}
    first = found(None, method="random", **how)
    (step,) = [one for one in first.record.steps if one.kind == "pool parts"]
    path = tmp_path / "pool.csv"
    write(
        path, ["architecture", "grad_norm"], zip(step.outcome["architecture"], step.outcome["grad_norm"], strict=True)
    )
    again = found(None, method="random", pool_file=str(path), **how)
    assert choices(first) == choices(again)


def test_kappa_and_metric_may_be_of_other_widths_and_are_taken_from_the_cache(tmp_path):
    asked = []
    made = Scorer(
        "nasbench201", ScoringSettings(proxies=("params",), data="synthetic", batch_size=4), space_settings=SMALL
    )

    def counting(texts, names, seed, changed):
        asked.append((len(texts), names, changed))
        return problem._here(texts, names, seed, changed)

    wide, narrow = {"channels": 4}, {"channels": 1}
    settings = {"metric": "m-grad", "pool": 3, "metric_settings": wide, "kappa_settings": narrow, "method": "random"}
    outcomes = []
    for _ in range(2):
        with Cache(tmp_path / "scores.sqlite") as cache:
            problem = Problem(made, objectives=objectives_of((), made), cache=cache, gather=counting)
            outcomes.append(make("hnas", problem, settings).step(0))
    assert asked == [(3, ("m_grad",), wide), (3, (KAPPA,), narrow)]
    assert outcomes[0] == outcomes[1]
    cell = problem.space.parse(outcomes[0]["architecture"][0])
    for name, changed in (("m_grad", wide), (KAPPA, narrow)):
        other = Scorer("nasbench201", made.settings, space_settings={**SMALL, **changed})
        assert Problem(other).scores([cell], [name])[0][name].value == outcomes[0][name][0]
    problem.cache = None
    alike = make("hnas", problem, {**settings, "metric": "m_trace", "metric_settings": narrow, "pool": 2})
    asked.clear()
    alike.step(0)
    assert asked == [(2, ("m_trace", KAPPA), narrow)]  # one kernel for both


@pytest.mark.slow
def test_on_a_real_table_it_finds_better_cells_than_random_search(tmp_path):
    """Validation accuracies after 12 epochs are followed, test accuracies after 200 judge; synflow of others, kappa = 1."""
    from foresee.benchmarks.formats import load
    from foresee.benchmarks.measuring import Measuring
    from foresee.spaces import get

    folder = Path(os.environ.get("FORESEE_DATA", Path(__file__).parents[3] / "shared" / "data")) / "nas"
    if not (folder / "nb201_proxies_cifar10.csv.gz").exists():
        pytest.skip("no nas/nb201_proxies_cifar10.csv.gz under FORESEE_DATA")
    with gzip.open(folder / "nb201_proxies_cifar10.csv.gz", "rt") as file:
        write(
            tmp_path / "pool.csv",
            ["architecture", "synflow"],
            [(r["arch_str"], r["synflow"]) for r in csv.DictReader(file)],
        )
    table = load(folder / "nb201_cifar10.csv.gz")
    test = dict(zip(table.architectures, table.values("test_acc_cifar10"), strict=True))
    measured = Measuring(table, "val_acc_cifar10@12", get("nasbench201"))
    runs = [
        search(
            "nasbench201", ["params"], searcher, evaluations=20, seed=seed, data="synthetic", objectives=["measured"],
            measured=measured, searcher_settings=settings,
        )
        for searcher, settings in (
            ("hnas", {"metric": "synflow", "kappa": False, "method": "random", "pool_file": str(tmp_path / "pool.csv")}),
            ("random", {}),
        )
        for seed in range(8)
    ]  # fmt: skip
    found = [test[run.record.best.architecture] for run in runs]
    assert np.mean(found[:8]) > np.mean(found[8:]) + 0.2
    assert np.mean(found[:8]) > 93.5


# -- mistakes ---------------------------------------------------------------------------------------------------------------
@pytest.fixture
def problem(cells):
    made = Scorer("nasbench201", ScoringSettings(proxies=("params",)), space_settings=SMALL)
    return Problem(made, objectives=objectives_of(("measured",), made), measure=Known(cells[1]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rows"),
        ("architecture,m_trace\n", "no rows"),
        ("architecture,m_trace\n{cell},1\n", r"column of .*did you mean|column of .*there are"),
        ("text,m_trace,ntk_cond:hnas\n{cell},1,2\n", "architecture"),
        ("architecture,m_trace,ntk_cond:hnas\n{cell},1\n", "row 2: 2 entries, expected 3"),
        ("architecture,m_trace,ntk_cond:hnas\n{cell},1,2\n{cell},x,2\n", "row 3: m_trace is 'x'"),
        ("architecture,m_trace,ntk_cond:hnas\nnonsense,1,2\n", "row 2: 'nonsense' is no architecture of nasbench201"),
        ("architecture,m_trace,m_trace\n{cell},1,2\n", "twice"),
        ('architecture,m_trace,ntk_cond:hnas\n"{cell},1,2\n', "not a csv file"),
        ("\x00\udc80", "not a csv file"),
    ],
)
def test_a_pool_file_is_checked(problem, cells, tmp_path, text, said):
    path = tmp_path / "bad.csv"
    path.write_bytes(text.replace("{cell}", cells[0][0][0]).encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=said):
        make("hnas", problem, {"pool_file": str(path), "method": "random"})


def test_a_pool_file_that_is_not_there_or_of_which_nothing_fits_is_said(problem, cells, tmp_path):
    with pytest.raises(InputError, match="No such file"):
        make("hnas", problem, {"pool_file": str(tmp_path / "none.csv"), "method": "random"})
    path = tmp_path / "unmeasured.csv"
    write(path, ["architecture", "m_trace", KAPPA], cells[0])
    stranger = Problem(problem.scorer, objectives=problem.objectives, measure=Known({"another": 1.0}))
    with pytest.raises(InfeasibleError, match="no architecture of 60 is known"):
        make("hnas", stranger, {"pool_file": str(path), "method": "random"})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"metric": "m_trase"}, "unknown proxy 'm_trase'"),
        ({"form": "cubed"}, "unknown hnas.form 'cubed'"),
        ({"method": "bayse"}, "did you mean bayes"),
        ({"acquisition": "pi"}, "hnas.acquisition"),
        ({"kappa": 1}, "expected true or false"),
        ({"pool": 0}, "hnas.pool = 0"),
        ({"pool_seed": "1"}, "hnas.pool_seed = '1'"),
        ({"mu": [1, 0]}, "hnas.mu"),
        ({"nu": "wide"}, "hnas.nu"),
        ({"nu": [0, float("nan")]}, "hnas.nu"),
        ({"kappa_settings": 4}, "settings of the space"),
        ({"kappa_settings": {"chanels": 4}}, "did you mean channels"),
        ({"pool_file": 3}, "expected a path"),
    ],
)
def test_mistakes_are_named(problem, settings, said):
    with pytest.raises(InputError, match=said):
        make("hnas", problem, {"method": "random", **settings})


def test_bayes_needs_its_extra_and_says_so_before_anything_is_spent(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "botorch", None)
    with pytest.raises(MissingExtraError, match=r"foresee\[bayes\]"):
        make("hnas", problem, {})
    assert make("hnas", problem, {"method": "random"}).method == "random"


def test_what_is_said_of_mu_and_nu_is_the_box(problem, pool_file):
    searcher = make("hnas", problem, {"pool_file": str(pool_file), "method": "random", "mu": [-4, 0], "nu": [1, 1]})
    searcher.advance(0, searcher.step(0))
    assert searcher._box.tolist() == [[-4.0, 0.5], [0.0, 1.5]]


def test_bars_say_pool_and_choices(problem):
    searcher = make("hnas", problem, {"pool": 100, "method": "random"})
    assert [searcher.step_place(number) for number in (0, 3, 4)] == [
        ("pool parts", 1, 4), ("pool parts", 4, 4), ("choices of mu and nu", 1, 1),
    ]  # fmt: skip
