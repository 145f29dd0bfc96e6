"""Searchers on the real table of NAS-Bench-201, CIFAR-10: what they are good for, in figures with intervals."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from tests.searchers.driving import drive, made

from foresee.searchers.problem import Known, Levels
from foresee.statistics import mean_of_few, ranks_of

ROOT = Path(__file__).parents[2]
SEEDS = range(20)


def column(file: str, name: str) -> dict[str, float]:
    path = Path(os.environ.get("FORESEE_DATA", ROOT.parent / "shared" / "data")) / "nas" / f"{file}.csv.gz"
    if not path.exists():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt") as rows:
        return {row["arch_str"]: float(row[name]) for row in csv.DictReader(rows) if row[name]}


def best_so_far(name, values, marks, **settings):
    """(seeds, marks): the best value after so many evaluations."""
    known, found = Known(values), []
    for seed in SEEDS:
        searcher = made(name, max(marks), seed=seed, objectives=("measured",), measure=known, settings=settings)
        _, results = drive(searcher, lambda one: values[str(one)])
        best = np.maximum.accumulate([result.merit for result in results])
        found.append([best[mark - 1] for mark in marks])
    return np.array(found)


@pytest.mark.parametrize("proxy", ["nwot", "synflow"])
def test_aging_evolution_beats_random_search_from_twice_its_population_on(proxy):
    """On the same proxy and seeds; values are ranks, the share of the table that is below."""
    raw = column("nb201_proxies_cifar10", proxy)
    values = dict(zip(raw, (ranks_of(list(raw.values())) / len(raw)).tolist(), strict=True))
    marks = [48, 72, 96]
    lead = best_so_far("evolution", values, marks, population=24, sample=6) - best_so_far("random", values, marks)
    for place in range(len(marks)):
        assert mean_of_few(lead[:, place].tolist()).low > 0


def picked(name, evaluations, values, measure=None, **settings):
    """Test accuracy of the best that a search by validation accuracy finds, the mean over seeds."""
    test, found = column("nb201_cifar10", "test_acc_cifar10"), []
    for seed in SEEDS:
        known = measure or Known(values)
        searcher = made(name, evaluations, seed=seed, objectives=("measured",), measure=known, settings=settings)
        _, results = drive(searcher, lambda one: values[str(one)])
        found.append(test[str(max(results, key=lambda result: result.merit).architecture)])
    return mean_of_few(found)


@pytest.mark.slow
def test_the_baselines_of_the_benchmark_are_where_they_were_published():
    """Thesis Table 7.3 (from NAS-Bench-201): REA 93.92, random 93.70, REINFORCE 93.85, on CIFAR-10, about 100 evaluations."""
    valid = column("nb201_cifar10", "e12_val_acc_cifar10")
    random = picked("random", 100, valid)
    assert random.low < 93.70 < random.high
    learned = picked("reinforce", 100, valid, lr=0.01)
    assert learned.low < 93.85 < learned.high
    assert picked("evolution", 100, valid, population=10, sample=3, replacement=True).value > 93.9
    assert picked("local_search", 100, valid).value > random.value
    assert picked("genetic", 100, valid, population=20, mutations=8, crossovers=8).value > random.value


@pytest.mark.slow
def test_cheap_levels_help():
    """Looking at 12-epoch accuracies first finds more with 20 full trainings than 20 random ones do."""
    cheap, dear = column("nb201_cifar10", "e12_val_acc_cifar10"), column("nb201_cifar10", "naslib_val_cifar10")
    halved = picked("successive_halving", 20, dear, Levels({"12 epochs": cheap, "200 epochs": dear}))
    assert halved.low > picked("random", 20, dear).value
