"""A run as Python and notebooks see it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from torch import nn

import foresee as fs
from foresee.searchers.run import SHOWN, Run


def make_net(pick):
    width = pick("width", [2, 4, 8, 16, 32, 64, 128])
    return nn.Sequential(nn.Flatten(), nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 2))


@pytest.fixture(scope="module")
def run():
    return fs.search(make_net, "params", "random", evaluations=7, data="synthetic", inputs=(1, 2, 2), outputs=2)


def test_it_is_said_in_a_line(run):
    assert str(run) == f"search of {__name__}:make_net, finished: 7 scored"
    assert repr(run) == f'<Run: search of {__name__}:make_net, finished: 7 scored; best {{"width":128}}>'
    assert len(repr(run.record)) < 100


def test_it_is_shown_as_a_table_of_its_best(run):
    made = run._repr_html_()
    assert made.count("<tr>") == 1 + SHOWN
    assert "{&quot;width&quot;:128}" in made
    assert "params (higher is better)" in made


def test_a_run_of_nothing_is_shown_too(run):
    empty = Run(replace(run.record, candidates=(), status="interrupted"))
    assert repr(empty) == f"<Run: search of {__name__}:make_net, interrupted: 0 scored>"
    assert "interrupted" in empty._repr_html_()


def test_a_strangers_text_is_escaped(run):
    row = replace(run.record.candidates[0], architecture="<script>" + 5000 * "x", merit=1e9)
    hostile = Run(replace(run.record, candidates=(row,), settings={"space": "<script>" * 500}))
    assert "<script" not in hostile._repr_html_()
    assert len(repr(hostile)) < 300
    assert len(hostile._repr_html_()) < 5000


def test_a_frame_of_all_candidates(run):
    pytest.importorskip("pandas")
    made = run.to_frame()
    assert len(made) == 7
    assert made.sort_values("merit").iloc[-1]["architecture"] == '{"width":128}'
    assert made["params"].tolist() == made["merit"].tolist()


def test_progress_goes_to_standard_error_in_lines(capsys):
    fs.search("mlp", "params", "random", evaluations=3, data="synthetic", progress=True)
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("3/3 scored, best ")


def test_a_front_travels_as_json(tmp_path):
    asked = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 8}
    run = fs.search(
        "nasbench201", ["naswot"], "nsga2", evaluations=24, space_settings={"channels": 2, "cells": 1},
        objectives=["naswot", "params"], searcher_settings={"population": 8}, out=tmp_path / "run", **asked,
    )  # fmt: skip
    written = json.loads((tmp_path / "run" / "front.json").read_text())
    assert written == json.loads(json.dumps(run.front_to_json()))
    assert [one["name"] for one in written["objectives"]] == ["naswot", "params"]
    assert [one["id"] for one in written["front"]] == [row.id for row in run.record.front]
    assert written["knee"] == run.knee.details["id"] == run.record.knee.id
    for plain, row in zip(written["front"], run.record.front, strict=True):
        again = fs.spaces.Candidate.from_json(plain)
        assert str(again.architecture) == row.architecture
        assert plain["objectives"] == dict(row.objectives)
        assert sum(p.numel() for p in again.build().parameters()) == row.objectives["params"]
    assert [id for id, _ in run.record.filled] == sorted(row.id for row in run.record.scored)
    assert all(a <= b for (_, a), (_, b) in pairwise(run.record.filled))
    one = fs.search("nasbench201", ["params"], "random", evaluations=3, out=tmp_path / "one", **asked)
    assert not (tmp_path / "one" / "front.json").exists()
    assert one.record.knee is not None
