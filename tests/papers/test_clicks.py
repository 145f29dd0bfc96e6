"""Searches and trainings of click logs for the papers' tables, on a log of a few rows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.papers.click_logs import TINY, log, shop

from foresee.papers.clicks import REDUCED, Judged, Method, by_hand, foremost, found, log_of, looked_at, searched, spent
from foresee.runs.record import CandidateRow, EventRow, Record

OWN = {**REDUCED, **TINY}


def candidate(number, finished):
    return CandidateRow(number, "a", "a", None, "scored", "", 1.0, {}, 1, 1.0, 0.0, finished)


def test_a_search_costs_what_it_took_and_not_the_time_it_lay_still():
    events = [EventRow(130.0, "resumed", None, {}), EventRow(150.0, "finished", None, {})]
    later = [EventRow(900.0, "resumed", None, {}), EventRow(901.0, "finished", None, {})]
    record = Record("search", "finished", 100.0, {}, {}, (candidate(0, 110.0), candidate(1, 140.0)), (*events, *later))
    assert spent(record) == pytest.approx(10 + 20)


def test_each_method_follows_what_it_is_called_by():
    sigeo = Method("sigeo", "1%").asked(OWN)
    assert sigeo["warmup"] == "1%"
    assert sigeo["proxy_settings"] == {"sigeo": {"lambda1": 1.0, "lambda2": 1.0, "lambda3": 1.0}}
    assert Method("sigeo", "0%").asked(OWN)["proxy_settings"]["sigeo"]["lambda3"] == 0.0
    assert "warmup" not in Method("zico", "0%").asked(OWN)
    assert Method("zico", "1%").asked(OWN)["proxy_settings"]["sigeo"]["lambda2"] == 0.0
    assert Method("fisher_rao", "1%").asked(OWN)["proxy_settings"]["sigeo"]["lambda1"] == 0.0
    assert Method("nasrecnet").asked(OWN)["measure"] == "last_layer"
    assert Method("random").asked(OWN)["evaluations"] == OWN["drawn"]


def test_what_a_search_finds_is_the_best_of_the_foremost_by_validation(tmp_path):
    workshop = shop(tmp_path, cache=tmp_path / "scores.sqlite")
    run = searched(workshop, Method("nasrecnet"), "small", OWN, 0)
    assert [one.name for one in run.record.objectives] == ["measured"]
    trained = foremost(workshop, run, OWN)
    assert len(trained.foremost) == OWN["top"]
    judged = found(workshop, Method("nasrecnet"), "small", OWN)
    best = min(trained.foremost, key=lambda one: one.trained.validation.loss)
    assert judged.losses == [best.trained.test.loss]
    assert judged.aucs == [best.trained.test.auc]
    assert judged.seconds == [spent(run.record)]
    assert judged.validation == best.trained.validation.loss


def test_no_more_are_said_to_be_trained_than_were_drawn(tmp_path):
    workshop = shop(tmp_path, cache=tmp_path / "scores.sqlite")
    judged = found(workshop, Method("random"), "small", {**OWN, "top": 5, "drawn": 2})
    assert next(judged.cells("row", "criteo")).reason.startswith("2 of 2 candidates trained, ")


def test_networks_by_hand_are_trained_under_each_seed(tmp_path):
    workshop = shop(tmp_path, repeats=2)
    judged = by_hand(workshop, "logistic", {**OWN, "seeds": 2})
    assert len(judged.losses) == 4 == len(set(judged.losses))
    cells = {cell.column: cell for cell in judged.cells("row", "criteo")}
    assert cells["criteo:logloss"].estimate.value == pytest.approx(np.mean(judged.losses))
    assert "40 rows to test on" in cells["criteo:logloss"].reason
    assert set(cells) == {"criteo:logloss", "criteo:auc", "params (million)"}


def test_the_log_is_said(tmp_path):
    workshop = shop(tmp_path, data=None)
    assert looked_at(workshop) == {"data": "planted_clicks"}
    assert "made here" in workshop.notes[0]
    assert log_of(workshop, OWN) == "here"
    assert log_of(workshop, {**OWN, "log": "avazu"}) == "avazu"
    told = shop(tmp_path, schema="criteo")
    assert log_of(told, OWN) == "criteo"
    assert looked_at(told) == {"data": log(tmp_path), "schema": "criteo"}


def test_rows_that_all_say_the_same_have_no_auc():
    cells = list(Judged([0.5], []).cells("row", "here"))
    assert cells[1].estimate is None
    assert cells[1].reason == "all rows to test on say the same"
