"""A proxy by every spelling that is accepted, in every command: names are resolved once, at the door."""

from __future__ import annotations

import csv
import json
import sys

import pytest
from tests.benchmarks.formats import writers

from foresee.cli.entry import run
from foresee.runs import read

PLAIN, SPELLINGS = "grad_norm", ("grad-norm", " grad_norm ", "grad-norm ")
VARIANT, ITS_SPELLINGS = "dextr:reference_nb201", ("dextr:reference-nb201", " dextr:reference_nb201")
LOOK = ["--data", "synthetic", "--input", "3x8x8", "--outputs", "4", "--batch-size", "4"]
LOOK += ["--set", "space.channels=2", "--set", "space.cells=1"]
SERIAL = ["--engine", "serial", "-q"]


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{cell},acc,{number}\n" for number, cell in enumerate(writers.CELLS_201))
    (tmp_path / "t.csv").write_text(f"architecture,metric,value\n{rows}")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["foresee", *arguments])
        capfd.readouterr()
        returned = run()
        printed = capfd.readouterr()
        assert returned == 0, printed
        return printed.out

    call.folder = tmp_path
    return call


def spelled(name):
    return SPELLINGS if name == PLAIN else ITS_SPELLINGS


@pytest.mark.parametrize("name", [PLAIN, VARIANT])
def test_score(foresee, name):
    def scores(word):
        found = json.loads(foresee("score", "nasbench201", writers.CELLS_201[0], *LOOK, "--proxy", word, "--json"))
        return {proxy: one["value"] for proxy, one in found["scores"].items()}

    plain = scores(name)
    assert list(plain) == [name]
    for word in spelled(name):
        assert scores(word) == plain


@pytest.mark.parametrize("name", [PLAIN, VARIANT])
def test_search(foresee, name):
    def found(number, word, *more):
        words = ["search", "nasbench201", *LOOK, *SERIAL, "--proxy", word, "--evaluations", "3", *more]
        foresee(*words, "--out", f"r{number}")
        record = read(foresee.folder / f"r{number}")
        assert foresee("report", f"r{number}")
        return record.settings, record.objectives, [row.merit for row in record.candidates]

    plain = found(0, name)
    assert list(plain[0]["proxies"]) == [name]
    for number, word in enumerate(spelled(name), 1):
        assert found(number, word) == plain
    # named in several places: what is followed, what is set, and the file of settings
    said = found("a", name, "--objective", name, "--set", f"{name}.initialise=he")
    assert (
        found("b", spelled(name)[0], "--objective", spelled(name)[1], "--set", f"{spelled(name)[0]}.initialise=he")
        == said
    )
    settings = (foresee.folder / "ra" / "settings.toml").read_text().replace(name, spelled(name)[0])
    (foresee.folder / "s.toml").write_text(settings)
    foresee("search", "--settings", "s.toml", *SERIAL, "--out", "rc")
    assert read(foresee.folder / "rc").settings == said[0]
    foresee("search", "--settings", "s.toml", *SERIAL, "--out", "ra", "--resume")


@pytest.mark.parametrize("name", [PLAIN, VARIANT])
def test_bench(foresee, name):
    def found(number, word):
        words = ["bench", "nasbench201", "--table", "t.csv", "--target", "acc", *LOOK, *SERIAL, "--bootstrap", "0"]
        foresee(*words, "--proxy", word, "--set", f"{word.strip()}.initialise=he", "--out", f"b{number}", "--agreement")
        with (foresee.folder / f"b{number}" / "scores.csv").open() as file:
            return [{key: value for key, value in row.items() if "seconds" not in key} for row in csv.DictReader(file)]

    plain = found(0, name)
    assert any(name in key or name in row.values() for row in plain for key in row)
    for number, word in enumerate(spelled(name), 1):
        assert found(number, word) == plain


@pytest.mark.parametrize("name", [PLAIN, VARIANT])
def test_calibrate(foresee, name):
    table = many_cells(foresee)

    def found(number, word):
        words = ["calibrate", "nasbench201", "--table", table, "--target", "acc", *LOOK, *SERIAL, "--bootstrap", "0"]
        words += ["--trained", "11", "--proxy", "params", "--proxy", word, "--untrained", word, "--json"]
        plain = json.loads(foresee(*words, "--out", f"c{number}"))
        return plain["proxies"], plain["untrained"], plain["predictions"]

    plain = found(0, name)
    assert (plain[0], plain[1]) == (["params", name], name)
    for number, word in enumerate(spelled(name), 1):
        assert found(number, word) == plain


def many_cells(foresee):
    import random

    from foresee.spaces import get

    space, rng = get("nasbench201"), random.Random(0)
    cells = list(dict.fromkeys(str(space.sample(rng)) for _ in range(14)))
    rows = "".join(f"{cell},acc,{number}\n" for number, cell in enumerate(cells))
    (foresee.folder / "many.csv").write_text(f"architecture,metric,value\n{rows}")
    return "many.csv"


def test_listing(foresee):
    plain = foresee("proxies", PLAIN)
    for word in SPELLINGS:
        assert foresee("proxies", word) == plain


def test_rows_of_a_paper(foresee):
    plain = foresee("paper", "dextr-table-1", "--row", "grad-norm", "--json")
    assert foresee("paper", "dextr-table-1", "--row", "grad_norm", "--json") == plain
