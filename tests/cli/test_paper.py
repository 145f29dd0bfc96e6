"""`foresee paper`, as a user at a terminal meets it."""

from __future__ import annotations

import json
import sys

import pytest

from foresee.cli.entry import run
from foresee.papers import numbers


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    """The command, called in this process from an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["foresee", *arguments])
        capfd.readouterr()
        returned = run()
        found = capfd.readouterr()
        assert returned == code, (returned, found.out, found.err)
        if code == 2:
            assert len(found.err.strip().splitlines()) == 1, found.err
        return found.err if code else found.out

    return call


def test_list_names_every_table_and_what_becomes_of_it(foresee):
    rows = {row["name"]: row for row in json.loads(foresee("paper", "list", "--json"))}
    assert len([row for row in rows.values() if row["numbers"] == "printed"]) == 61
    assert rows["dextr-table-1"]["ours"] == "computed here"
    assert "ImageNet" in rows["nasi-table-5"]["ours"]
    assert rows["sigeo-table-1"]["ours"] == "computed here"
    assert rows["dextr-figure-1a"]["numbers"] == "a picture"
    for row in rows.values():
        assert row["ours"] != "computed here" or (row["computes"] and row["size"]), row
        assert "\n" not in row["computes"] + row["size"] + row["ours"]
    assert rows["thesis-figure-4.3"]["size"].startswith("4 variants, 3 seeds, 5 epochs")
    assert rows["dextr-table-1"]["size"] == "1,000 architectures of each benchmark"
    text = foresee("paper", "list")
    assert all(name in text for name in rows)
    assert "61 published tables, 54 of them computed here" in " ".join(text.split())


@pytest.mark.parametrize("name", numbers.names())
def test_every_published_table_can_be_printed(foresee, name):
    text = foresee("paper", name)
    assert name in text
    assert "nothing computed in this run" in text
    table = numbers.published(name)
    assert table.document.split(",")[0] in text
    for column in table.columns:
        for row in table.rows:
            value = row.values[column.name]
            assert (
                value is None or (f"{value:g}" if column.decimals is None else f"{value:.{column.decimals}f}") in text
            )


def test_tables_that_are_not_computed_say_why(foresee):
    assert "needs networks trained on ImageNet" in foresee("paper", "nasi-table-5")
    assert "not asked for in this run (--data)" in foresee("paper", "sigeo-table-1")
    assert "not asked for in this run" in foresee("paper", "dextr-table-1")


def test_mistakes_are_one_line(foresee, tmp_path):
    assert "did you mean dextr-table-1" in foresee("paper", "dexter-table-1", code=2)
    assert "no such folder" in foresee("paper", "dextr-table-1", "--tables", "nowhere", code=2)
    assert "expected a number" in foresee("paper", "dextr-table-1", "--sample", "-3", code=2)
    assert "unknown engine" in foresee(
        "paper", "dextr-table-7", "--tables", str(_sizes(tmp_path)), "--engine", "steam", code=2
    )


def test_settings_are_of_spaces_and_searchers(foresee):
    said = foresee("paper", "nasi-table-2", "--sample", "1", "--set", "nassi.steps=2", code=2)
    assert "space or searcher in --set 'nassi'" in said
    assert "nasi" in said
    page = json.loads(
        foresee(
            "paper", "nasi-table-2", "--sample", "1", "--set", "nasi.steps=2", "--set", "table.trained=false", "--json"
        )
    )
    assert page["settings"]["searcher_settings"] == {"nasi": {"steps": 2}}
    own = ["paper", "sigeo-figure-5", "--sample", "0", "--set", "mlp.widths=[2,3]"]
    assert "did you mean steps" in foresee(*own, "--set", "table.step=2", code=2)
    page = json.loads(foresee(*own, "--set", "table.steps=2", "--set", "table.batch=8", "--json"))
    assert page["settings"]["table_settings"] == {"steps": 2, "batch": 8}
    assert len([line for line in page["lines"] if line["ours"] is not None]) == 8


def test_rows_and_benchmarks_can_be_asked_for(foresee, tmp_path):
    options = ["--tables", str(_sizes(tmp_path)), "--data", "synthetic", "--engine", "serial", "--bootstrap", "20"]
    options += ["--benchmark", "nats_sss_cifar10", "--row", "params"]
    plain = json.loads(foresee("paper", "dextr-table-6", *options, "--json"))
    ours = [line for line in plain["lines"] if line["ours"] is not None]
    assert [(line["row"], line["column"]) for line in ours] == [("#params", "nats-sss-cifar10")]
    assert all("not asked for" in line["reason"] for line in plain["lines"] if line["ours"] is None)
    assert plain["settings"]["rows"] == ["params"]
    assert "did you mean grasp" in foresee("paper", "dextr-table-6", *options, "--row", "grap", code=2)
    assert "did you mean nats-sss-cifar10" in foresee(
        "paper", "dextr-table-6", *options, "--benchmark", "nats-sss-cifar", code=2
    )
    assert "leave out --row" in foresee("paper", "thesis-table-7.1", *options, code=2)


def test_a_wide_table_is_shown_in_parts(foresee, monkeypatch):
    from foresee.cli.app import out

    monkeypatch.setattr(out, "width", 80)
    text = foresee("paper", "sigeo-table-2")
    assert max(len(line) for line in text.splitlines() if "SiGeo (Ours)" in line or ":kendall" in line) <= 80
    assert text.count("SiGeo (Ours)") > 1
    assert all(column.name in text for column in numbers.published("sigeo-table-2").columns)


def _sizes(folder):
    """A table of the size space in the long form: four networks."""
    folder = folder / "tables"
    folder.mkdir(exist_ok=True)
    (folder / "notes.txt").write_text("not a table\n")
    lines = ["index,channels,val_acc_cifar10"]
    lines += [
        f"{i},{c},{a}"
        for i, (c, a) in enumerate(
            zip(("8:8:8:8:8", "8:16:8:16:8", "16:8:8:8:24", "8:8:24:8:16"), (70, 80, 75, 78), strict=True)
        )
    ]
    (folder / "sizes.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_table_is_computed_written_and_cached(foresee, tmp_path):
    options = ["--tables", str(_sizes(tmp_path)), "--data", "synthetic", "--engine", "serial", "--bootstrap", "50"]
    text = foresee("paper", "dextr-table-7", *options, "--out", "runs")
    assert "-0.63" in text
    assert "n = 4" in text
    assert "no table of nats_size with test_acc_cifar100" in " ".join(text.split())
    assert "val_acc_cifar10; no table at hand has test_acc_cifar10" in " ".join(text.split())  # wrapped to the terminal
    plain = json.loads((tmp_path / "runs/dextr-table-7.json").read_text())
    ours = {(line["row"], line["column"]): line for line in plain["lines"]}
    assert ours["Dextr", "nats-sss-cifar10"]["n"] == 4
    assert -1 <= ours["Dextr", "nats-sss-cifar10"]["ours"] <= 1
    assert ours["Dextr", "nats-sss-cifar100"]["ours"] is None
    assert plain["settings"]["seed"] == 0
    assert plain["settings"]["data"] == "synthetic"
    assert (tmp_path / "runs/dextr-table-7.csv").exists()
    assert (tmp_path / "runs/scores.sqlite").exists()

    again = foresee("paper", "dextr-table-7", *options, "--cache", "runs/scores.sqlite", "--json")
    assert json.loads(again)["lines"] == plain["lines"]
