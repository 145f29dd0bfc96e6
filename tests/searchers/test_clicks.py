"""Click logs through search, warm-up, training and export: encoded once, and alike ever after."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tests import clicks

import foresee as fs
from foresee.data import load
from foresee.data.clicks.clicks import Clicks
from foresee.data.clicks.preprocessing import Preprocessing
from foresee.errors import DataError, InputError, SettingsMismatchError
from foresee.searchers.foremost import foremost, train_best
from foresee.searchers.run import Run
from foresee.training.encoding import beside
from foresee.training.loading import load as load_training
from foresee.training.loop import train
from foresee.training.sources import sources

QUICK = {"epochs": 1, "batch": 64}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORESEE_PREPARED", str(folder / "prepared"))
        yield folder


@pytest.fixture(scope="module")
def log(place):
    clicks.write_schema(place / "schema.toml")
    return clicks.write_log(place / "clicks.csv")


@pytest.fixture(scope="module")
def run(place, log):
    return fs.search(
        "nasrec_small",
        ["sigeo"],
        "batch_evolution",
        evaluations=14,
        finalists=0,
        data=str(log),
        schema=str(place / "schema.toml"),
        warmup="1%",
        space_settings=clicks.TINY,
        searcher_settings={"population": 6, "sample": 3, "children": 4},
        out=place / "run",
    )


def test_a_small_log_has_a_limit_that_is_said(run):
    tables = 16 * sum(run.best.task.vocabularies)
    assert run.record.settings["limits"] == {"params": {"max": 60_000 + tables}}
    said = [event.details for event in run.record.events if event.kind == "limited"]
    assert [one["limits"] for one in said] == [run.record.settings["limits"]]
    assert 0 < said[0]["samples"] < 200_000


def test_a_run_keeps_the_limit_that_was_usual_when_it_began(run, place, log, monkeypatch):
    monkeypatch.setattr("foresee.spaces.nasrec.space.AT_LEAST", 70_000)
    asked = {
        key: run.record.settings[key] for key in ("data", "schema", "warmup", "space_settings", "searcher_settings")
    }
    again = fs.search(
        "nasrec_small",
        ["sigeo"],
        "batch_evolution",
        evaluations=14,
        finalists=0,
        out=place / "run",
        resume=True,
        **asked,
    )
    assert again.record.settings["limits"] == run.record.settings["limits"]


def test_who_asks_for_a_limit_has_that_one_alone(place, log, tmp_path):
    asked = {"data": str(log), "schema": str(place / "schema.toml"), "space_settings": clicks.TINY, "finalists": 0}
    found = fs.search(
        "nasrec_small", ["params"], "random", [fs.budgets.params < 1e9], evaluations=2, out=tmp_path / "r", **asked
    )
    assert found.record.settings["limits"] == {"params": {"below": 1_000_000_000}}
    assert not [event for event in found.record.events if event.kind == "limited"]


def everything(source):
    """All rows that a source hands out, in order."""
    batches = list(source.all(64))
    return [torch.cat(same) for same in zip(*((*one.parts, one.labels) for one in batches), strict=True)]


def test_the_run_keeps_how_rows_were_encoded(run, place, log):
    kept = Preprocessing.load(run.folder / "preprocessing")
    seen = load(log, schema=place / "schema.toml")
    assert kept.fingerprint == seen.preprocessing.fingerprint
    assert run.record.settings["schema"] == str(place / "schema.toml")
    assert run.record.environment["task"]["vocabularies"] == list(kept.vocabularies)
    assert tuple(run.best.task.vocabularies) == kept.vocabularies


def test_the_warm_up_has_its_least_steps_and_says_so(run):
    told = next(event.details for event in run.record.events if event.kind == "warmup")
    assert (told["steps"], told["stated_steps"]) == (20, 1)
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "20 steps (the least; 1% would be 1)" in page
    assert "2 numbers and 3 categories" in page


def test_a_training_beside_the_run_sees_the_very_tensors_of_the_search(run, place, log):
    seen = load(log, schema=place / "schema.toml")
    found = sources(str(log), preprocessing=beside(run.folder / "best.json"))
    for one, other in zip(everything(found.train), everything(sources(seen).train), strict=True):
        assert torch.equal(one, other)
    trained = train(str(run.folder / "best.json"), str(log), out=place / "trained", **QUICK)
    assert trained.recipe.name == "ctr_small"
    assert trained.preprocessing.fingerprint == beside(run.folder).fingerprint == beside(place / "trained").fingerprint
    assert load_training(place / "trained").preprocessing.fingerprint == trained.preprocessing.fingerprint


def test_another_file_is_encoded_by_the_same_vocabularies(run, place):
    other = clicks.write_log(place / "other.csv", 90, seed=5)
    kept = beside(run.folder)
    found = sources(str(other), preprocessing=kept)
    assert found.train.task.vocabularies == kept.vocabularies
    assert {found.validation.preprocessing.fingerprint, found.train.preprocessing.fingerprint} == {kept.fingerprint}
    fresh = load(other, schema=place / "schema.toml")
    assert fresh.preprocessing.fingerprint != kept.fingerprint


def test_a_file_of_other_columns_is_refused_with_their_names(run, place):
    odd = clicks.write_log(place / "odd.csv", 60, columns=("label", "age", "count", "device", "hour"))
    with pytest.raises((DataError, InputError), match="site"):
        train(str(run.folder / "best.json"), str(odd), **QUICK)


def test_another_schema_than_the_one_it_was_found_by_is_refused(run, log):
    with pytest.raises(SettingsMismatchError, match="leave the schema out"):
        train(str(run.folder / "best.json"), str(log), schema="criteo", **QUICK)


def test_the_foremost_are_those_of_the_history(run):
    """The first population is no part of it: whom the published search trains are children."""
    named = run.record.foremost
    children = [row.id for row in run.record.scored if row.id >= 6]
    assert len(named) == 4
    assert set(named) <= set(children)
    rows = foremost(run.record, 4)
    assert rows[0].id == run.record.best.id
    assert {row.id for row in rows} == set(named)
    merits = {row.id: row.merit for row in run.record.scored}
    assert [merits[one] for one in named] == sorted((merits[one] for one in named), reverse=True)


def test_the_best_of_the_foremost_is_named_by_log_loss(run, place):
    found = train_best(Run.open(run.folder), 2, "ctr", batch=64)
    losses = [one.trained.validation.loss for one in found.foremost]
    assert found.best.trained.validation.loss == min(losses)
    plain = json.loads((run.folder / "trained.json").read_text(encoding="utf-8"))
    assert plain["foremost"][0]["validation"]["auc"] is not None
    assert beside(found.best.trained.folder).fingerprint == beside(run.folder).fingerprint


def test_raw_rows_are_served_as_they_were_trained_on(run, place, log):
    """Rows as dictionaries give what the batch of the prepared file gives, to the last bit, also by `use.py`."""
    trained = train(str(run.folder / "best.json"), str(log), "ctr", out=place / "served", batch=64)
    made = fs.export(place / "served", place / "exported", ["safetensors", "torch_export"])
    assert made.description.preprocessing == trained.preprocessing.fingerprint
    network = fs.load_exported(place / "exported")
    raw = clicks.rows(400)
    batch = network.preprocessing.rows(raw)
    everyone = Clicks(load(log, preprocessing=beside(place / "served")).folder, "all")
    held = {_key(*row): row for row in zip(*(part for one in everyone.epoch(400) for part in one.parts), strict=True)}
    for dense, sparse in zip(*batch.parts, strict=True):
        assert _key(dense, sparse) in held
    first = trained.network(*batch.parts).sigmoid()
    assert torch.equal(network(*batch.parts).sigmoid(), first)
    unlabelled = [{key: value for key, value in row.items() if key != "label"} for row in raw]
    assert torch.equal(network(*network.preprocessing.rows(unlabelled).parts).sigmoid(), first)
    use = _module(place / "exported" / "use.py")
    np.testing.assert_allclose(use.probabilities(raw), first[:, 0].detach().numpy(), atol=1e-5)


def _key(dense, sparse):
    return (dense.numpy().tobytes(), sparse.numpy().tobytes())


def _module(path: Path):
    made = importlib.util.spec_from_file_location("use_of_export", path)
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def test_a_run_is_not_resumed_with_another_schema(run, place, log):
    with pytest.raises((SettingsMismatchError, InputError), match="schema"):
        fs.search(
            "nasrec_small",
            ["sigeo"],
            "batch_evolution",
            evaluations=14,
            finalists=0,
            data=str(log),
            warmup="1%",
            space_settings=clicks.TINY,
            searcher_settings={"population": 6, "sample": 3, "children": 4},
            out=place / "run",
            resume=True,
        )
