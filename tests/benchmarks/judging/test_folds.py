"""Folds: every row in the test once, nothing of the test elsewhere, preprocessing of training rows alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.benchmarks.judging.logs import csv, features

from foresee.benchmarks.judging.folds import Ground, folded
from foresee.errors import InputError


def test_every_row_is_in_the_test_once():
    data = features()
    seen = []
    for fold in range(4):
        parts = folded(data, 4, fold, share=0.2, seed=3)
        rows = [set(part._rows.tolist()) for part in (parts.train, parts.validation, parts.test)]
        assert sum(map(len, rows)) == len(set.union(*rows)) == len(data)
        assert len(rows[1]) == round(0.2 * (len(rows[0]) + len(rows[1])))
        assert parts.test.like is parts.train
        seen += sorted(rows[2])
    assert sorted(seen) == list(range(len(data)))


def test_folds_depend_on_the_seed_alone():
    data = features()
    first, again, other = (folded(data, 3, 1, seed=seed).test for seed in (0, 0, 1))
    assert first.fingerprint == again.fingerprint != other.fingerprint


def test_a_raw_log_is_prepared_anew_for_each_fold(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESEE_CACHE", str(tmp_path / "cache"))
    log, schema = csv(tmp_path)
    ground = Ground(str(log), str(schema), folds=3, share=0.2)
    parts = [ground.fold(number) for number in range(3)]
    assert sum(len(one.test) for one in parts) == 120
    for one in parts:
        assert len(one.train) + len(one.validation) + len(one.test) == 120
        assert one.test.preprocessing.fingerprint == one.train.preprocessing.fingerprint
    assert len({one.train.preprocessing.fingerprint for one in parts}) == 3
    # rows of a test are nobody else's: the numbers are told apart by their prices
    prices = [np.concatenate([b.inputs[0].numpy() for b in p.test.epoch(50, shuffle=False)]) for p in parts]
    assert sum(map(len, prices)) == 120
    assert ground.words["samples"] == 120
    assert ground.words["schema"]["label"] == "clicked"


def test_what_cannot_be_cut_is_said():
    data = features()
    for folds, fold in ((1, 0), (3, 3), (500, 0)):
        with pytest.raises(InputError, match="2 folds or more"):
            folded(data, folds, fold)
    with pytest.raises(InputError, match="only a raw click log"):
        _ = Ground(data, "criteo").raw
    assert torch.is_tensor(data.batch(2).labels)
