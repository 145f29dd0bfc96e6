"""Benches and calibrations read again from their files, and what is not as it was written."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from tests.benchmarks.small import small_table

from foresee.benchmarks import bench, calibrate_table, open_bench, open_calibration
from foresee.benchmarks import reading as reading_room
from foresee.errors import RunError
from foresee.report import bench as bench_page
from foresee.report import calibrate as calibration_page

LOOK = {"data": "synthetic", "space_settings": {"channels": 2, "cells": 1}, "bootstrap": 20}
ODD = [None, True, -1, 2**70, 1e999, "", "x", [], {}, [[]], {"a": 1}, float("nan"), "9" * 5000]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    where = tmp_path_factory.mktemp("opened")
    table = small_table()
    bench(table, "test_acc_cifar10", ["params"], sample=12, out=where / "bench", repeats=2, **LOOK)
    calibrate_table(
        table,
        "test_acc_cifar10",
        proxies=["params", "macs"],
        untrained="params",
        trained=12,
        out=where / "calibration",
        **LOOK,
    )
    return where


@pytest.fixture
def copied(folders, tmp_path):
    for path in folders.rglob("*"):
        if path.is_file() and path.suffix in (".json", ".csv"):
            there = tmp_path / path.relative_to(folders)
            there.parent.mkdir(exist_ok=True)
            there.write_bytes(path.read_bytes())
    return tmp_path


def test_a_bench_is_what_it_was(folders):
    found = open_bench(folders / "bench")
    kept = json.loads((folders / "bench" / "bench.json").read_text())
    again = found.to_json()
    assert json.loads(json.dumps(again, default=str)) == kept
    assert found.scores_csv() == (folders / "bench" / "scores.csv").read_text()
    assert found.correlations_csv() == (folders / "bench" / "correlations.csv").read_text()


def test_a_calibration_is_what_it_was(folders):
    found = open_calibration(folders / "calibration")
    kept = json.loads((folders / "calibration" / "calibration.json").read_text())
    assert json.loads(json.dumps(found.to_json(), default=str)) == kept
    assert np.isfinite(found.truth).all()


def leaves(plain, at=()):
    """Every place in a JSON value."""
    yield at
    inner = plain.items() if isinstance(plain, dict) else enumerate(plain[:2]) if isinstance(plain, list) else ()
    for key, value in inner:
        yield from leaves(value, (*at, key))


@pytest.mark.parametrize(
    ("name", "file", "read", "render"),
    [
        ("bench", "bench.json", open_bench, bench_page.render),
        ("calibration", "calibration.json", open_calibration, calibration_page.render),
    ],
)
def test_whatever_stands_in_the_file_it_is_shown_or_one_line(copied, monkeypatch, name, file, read, render):
    path, rng = copied / name / file, random.Random(4)
    monkeypatch.setattr("foresee.report.html.to_svg", lambda *_, **__: "")  # drawing takes long
    whole = path.read_text()
    refused: list[str] = []
    places = list(leaves(json.loads(whole)))
    for _ in range(150):
        plain = json.loads(whole)
        *before, last = rng.choice(places[1:])
        inner = plain
        for key in before:
            inner = inner[key]
        if rng.random() < 0.3 and isinstance(inner, dict):
            del inner[last]
        else:
            inner[last] = rng.choice(ODD)
        path.write_text(json.dumps(plain))
        try:
            render(read(copied / name))
        except RunError as error:
            refused.append(str(error))
    assert len(refused) > 15
    assert all(len(line.splitlines()) == 1 and (file in line or "scores.csv" in line) for line in refused), refused


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "not as foresee wrote it"), ("[" * 100_000, "not as foresee wrote it"), ("[]", "not as foresee wrote it")],
)
def test_no_json(copied, text, words):
    (copied / "bench" / "bench.json").write_text(text)
    with pytest.raises(RunError, match=words):
        open_bench(copied / "bench")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text.replace("architecture", "network", 1),
        lambda text: text.replace(",", ";"),
        lambda text: text + "a,b\n",
        lambda text: text.splitlines()[0] + "\n",
    ],
)
def test_scores_of_another_bench(copied, change):
    path = copied / "bench" / "scores.csv"
    path.write_text(change(path.read_text()))
    with pytest.raises(RunError, match=r"scores\.csv: not as foresee wrote it"):
        open_bench(copied / "bench")


def test_a_file_without_end_is_not_read(copied, monkeypatch):
    monkeypatch.setattr(reading_room, "MOST_BYTES", 100)
    with pytest.raises(RunError, match="larger than"):
        open_calibration(copied / "calibration")
    (copied / "calibration" / "calibration.json").unlink()
    with pytest.raises(RunError, match="No such file"):
        open_calibration(copied / "calibration")
