"""One seed of chapter 5: what is shared by its tables, what is kept, and what is waited for."""

from __future__ import annotations

import json

import pytest
from tests.papers.nesbs.tiny import TINY, images, shop

import foresee.papers.nesbs.shared as shared
from foresee.errors import BusyError
from foresee.papers import Workshop
from foresee.papers.nesbs.shared import IMAGES, USUAL, Study, images_of

OWN = {**USUAL, **TINY}


def test_what_decides_is_in_the_key_and_where_it_runs_is_not_more_than_a_kind(tmp_path):
    workshop = shop(tmp_path, TINY)
    key = Study(workshop, OWN, 0).key
    assert key == Study(shop(tmp_path, TINY), OWN, 0).key
    others = [
        Study(workshop, OWN, 1),
        Study(workshop, {**OWN, "epochs": 2}, 0),
        Study(workshop, OWN, 0, space="nasbench201"),
        Study(workshop, OWN, 0, posterior="best_response"),
        Study(shop(tmp_path, TINY, device="cuda"), OWN, 0),
    ]
    assert len({key, *(one.key for one in others)}) == 6
    assert Study(shop(tmp_path, TINY, device="cuda:1"), OWN, 0).key == others[-1].key


def test_the_same_images_in_another_place_are_the_same(tmp_path):
    (tmp_path / "other").mkdir()
    moved = images(tmp_path / "other", "moved.npz")
    assert Study(shop(tmp_path, TINY), OWN, 0).key == Study(shop(tmp_path, TINY, data=moved), OWN, 0).key


def test_values_are_made_once_and_kept_whole(tmp_path):
    study = Study(shop(tmp_path, TINY), OWN, 0)
    made = []

    def make():
        made.append(1)
        return {"error": 0.25}

    assert study.kept("some", [1], make) == study.kept("some", [1], make) == {"error": 0.25}
    assert len(made) == 1
    study.kept("some", [2], make)
    assert len(made) == 2
    (first, *_) = sorted((tmp_path / "results").iterdir())
    assert json.loads(first.read_text()) == {"error": 0.25}
    with pytest.raises(ValueError, match="JSON"):  # what is no number is a mistake of ours, not a number to be kept
        study.kept("odd", [], lambda: {"error": float("nan")})


def test_a_page_needs_results_alone(chapter, tmp_path):
    study = Study(shop(chapter, TINY), OWN, 0)
    found = study.ensemble("deep:DARTS_V2", size=2)
    assert len(found["answers"]) == 2
    assert len(found["answers"][0]) == 20
    assert found["budget"]["networks"] == 2
    (tmp_path / "results").mkdir()
    for one in (chapter / "results").glob("ensemble-deep-*"):
        (tmp_path / "results" / one.name).write_text(one.read_text())
    elsewhere = Study(shop(tmp_path, TINY), OWN, 0)
    assert elsewhere.ensemble("deep:DARTS_V2", size=2) == found
    assert not elsewhere.folder.exists(), "nothing was trained"


def test_what_another_process_is_at_is_waited_for(chapter, monkeypatch):
    tried = []
    real = shared.found

    def busy(*arguments, **more):
        tried.append(1)
        if len(tried) < 3:
            raise BusyError("another process is at work")
        return real(*arguments, **more)

    monkeypatch.setattr(shared, "found", busy)
    monkeypatch.setattr(shared, "WAITED", 0.0)
    run = Study(shop(chapter, TINY), OWN, 0).run("deep:DARTS_V2", size=2)
    assert len(tried) == 3
    assert run.measures["test"].samples == 20


@pytest.mark.parametrize(("data", "said", "wanted"), [
    ("x/cifar100.npz", "", "cifar100"), ("cifar10_6k.npz", "", "cifar10"), ("mine.npz", "", "here"),
    ("mine.npz", "imagenet16", "imagenet16"), (None, "", "here"),
])  # fmt: skip
def test_beside_which_columns_ours_stand(data, said, wanted):
    workshop = Workshop(data=data)
    assert images_of(workshop, {"images": said}) == wanted
    assert bool(workshop.notes) == (wanted in IMAGES)
