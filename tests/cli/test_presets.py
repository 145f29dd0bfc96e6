"""`foresee presets` and `foresee search --preset`."""

from __future__ import annotations

import json

import pytest

from foresee.runs import read
from foresee.searchers.presets import names

QUICK = ["--proxy", "params", "--evaluations", "3", "--data", "synthetic", "--engine", "serial", "-q"]


def test_all_are_listed_with_their_counts_and_papers(foresee):
    said = foresee("presets").stdout
    assert all(name in said for name in names())
    assert "evaluations 24 → 1,000" in said
    one = foresee("presets", "dextr-autoformer-tiny").stdout
    for words in ("Section 4.2, Table 3", "among 1,000 candidates", "24 here, 1000 published", "max = 6000000"):
        assert words in one
    found = json.loads(foresee("presets", "--json").stdout)
    assert [row["name"] for row in found] == names()
    assert "did you mean" in foresee("presets", "dextr-autoformer", code=2).stderr


def test_a_preset_is_searched_and_options_win(foresee, tmp_path):
    said = foresee("search", "--preset", "dextr-autoformer-tiny", *QUICK, "--out", "a").stdout
    assert "3 scored" in said
    settings = read(tmp_path / "a").settings
    assert settings["space"] == "autoformer_tiny"
    assert settings["proxies"] == ["params"]
    assert settings["limits"] == {"params": {"max": 6_000_000}}
    foresee("search", "--preset", "dextr-autoformer-tiny", *QUICK, "--out", "b", "--max-params", "5.9M")
    assert read(tmp_path / "b").settings["limits"] == {"params": {"max": 5_900_000}}
    # the same command goes on with it
    foresee("search", "--preset", "dextr-autoformer-tiny", *QUICK, "--evaluations", "4", "--out", "a", "--resume")
    assert len(read(tmp_path / "a").candidates) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "dextr-autoformer-tin"], "did you mean dextr-autoformer-tiny"),
        (["nasbench201", "--full"], "say which with --preset"),
        (["--preset", "dextr-autoformer-tiny", "--settings", "x.toml"], "give one of them"),
        (["--preset", "dextr-autoformer-tiny", "--evaluations", "0", "--engine", "serial"], "at least 1"),
    ],
)
def test_mistakes_are_one_line(foresee, arguments, words):
    assert words in foresee("search", *arguments, code=2).stderr


def test_in_full_it_has_the_published_count(foresee, tmp_path):
    few = ["--evaluations", "2", "--engine", "serial", "-q", "--data", "synthetic"]
    foresee("search", "--preset", "nasi-fix-darts", "--full", *few, "--set", "nasi.steps=1", "--set", "nasi.batch=2",
            "--set", 'nasi.one_shot={"channels": 2, "layers": 3}', "--out", "a")  # fmt: skip
    settings = read(tmp_path / "a").settings["searcher_settings"]
    assert settings == {
        "steps": 1, "batch": 2, "constraint": "fixed", "nu": 100, "mu": 2, "one_shot": {"channels": 2, "layers": 3},
    }  # fmt: skip
