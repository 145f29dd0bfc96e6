"""The file of scores: what goes in comes out, accidents stay out, strangers' files are refused."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from foresee.errors import RunError
from foresee.proxies.base import STATUSES, Score
from foresee.scoring.cache import Cache

SCORE = Score("dextr", 1.25, seconds=0.5, peak_bytes=7, seed=3, direction="lower", parts={"curvature": 2.0})


def test_what_is_put_is_found_again_by_another_reader(tmp_path):
    with Cache(tmp_path / "deep" / "scores.sqlite") as cache:
        cache.put("an architecture", {"one": SCORE, "two": Score("zico", None, "nan", "the value is nan")})
        assert len(cache) == 2
    with Cache(tmp_path / "deep" / "scores.sqlite") as cache:
        found = cache.get(["one", "two", "three"])
    assert found == {"one": SCORE, "two": Score("zico", None, "nan", "the value is nan")}


def test_more_keys_than_one_question_holds():
    with Cache() as cache:
        cache.put("a", {str(number): Score("params", float(number)) for number in range(1234)})
        found = cache.get(str(number) for number in range(2000))
    assert len(found) == 1234
    assert found["1233"].value == 1233.0


def test_accidents_are_not_kept():
    with Cache() as cache:
        cache.put("a", {status: Score("p", 1.0 if status == "ok" else None, status) for status in STATUSES})
        assert set(cache.get(STATUSES)) == {"ok", "nan", "rank_deficient", "unsupported", "partial"}


def test_a_second_put_replaces():
    with Cache() as cache:
        cache.put("a", {"k": Score("p", 1.0)})
        cache.put("a", {"k": Score("p", 2.0)})
        assert cache.get(["k"])["k"].value == 2.0


def test_whole_floats(tmp_path):
    values = [1 / 3, 1e-320, -1.7976931348623157e308, 802426.0]
    with Cache(tmp_path / "s") as cache:
        cache.put("a", {str(i): Score("p", value) for i, value in enumerate(values)})
    with Cache(tmp_path / "s") as cache:
        assert [cache.get([str(i)])[str(i)].value for i in range(4)] == values


def test_other_files_are_refused_and_left_alone(tmp_path):
    strange = tmp_path / "strange.sqlite"
    with sqlite3.connect(strange) as db:
        db.execute("CREATE TABLE mine (x)")
    before = strange.read_bytes()
    with pytest.raises(RunError, match="another program"):
        Cache(strange)
    assert strange.read_bytes() == before
    text = tmp_path / "text"
    text.write_text("not a database at all, but long enough to be taken for one" * 40)
    with pytest.raises(RunError, match="choose another --cache"):
        Cache(text)
    with pytest.raises(RunError, match="choose another --cache"):
        Cache(tmp_path)  # a folder
    newer = tmp_path / "newer.sqlite"
    Cache(newer).close()
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(RunError, match="another version"):
        Cache(newer)


def test_two_benches_may_write_at_once(tmp_path):
    def write(name):
        with Cache(tmp_path / "shared") as cache:
            for number in range(60):
                cache.put("a", {f"{name}{number}": Score("p", float(number))})

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Cache(tmp_path / "shared") as cache:
        assert len(cache) == 120


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE scores SET parts='{'",
        "UPDATE scores SET parts='[1]'",
        'UPDATE scores SET parts=\'{"a": "b"}\'',
        "UPDATE scores SET parts=x'ff'",
        "UPDATE scores SET value='much'",
        "UPDATE scores SET value=NULL",
        "UPDATE scores SET seed=x'00'",
        "UPDATE scores SET status='nan'",
        "UPDATE scores SET reason=CAST(x'fffe' AS TEXT)",
        "ALTER TABLE scores DROP COLUMN parts",
        "ALTER TABLE scores RENAME TO was",
    ],
)
def test_a_file_that_makes_no_sense_is_one_line(tmp_path, damage):
    with Cache(tmp_path / "s") as cache:
        cache.put("a", {"k": SCORE})
    with sqlite3.connect(tmp_path / "s") as db:
        db.execute(damage)
    with pytest.raises(RunError, match="cannot be used as a cache of scores"), Cache(tmp_path / "s") as cache:
        cache.get(["k"])


def test_a_reason_with_half_a_character_is_kept():
    with Cache() as cache:
        cache.put("a", {"k": Score("p", None, "unsupported", "no \ud800")})
        assert cache.get(["k"])["k"].reason == "no ?"


@pytest.mark.parametrize("way", ["deleted", "replaced", "its folder moved"])
def test_a_file_that_goes_away_is_said_at_the_next_score(tmp_path, way):
    path = tmp_path / "bench" / "scores.sqlite"
    with Cache(path) as cache:
        cache.put("a", {"k": Score("params", 1.0)})
        if way == "its folder moved":
            path.parent.rename(tmp_path / "moved")
        else:
            path.unlink()
        if way == "replaced":
            path.write_bytes(b"")
        with pytest.raises(RunError, match=r"scores\.sqlite: was deleted or replaced while scores were made"):
            cache.put("b", {"l": Score("params", 2.0)})
