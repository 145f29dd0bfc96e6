"""Networks compared on folds: every row held out once, the worse half leaves, nothing is made twice, test rows unseen."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import torch
from tests import clicks

import foresee as fs
from foresee.errors import InputError, TrainingError
from foresee.runs.events import Announcer
from foresee.searchers import repeated
from foresee.searchers.foremost import foremost, summary, train_best
from foresee.searchers.looks import Compared, Look
from foresee.searchers.repeated import Asked, compared, expected, held_out, usual_looks
from foresee.training.evaluations import Evaluation
from foresee.training.recipe import recipe

QUICK = recipe("ctr_small", epochs=1, batch=64)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORESEE_PREPARED", str(folder / "prepared"))
        clicks.write_schema(folder / "schema.toml")
        clicks.write_log(folder / "clicks.csv")
        yield folder


@pytest.fixture(scope="module")
def run(place):
    asked = {"data": str(place / "clicks.csv"), "schema": str(place / "schema.toml"), "space_settings": clicks.TINY}
    return fs.search("nasrec_small", ["params"], "random", evaluations=6, finalists=0, out=place / "run", **asked)


def test_rows_of_the_test_are_never_looked_at(run, place):
    asked = Asked(str(place / "clicks.csv"), QUICK, 3, encoded={"schema": str(place / "schema.toml")})
    parts = [held_out(asked, fold) for fold in range(3)]
    whole = sum(len(fs.data.load(asked.data, split=part, **asked.encoded)) for part in ("train", "val"))
    assert sum(len(held) for _, held in parts) == whole
    assert all(len(learnt) + len(held) == whole for learnt, held in parts)
    own = held_out(asked, None)
    assert [one.name.rpartition("/")[2] for one in own] == ["train", "val"]


def test_the_winner_is_chosen_on_folds_and_written(run, place):
    found = train_best(run, 4, QUICK, folds=2)
    assert [len(one.compared.looks) for one in found.foremost] == [2] * 4
    losses = [one.compared.to_json()["loss"] for one in found.foremost]
    assert found.best.compared.to_json()["loss"] == min(losses)
    assert [one.trained is not None for one in found.foremost] == [one is found.best for one in found.foremost]
    assert "8 trainings" in found.said
    assert json.loads((place / "run" / "best.json").read_text())["id"] == found.best.id
    assert summary(place / "run")["best"] == found.best.id
    fs.report.write(place / "run", run.record, run.made_space)
    assert "Mean of all looks" in (place / "run" / "report.html").read_text()
    # what is there is not made again, whoever works
    seen = []
    again = train_best(run, 4, QUICK, folds=2, workers=2, observers=[seen.append])
    assert again.best.id == found.best.id
    assert all(event.details["replayed"] for event in seen if event.kind == "step")
    # another question has other answers
    asked = Asked(run.record.settings["data"], QUICK.but(lr=5e-3), 2, encoded={"schema": str(place / "schema.toml")})
    other = compared([found.best.candidate], asked, place / "run" / "trained" / "compared", 1, Announcer())
    assert other[0].to_json()["loss"] != min(losses)


def test_small_logs_are_compared_by_themselves(run, place):
    encoded = {"schema": str(place / "schema.toml")}
    assert usual_looks(run.best, str(place / "clicks.csv"), encoded) == (5, 1)
    text = (place / "schema.toml").read_text()
    (place / "order.toml").write_text(text.replace('"random"', '"order"'))
    assert usual_looks(run.best, str(place / "clicks.csv"), {"schema": str(place / "order.toml")}) == (0, 5)
    images = fs.search("nasbench201", ["params"], "random", evaluations=1, finalists=0, data="digits")
    assert usual_looks(images.best, "digits", {}) == (0, 1)


def test_half_of_them_come_from_all_sizes(run):
    by_merit, by_size = foremost(run.record, 4), foremost(run.record, 4, by_size=True)
    assert by_size[:2] == by_merit[:2]
    rest = sorted((row for row in run.record.scored if row not in by_merit[:2]), key=lambda row: row.counts["params"])
    small, large = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    assert {row.id for row in by_size[2:]} == {max(half, key=lambda row: row.merit).id for half in (small, large)}
    assert len(foremost(run.record, 99, by_size=True)) == len(foremost(run.record, 99))


def evaluated(loss):
    return Evaluation(samples=9, loss=loss, observed=0.5)


def test_the_worse_half_leaves(run, monkeypatch):
    candidates = [run.candidate(row) for row in foremost(run.record, 6)]
    ids = [one.details["id"] for one in candidates]

    def pretended(job):
        place = ids.index(job.candidate.details["id"])
        failed = place == 0 and job.fold == 1
        return Look(ids[place], job.fold, job.seed, None if failed else evaluated(place), "no" if failed else "", 1.0)

    monkeypatch.setattr(repeated._Job, "run", pretended)
    monkeypatch.setattr(repeated, "STAY", 2)
    found = compared(candidates, Asked("x", QUICK, 4), None, 1, Announcer())
    assert [len(one.looks) for one in found] == [2, 4, 4, 1, 1, 1]
    assert found[0].merit is None
    assert found[0].reason == "no"
    assert found[1].ahead_of(found[2]) == (1.0, 0.0)
    assert found[2].seconds == 4.0
    assert math.isnan(Compared(found[1].looks[:1]).ahead_of(found[2])[1])
    assert expected(6, 4) == 6 + 3 + 2 + 2


def test_a_failure_is_no_winner(run, monkeypatch):
    def never(*given, **named):
        raise TrainingError("the loss is nan")

    monkeypatch.setattr(repeated, "train", never)
    found = train_best(replace(run, folder=None), 2, QUICK, data=run.record.settings["data"], folds=2)
    assert not found.ranked
    assert {one.reason for one in found.foremost} == {"the loss is nan"}
    assert found.to_json()["best"] is None


def test_mistakes(run):
    with pytest.raises(InputError, match="expected 2 pieces or more"):
        train_best(run, 2, QUICK, folds=1)
    with pytest.raises(InputError, match="train_seeds"):
        train_best(run, 2, QUICK, folds=2, seeds=0)
    loader = torch.utils.data.DataLoader([(torch.zeros(2), 1)] * 4, batch_size=2)
    with pytest.raises(InputError, match="some of them for validation"):
        held_out(Asked(loader, QUICK.but(validation=0.0), 0), None)


def test_also_of_a_large_log_unless_it_is_asked_for_as_published(run, monkeypatch):
    """Runs last: its trainings fail on purpose, and `trained.json` says so."""
    monkeypatch.setattr(repeated, "FEW_ROWS", 1)

    def refuse(*_, **__):
        raise TrainingError("not here")

    monkeypatch.setattr("foresee.searchers.foremost.train", refuse)
    usual, published = (train_best(run, 4, QUICK, folds=folds) for folds in (None, 0))
    assert [one.id for one in usual.foremost] == [row.id for row in foremost(run.record, 4, by_size=True)]
    assert [one.id for one in published.foremost] == [row.id for row in foremost(run.record, 4)]
