from __future__ import annotations

import tomllib

import pytest

from foresee.errors import InputError, UnknownNameError
from foresee.runs.toml import dumps
from foresee.searchers import SearchSettings

FULL = {
    "space": "nasbench201",
    "proxies": ["dextr", "params"],
    "proxy_settings": {"dextr": {"curve_size": 64}},
    "limits": {"params": {"max": 600000}},
    "evaluations": 7,
    "inputs": [3, 32, 32],
}


def test_toml_round_trip():
    made = SearchSettings.from_json(FULL)
    assert SearchSettings.from_json(tomllib.loads(dumps(made.to_json()))) == made


def test_a_typo_names_the_nearest_setting(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('space = "nasbench201"\nevalutions = 5\n')
    with pytest.raises(UnknownNameError, match=r"s\.toml 'evalutions': did you mean evaluations"):
        SearchSettings.load(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"evaluations": "many"}, "evaluations = 'many': expected a whole number"),
        ({"evaluations": True}, "expected a whole number"),
        ({"evaluations": 0}, "at least 1"),
        ({"proxies": "dextr"}, "expected a list of names"),
        ({"proxies": []}, "at least one"),
        ({"proxies": ["a", "a"]}, "twice"),
        ({"limits": {"parms": {"max": 1}}}, "did you mean params"),
        ({"limits": {"params": {"maximum": 1}}}, "did you mean max"),
        ({"limits": {"params": {"max": "x"}}}, "expected a number"),
        ({"limits": {"params": {"max": -5}}}, "at least 0"),
        ({"inputs": ["a"]}, "expected a list of sizes"),
    ],
)
def test_wrong_values_are_named(change, words):
    with pytest.raises(InputError, match=words):
        SearchSettings.from_json({**FULL, **change})


def test_what_is_not_toml(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("space = [")
    with pytest.raises(InputError, match="not valid TOML"):
        SearchSettings.load(path)
    with pytest.raises(InputError, match="No such file"):
        SearchSettings.load(tmp_path / "absent.toml")


def test_options_win_over_the_file(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(dumps(FULL))
    assert SearchSettings.load(path, {"evaluations": 9}).evaluations == 9


def test_the_file_wins_over_what_was_not_said(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(dumps(FULL))
    found = SearchSettings.load(path, unsaid={"evaluations": 9, "finalists": 0})
    assert (found.evaluations, found.finalists) == (7, 0)


def test_a_run_from_before_there_were_finals_has_none():
    assert SearchSettings.of_run(FULL).finalists == 0
    assert SearchSettings.of_run({**FULL, "finalists": 3}).finalists == 3
    assert SearchSettings.from_json(FULL).extends(SearchSettings.of_run(FULL)) == {"finalists": [0, 5]}
    assert SearchSettings.from_json(FULL).refused(SearchSettings.of_run(FULL)) == []


def test_differences_are_named_one_by_one():
    made = SearchSettings.from_json(FULL)
    assert made.differences(FULL) == []
    assert made.differences({**FULL, "seed": 4, "limits": {}}) == [
        "limits.params.max: 600000 here, unset in the run",
        "seed: 0 here, 4 in the run",
    ]
