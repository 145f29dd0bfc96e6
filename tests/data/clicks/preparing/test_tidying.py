"""The cache of prepared logs: bounded, the longest unused first, and nothing of anybody else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.data.clicks.logs import criteo

from foresee.data.clicks.preparing import tidying
from foresee.data.clicks.preparing.prepare import prepare
from foresee.data.clicks.preparing.tidying import YOUNG, most, tidy
from foresee.errors import InputError

NOW = 1_500_000_000.0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three prepared logs, the first used the longest ago, beside things of other people."""
    root = tmp_path / "cache"
    monkeypatch.setenv("FORESEE_PREPARED", str(root))
    for number in range(3):
        made = prepare(criteo(tmp_path / f"{number}.tsv", 20 + number), "criteo")
        os.utime(made, (NOW - (9 - number) * YOUNG,) * 2)
    (root / "photographs").mkdir()
    (root / "0123456789abcdef").mkdir()  # of the right name, and no prepared log
    (root / "0123456789abcdef" / "mine.txt").write_text("x")
    return root


def logs(root: Path) -> list[Path]:
    return sorted(
        (path for path in root.iterdir() if (path / "manifest.json").exists()), key=lambda p: p.stat().st_mtime
    )


def test_the_longest_unused_goes_first(cache: Path) -> None:
    first, second, third = logs(cache)
    size = sum(one.stat().st_size for path in (second, third) for one in path.rglob("*") if one.is_file())
    assert tidy(cache, 1e9, now=NOW) == []
    assert tidy(cache, size, now=NOW) == [first]
    assert logs(cache) == [second, third]
    assert tidy(cache, 0, now=NOW) == [second, third]
    assert (cache / "photographs").is_dir()
    assert (cache / "0123456789abcdef" / "mine.txt").is_file()


def test_what_was_used_within_a_day_stays(cache: Path) -> None:
    first, second, third = logs(cache)
    tidying.used(first)
    assert tidy(cache, 0, now=first.stat().st_mtime + YOUNG / 2) == [second, third]


def test_remains_go_and_preparing_tidies(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remains = cache / ("ab" * 8 + ".part")
    remains.mkdir()
    os.utime(remains, (NOW - 3 * YOUNG,) * 2)
    old = logs(cache)
    for path in (*old, remains):
        os.utime(path, (1e9, 1e9))
    monkeypatch.setenv("FORESEE_PREPARED_GB", "0")
    again = prepare(tmp_path / "2.tsv", "criteo")  # is there: used, and nothing is tidied
    assert set(logs(cache)) == set(old)
    prepare(criteo(tmp_path / "own.tsv", 9), "criteo", tmp_path / "own")  # not in the cache
    assert set(logs(cache)) == set(old)
    fresh = prepare(criteo(tmp_path / "3.tsv", 30), "criteo")
    assert set(logs(cache)) == {again, fresh}
    assert not remains.exists()


@pytest.mark.parametrize("said", ["lots", "-1", "nan", "inf"])
def test_a_limit_that_is_none(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESEE_PREPARED_GB", said)
    with pytest.raises(InputError, match="expected how many GiB"):
        most()
