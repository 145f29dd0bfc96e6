"""Command lines and files that nobody would write by accident: each is one line and exit code 2, never a trace."""

from __future__ import annotations

import sys

import pytest
from tests.benchmarks.formats import writers

from foresee.cli.entry import run

BIG = "9" * 5000
LONG = "x" * 100_000
QUICK = ["search", "mlp", "--proxy", "params", "--data", "synthetic", "--evaluations", "2", "--engine", "serial", "-q"]
TABLE = ["nasbench201", "--table", "t.csv", "--target", "acc", "--proxy", "params", "--data", "synthetic", "-q"]
BENCH = ["bench", *TABLE, "--engine", "serial"]


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    cells = "".join(f"{cell},acc,{number}\n" for number, cell in enumerate(writers.CELLS_201))
    (tmp_path / "t.csv").write_text(f"architecture,metric,value\n{cells}")
    (tmp_path / "folder").mkdir()

    def call(*arguments, code=2):
        monkeypatch.setattr(sys, "argv", ["foresee", *arguments])
        capfd.readouterr()
        returned = run()
        printed = capfd.readouterr()
        assert returned == code, printed
        if code == 2:
            assert len(printed.err.strip().splitlines()) == 1, printed.err
            assert len(printed.err) < 1200, "a line is no page"
        return printed.err if code else printed.out

    call.folder = tmp_path
    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*QUICK, "--batch-size", str(2**64)], "at most"),
        ([*QUICK, "--batch-size", str(2**31 - 1), "--input", "3000x3000x3000"], "do not fit into memory"),
        ([*QUICK, "--repeats", "1000000000"], "repeats = 1000000000: at most 10,000"),
        ([*QUICK, "--evaluations", str(2**64)], "at most"),
        ([*QUICK, "--threads", str(2**64)], "at most"),
        ([*QUICK, "--input", f"3x{BIG}"], "expected sizes joined by x"),
        ([*QUICK, "--input", f"3x{2**62}x3"], "at most"),
        ([*QUICK, "--outputs", "9" * 30], "at most"),
        ([*QUICK, "--max-params", "1e400"], "--max-params: quantity '1e400'"),
        ([*QUICK, "--max-params", "1__0k"], "expected a number such as 600k"),
        ([*QUICK, "--max-latency", "1.2.3s"], "expected a number with s, ms or us"),
        ([*QUICK, "--out", LONG], "name too long"),
        ([*QUICK, "--settings", LONG], "name too long"),
        ([*QUICK, "--set", f"space.layers={'[' * 100_000}"], "nested too deep"),
        ([*QUICK, "--set", f"evolution.population={'9' * 30}"], "expected a whole number"),
        ([*QUICK, "--latency-table", "deep.json"], "not a latency table"),
        ([*QUICK, "--settings", "deep.toml"], "nested too deep"),
        ([*QUICK, "--settings", "dotted.toml"], "nested at most 20 deep"),
        ([*QUICK, "--settings", "digits.toml"], "not valid TOML"),
        ([*QUICK, "--settings", "hexadecimal.toml"], "a int that is too large to show: expected a whole number"),
        ([*BENCH, "--repeats", "1000000000"], "repeats = 1000000000: at most 10,000"),
        ([*BENCH, "--seed", str(2**64)], "at most"),
        ([*BENCH, "--bootstrap", "1000000000000"], "bootstrap"),
        ([*BENCH[:5], f"acc#{BIG}", *BENCH[6:]], "unknown target"),
        ([*BENCH[:5], "acc#²", *BENCH[6:]], "unknown target"),
        ([*BENCH, "--out", LONG], "name too long"),
        (["latency", "mlp", "--device", "x"], "device 'x' cannot be used here"),
        (["latency", "mlp", "--out", "nowhere/at/all.json"], "in a folder that is there"),
        (["latency", "mlp", "--out", "folder"], "expected a file to write"),
        (["latency", "mlp", "--samples", "0"], "expected at least 1 sample"),
        (["latency", "mlp", "--threads", "0"], "1 to 4096 threads"),
        (["table", "info", LONG], "name too long"),
        (["table", "info", "huge.csv"], "at most 1e+150 is possible"),
        (["table", "info", "huge_cost.csv"], "at most 1e+150 is possible"),
        (["table", "info", "returns.csv"], "expected a csv"),
        (["table", "info", "long_name.csv"], "cannot be read as a csv"),
        (["table", "info", "deep.json"], "deep.json"),
        (["table", "convert", "t.csv", f"{LONG}.npz"], "name too long"),
        (["table", "convert", "t.csv", f"{'x' * 246}.csv"], "cannot be written"),
        (["table", "convert", "t.csv", "/proc/t.npz"], "cannot be written"),
        (["report", LONG], "name too long"),
        (["paper", "dextr-table-1", "--out", LONG], "name too long"),
        (["paper", "dextr-table-1", "--tables", LONG], "name too long"),
    ],
)
def test_a_mistake_is_one_line(foresee, arguments, words):
    write_files(foresee.folder)
    assert words.lower() in foresee(*arguments).lower()


def write_files(folder):
    (folder / "deep.toml").write_text(f"space = 'mlp'\nx = {'[' * 3000}{']' * 3000}\n")
    (folder / "dotted.toml").write_text(f"space = 'mlp'\n[space_settings.{'.'.join('a' * 3000)}]\nx = 1\n")
    (folder / "digits.toml").write_text(f"space = 'mlp'\nseed = {BIG}\n")
    (folder / "hexadecimal.toml").write_text(f"space = 'mlp'\nseed = 0x{'f' * 5000}\n")
    (folder / "deep.json").write_text("[" * 200_000)
    cells = list(writers.CELLS_201[:2])
    (folder / "huge.csv").write_text(f"architecture,acc\n{cells[0]},1.7e308\n{cells[1]},-1.7e308\n")
    (folder / "huge_cost.csv").write_text(f"architecture,metric,value,params\n{cells[0]},acc,1,-1.7e308\n")
    (folder / "returns.csv").write_bytes(b"\r\r\r\r")
    (folder / "long_name.csv").write_text(f"architecture,{LONG * 2}\n")


def test_a_read_only_folder_is_said_in_one_line(foresee, monkeypatch):
    """Root may write anywhere, so the system's refusal is made here."""
    from pathlib import Path

    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("zipfile.ZipFile", lambda path, *_: refuse(path))
    monkeypatch.setattr(Path, "unlink", refuse)
    assert "folder/t.npz: cannot be written (Permission denied)" in foresee("table", "convert", "t.csv", "folder/t.npz")


def test_a_csv_with_carriage_returns_alone_is_read_as_any_other(foresee):
    text = (foresee.folder / "t.csv").read_text()
    (foresee.folder / "mac.csv").write_bytes(text.replace("\n", "\r").encode())
    assert foresee("table", "info", "mac.csv", code=0).count("acc") == 1


def test_text_in_a_file_steers_no_terminal(foresee):
    (foresee.folder / "bad.csv").write_text(
        "architecture,metric,value,task,par\x1b[2Jams,space\n"
        f'{writers.CELLS_201[0]},"acc\x1b]0;owned\x07",1,"t\x9b31m\u202ek\rx",3,nasbench201\n'
    )
    printed = foresee("table", "info", "bad.csv", code=0)
    for shown in ("par\\x1b[2Jams", "acc\\x1b]0;owned\\x07", "t\\x9b31m\\u202ek\\rx"):
        assert shown in printed
    for steering in "\x1b\x07\x9b\u202e\r":
        assert steering not in printed
    said = foresee("table", "info", "bad.csv", "--space", "mlp")
    assert "\x1b" not in said
    (foresee.folder / "name\x1b[31m.csv").write_text("x")
    assert "name\\x1b[31m.csv" in foresee("table", "info", "name\x1b[31m.csv")
