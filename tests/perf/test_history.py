"""The history: a line a run, compared with its own kind of machine only, and what got worse."""

from __future__ import annotations

import pytest
from perf.harness import Row, history
from perf.harness.history import Run, append, key, now_run, past, read, regressions


def run(ratio, machine="a, 2 cores, torch 2.0", device="cpu", name="proxies/dextr"):
    return Run("2026-01-01 00:00", "abc", machine, device, {name: ratio})


def test_what_is_appended_is_read_again(tmp_path):
    path = tmp_path / "history.jsonl"
    assert read(path) == []
    for ratio in (0.123456, 0.2):
        append(run(ratio), path)
    assert [one.ratios for one in read(path)] == [{"proxies/dextr": 0.1235}, {"proxies/dextr": 0.2}]


def test_lines_that_make_no_sense_are_left_out(tmp_path):
    path = tmp_path / "history.jsonl"
    append(run(1.0), path)
    path.write_text('{"date": 1}\nnonsense\n' + path.read_text())
    assert len(read(path)) == 1


def test_the_past_is_the_median_of_the_last_three_of_its_kind():
    others = [run(9.0, machine="b"), run(9.0, device="H200"), run(9.0, name="proxies/meco")]
    before = past([run(1.0), run(5.0), *others, run(0.2), run(0.3)], run(0.2))
    assert before == {"proxies/dextr": 0.3}
    assert past([], run(1.0)) == {}


@pytest.mark.parametrize(("now", "worse"), [(0.1, False), (1.0, False), (1.2, False), (1.21, True), (3.0, True)])
def test_more_than_a_fifth_is_a_regression(now, worse):
    found = regressions({"a": 1.0}, {"a": now})
    assert ("a" in found) is worse
    if worse:
        assert found["a"] == pytest.approx(now - 1)


def test_what_is_new_is_no_regression():
    assert regressions({}, {"a": 100.0}) == {}


def test_a_run_of_now_says_where_and_what(monkeypatch):
    monkeypatch.setattr(history, "_commit", lambda: "abc")
    found = now_run({"proxies": [Row("dextr", 1.0, 4.0)]}, "cpu")
    assert found.ratios == {key("proxies", Row("dextr", 1.0, 4.0)): 0.25}
    assert (found.device, found.commit) == ("cpu", "abc")
    assert "cores" in found.machine
    assert "torch" in found.machine


def test_the_committed_history_can_be_read():
    lines = history.FILE.read_text().splitlines() if history.FILE.exists() else []
    assert len(read()) == len(lines)
