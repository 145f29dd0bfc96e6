"""Your own measurements, in the simplest form."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from foresee.benchmarks import load
from foresee.benchmarks.table import MEAN, UNKNOWN
from foresee.errors import DataError, InputError

SMALL = """architecture,metric,value,task,epochs,seed,params,proxy:zen
a,acc,90,cifar10,200,0,100,
a,acc,92,cifar10,200,1,,-3.5
b,acc,80,cifar10,200,0,,inf
b,,,,,,7,
"""


@pytest.fixture
def write(tmp_path):
    def make(text, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return make


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "no_ending"])
def test_rows_become_measurements_costs_and_proxies(write, name):
    table = load(write(SMALL, name))
    assert table.values("acc").tolist() == [91.0, 80.0]
    assert table.cost("params").tolist() == [100.0, 7.0]
    np.testing.assert_array_equal(table.proxy("zen"), [-3.5, np.nan])  # a score that is not finite is a missing one
    assert table.source == name
    assert len(table.sha256) == 64


def test_only_three_columns_are_needed(write):
    table = load(write("value,metric,architecture\n1.5,acc,a\n"), space="nasbench201")
    assert (table.space, table.values("acc").tolist()) == ("nasbench201", [1.5])
    assert (table.targets()[0].epochs, table.targets()[0].seeds) == (UNKNOWN, (MEAN,))


def test_byte_order_mark_and_windows_lines(write):
    assert load(write("\ufeffarchitecture,metric,value\r\na,acc,1\r\n")).values("acc").tolist() == [1.0]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_other_separators(write, mark):
    table = load(write(SMALL.replace(",", mark)))
    assert (table.values("acc").tolist(), table.cost("params").tolist()) == ([91.0, 80.0], [100.0, 7.0])


def test_two_columns_are_one_measurement_of_each(write):
    table = load(write("architecture,accuracy\na,90\nb,\nc,80.5\n"), space="mlp")
    np.testing.assert_array_equal(table.values("accuracy"), [90.0, np.nan, 80.5])
    assert (table.space, table.targets()[0].name, dict(table.costs)) == ("mlp", "accuracy", {})


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_text_in_another_encoding_is_said_to_be_none(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes("architecture,metric,value\nü,acc,1\n".encode(encoding))
    with pytest.raises(DataError, match="neither text in UTF-8 nor a known kind of file"):
        load(tmp_path / "t.csv")


def test_a_folder_is_said_to_be_one(tmp_path):
    with pytest.raises(DataError, match="a folder; expected"):
        load(tmp_path)


def test_quoted_texts_with_commas(write):
    text = '"(2, 3.5, 4.0, 3, 4, 192)"'
    assert load(write(f"architecture,metric,value\n{text},acc,1\n")).architectures == ("(2, 3.5, 4.0, 3, 4, 192)",)


def test_the_space_is_read_or_stated_but_never_contradicted(write):
    path = write("architecture,metric,value,space\na,acc,1,darts\nb,acc,2,\n")
    assert load(path).space == load(path, space="darts").space == "darts"
    with pytest.raises(InputError, match="holds architectures of darts, not of nasbench201"):
        load(path, space="nasbench201")
    with pytest.raises(DataError, match="space is darts and mlp"):
        load(write("architecture,metric,value,space\na,acc,1,darts\nb,acc,2,mlp\n"))
    with pytest.raises(DataError, match="expected a JSON object"):
        load(write("architecture,metric,value,space_settings\na,acc,1,[1]\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("architecture,metric,value\na,acc,nan\n", "row 2: value is nan"),
        ("architecture,metric,value\na,acc,inf\n", "row 2: value is inf"),
        ("architecture,metric,value\na,acc,many\n", "row 2: value is 'many', expected a number"),
        ("architecture,metric,value\na,acc,1\na,acc,2\n", "architecture a comes twice"),
        ("architecture,metric,value\na,acc\n", "row 2: 2 entries, expected 3"),
        ("architecture,metric,value\n", "a header and no rows"),
        ("architecture,metric,value\na,,3\n", "belong together"),
        ("architecture,metric,value\n,acc,3\n", "empty text"),
        ("architecture,metric,value,seed\na,acc,3,1.5\n", "row 2: seed is 1.5"),
        ("architecture,metric,value,seed\na,acc,3,1e30\n", "row 2: seed is 1e30"),
        ("architecture,metric,value,value\na,acc,3,4\n", "column value comes twice"),
        ("architecture,metric,value,params\na,acc,3,1\na,acc2,3,1\n", "params of architecture a comes twice"),
        ('architecture,metric,value\n"a,acc,3\n', "cannot be read as a csv file"),
        ("architecture,metric\na,acc\n", r"columns architecture, metric; expected architecture, metric, value \(a row"),
        ("architecture,acc,notes\na,0.5,good\n", "columns architecture, acc, notes; expected .* one column of numbers"),
        ("architecture,metric,value,notes\na,acc,0.5,good\n", "row 2: notes is 'good', expected a number"),
        ("just one line", "not a table that can be read"),
        ("", "an empty file; expected a csv with the columns architecture, metric, value"),
        ("architecture;metric;value\na;acc;79,5\n", "row 2: value is '79,5', expected a number with a point"),
    ],
)
def test_a_mistake_names_the_row_and_what_to_do(write, text, message):
    with pytest.raises(DataError, match=message):
        load(write(text))


def test_damaged_or_enormous_gzip(write, monkeypatch, tmp_path):
    from foresee.benchmarks.formats import base

    path = write("architecture,metric,value\n" + "a,acc,1\n" * 5000, "t.csv.gz")
    monkeypatch.setattr(base, "MAX_TEXT", 10_000)
    with pytest.raises(DataError, match="unpacks to more than"):
        load(path)
    monkeypatch.undo()
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DataError):
        load(path)
