from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from foresee.report.commands import commands, shown_path
from foresee.runs.record import Record

Make = Callable[..., Record]


def test_the_search_line_says_every_setting(make_record: Make) -> None:
    record = make_record(
        3, proxies=("dextr", "zico"), proxy_settings={"dextr": {"curve": "a b"}}, repeats=2, batch_size=4,
        limits={"params": {"max": 600000.0, "min": 5}}, inputs=[3, 32, 32], outputs=10,
    )  # fmt: skip
    words = shlex.split(commands(record, None, "runs/a").search)
    assert words[:3] == ["foresee", "search", "paper_cell"]
    pairs = list(zip(words[3::2], words[4::2], strict=True))
    assert pairs == [
        ("--proxy", "dextr"), ("--proxy", "zico"), ("--searcher", "evolution"), ("--evaluations", "200"),
        ("--max-params", "600000"), ("--min-params", "5"), ("--input", "3x32x32"), ("--outputs", "10"),
        ("--data", "digits"), ("--seed", "1"), ("--batch-size", "4"), ("--repeats", "2"),
        ("--set", "evolution.population=32"), ("--set", 'dextr.curve="a b"'), ("--out", "runs/a"),
    ]  # fmt: skip


def test_the_search_line_says_what_is_followed(make_record: Make, follow: Make) -> None:
    words = shlex.split(commands(follow(make_record(3), "params", "dextr"), "|x|", "runs/a").search)
    assert words[3:9] == ["--proxy", "dextr", "--objective", "params", "--objective", "dextr"]
    assert "--objective" not in commands(make_record(3), "|x|", "runs/a").search
    assert "--objective" not in commands(follow(make_record(3), "params"), "|x|", "runs/a").score


def test_lines_for_a_folder(make_record: Make) -> None:
    record = make_record(3)
    lines = commands(record, "|x y|", "runs/a")
    assert lines.build == 'import foresee as fs\n\nnetwork = fs.build("runs/a/best.json")'
    assert lines.stored == "foresee search --settings runs/a/settings.toml --out runs/again"
    assert lines.resume == f"{lines.search} --resume"
    assert shlex.split(lines.score)[:4] == ["foresee", "score", "paper_cell", "|x y|"]
    assert "--threads" not in lines.score
    assert "--set" not in lines.score


@pytest.mark.parametrize(
    "settings",
    [
        {"window": 4},
        {"data": "given:abc"},
        {"limits": {"params": {"below": 5}}},
        {"limits": {"params": 5}},
        {"space": None},
    ],
)
def test_what_options_cannot_say_is_left_to_the_settings_file(make_record: Make, settings: dict[str, object]) -> None:
    record = make_record(3)
    lines = commands(replace(record, settings={**record.settings, **settings}), "x", "runs/a")
    assert (lines.search, lines.score) == ("", "")
    assert lines.resume == "foresee search --settings runs/a/settings.toml --out runs/a --resume"


def test_code_is_named_beside_the_file(make_record: Make) -> None:
    record = make_record(3)
    lines = commands(replace(record, settings={**record.settings, "space": "my nets.py:make"}), "x", "runs/a")
    assert lines.build.endswith('network = fs.build("runs/a/best.json", space="my nets.py:make")')
    assert lines.stored == "foresee search 'my nets.py:make' --settings runs/a/settings.toml --out runs/again"


def test_a_run_in_memory_builds_in_memory(make_record: Make) -> None:
    lines = commands(make_record(3), "x")
    assert lines.build == "network = run.best.build()"
    assert (lines.stored, lines.resume) == ("", "")


def test_paths_below_the_current_folder_are_shown_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(tmp_path / "runs" / "a") == "runs/a"
    assert shown_path("/elsewhere/a") == "/elsewhere/a"


def test_hostile_words_stay_single_words(make_record: Make, hostile: str) -> None:
    record = make_record(3)
    lines = commands(replace(record, settings={**record.settings, "space": hostile}), "$(rm -rf ~)", "runs/it's")
    assert shlex.split(lines.score)[2:4] == [hostile, "$(rm -rf ~)"]
    assert shlex.split(lines.search)[-1] == "runs/it's"
