"""The suite: files that measure are found by themselves, run apart, and a broken one is told and not the end."""

from __future__ import annotations

import sys

import pytest
from perf.harness import How, Row, history, suite
from perf.harness.suite import Part, apart, parts, rows_in, written

from perf import __main__ as command

GOOD = '''"""What is measured.

More words."""
SECONDS = 7
DEVICES = ("cpu", "cuda")
def measure(how):
    yield 1
'''


def test_files_that_measure_are_found(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "script.py").write_text("def main(): ...")
    (tmp_path / "cannot.py").write_text("import nowhere\ndef measure(how): ...")
    assert parts(tmp_path) == [Part("cannot", ""), Part("good", "What is measured", 7.0, ("cpu", "cuda"))]


def test_those_of_this_project():
    found = {part.name: part for part in parts()}
    assert {"proxies", "curvature", "growth", "memory", "spaces"} <= found.keys()
    assert all(part.heading for part in found.values())
    on_cpu = sum(part.seconds for part in found.values() if "cpu" in part.devices)
    assert on_cpu <= 1000  # they are bounds; what is measured takes about half of them


def test_rows_survive_whatever_else_is_printed():
    row = Row("a", 1.0, 2.0, floor=0.5, note='"quoted"')
    assert rows_in(f"warning\n{written(row)}\nmore\n") == [row]


@pytest.mark.parametrize(
    ("code", "rows", "why"),
    [
        ("print(1)", 0, "exit code 0, and no row"),
        ("print('perf skipped: no pyarrow')", 0, ""),
        ("print(ROW)", 1, ""),
        ("print(ROW); raise RuntimeError('half way')", 1, "RuntimeError: half way"),
        ("print(ROW, flush=True); import time; time.sleep(60)", 1, "not done after 1 s"),
    ],
)
def test_a_file_in_a_process_of_its_own(monkeypatch, code, rows, why):
    row = Row("a", 1.0, 2.0)
    run = suite.subprocess.run

    def instead(asked, **options):
        return run([sys.executable, "-c", f"ROW = {written(row)!r}\n{code}"], **options)

    monkeypatch.setattr(suite.subprocess, "run", instead)
    monkeypatch.setattr(suite, "PATIENCE", 0.1)
    assert apart(Part("a", "", 10.0), How()) == ([row] * rows, why)


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """The command with made-up rows, a history and an output of its own."""
    ratios = {"now": 1.0, "why": ""}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(history, "FILE", tmp_path / "history.jsonl")
    monkeypatch.setattr(history.read, "__defaults__", (tmp_path / "history.jsonl",))
    monkeypatch.setattr(history.append, "__defaults__", (tmp_path / "history.jsonl",))
    monkeypatch.setattr(suite, "apart", lambda part, how: ([Row("a", ratios["now"], 1.0)], ratios["why"]))
    return ratios


def test_the_command_remembers_and_sees_what_got_worse(measured, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("FORCE_COLOR", "1")
    for ratio, code in ((1.0, 0), (1.1, 0), (1.5, 1)):
        measured["now"] = ratio
        assert command.main(["curvature", "--device", "cpu"]) == code
        assert ("\x1b[31m" in capsys.readouterr().out) is bool(code)
    assert [run.ratios for run in history.read(tmp_path / "history.jsonl")] == [
        {"curvature/a": ratio} for ratio in (1.0, 1.1, 1.5)
    ]
    assert 'class="red"' in (tmp_path / "runs/perf/table.html").read_text()
    assert "color:red" in (tmp_path / "runs/perf/table.md").read_text()


def test_a_failure_is_red_and_not_remembered(measured, capsys, tmp_path):
    measured["why"] = "Killed"
    assert command.main(["curvature", "--device", "cpu"]) == 1
    assert "failed: Killed" in capsys.readouterr().out
    assert not (tmp_path / "history.jsonl").exists()


def test_a_wrong_name(measured, capsys):
    assert command.main(["curvatur"]) == 2
    assert "curvatur: nothing to measure" in capsys.readouterr().err
