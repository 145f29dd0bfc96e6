"""Who is judged, by what people write."""

from __future__ import annotations

import json

import pytest

from foresee.benchmarks.judging.contestants import Contestant, contestants_of, network_of
from foresee.errors import InputError, UnknownNameError
from foresee.recommenders import Handmade
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get
from foresee.task import Task

TASK = Task((2,), 1, vocabularies=(4, 4))
TINY = "linear2d:16@0 linear3d:16@0"


def test_by_name_by_text_by_file(tmp_path):
    space = get("nasrec_small", blocks=1)
    candidate = Candidate(space, space.parse(TINY), TASK)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "best.json").write_text(json.dumps(candidate.to_json()))
    (tmp_path / "trained").mkdir()
    (tmp_path / "trained" / "architecture.json").write_text(
        json.dumps({"recommender": "deepfm", "settings": {"deep": [4]}, "task": TASK.to_json()})
    )
    found = contestants_of(
        [
            "logistic",
            tmp_path / "run",
            f"mine={tmp_path / 'run' / 'best.json'}",
            str(tmp_path / "trained"),
            "nasrec_small Criteo_Small_best",
            candidate,
            Handmade("dlrm"),
        ]
    )
    assert [one.label for one in found] == [
        "logistic",
        "run",
        "mine",
        "deepfm",
        "Criteo_Small_best",
        "nasrec_small",
        "dlrm",
    ]
    assert found[1].what == found[2].what == found[5].what
    assert "task" not in found[1].what
    for one in found:
        assert Contestant.from_json(one.label, json.loads(json.dumps(one.what))).what == json.loads(
            json.dumps(one.what)
        )
    assert network_of(found[1], TASK, 0)(*TASK.example(3)).shape == (3, 1)
    assert network_of(found[3], TASK, 0)(*TASK.example(3)).shape == (3, 1)


def test_equal_labels_are_numbered_and_equal_contestants_refused():
    found = contestants_of(["a=nasrec_small Criteo_Small_best", "a=logistic"])
    assert [one.label for one in found] == ["a", "a 2"]
    with pytest.raises(InputError, match="named twice"):
        contestants_of(["logistic", "logistic"])


def test_settings_are_those_of_recommenders():
    (found,) = contestants_of(["deepfm"], {"deepfm": {"dropout": 0.1}})
    assert found.what == {"recommender": "deepfm", "settings": {"dropout": 0.1}}
    with pytest.raises(UnknownNameError, match="dlrm"):
        contestants_of(["deepfm"], {"dlrm": {"dropout": 0.1}})


def test_mistakes_are_named():
    with pytest.raises(UnknownNameError, match="deepfm"):
        contestants_of(["deepfmm"])
    with pytest.raises(InputError, match="name who is judged"):
        contestants_of([])
