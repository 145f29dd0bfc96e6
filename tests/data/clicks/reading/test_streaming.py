"""Streaming: each published format, malformed rows with their lines, the engine beside the slow way."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.clicks.logs import SMALL, column, criteo, criteo_rows, small, together, write
from tests.properties import examples

from foresee.data.clicks.reading import streaming as reading
from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.reading.streaming import chunks
from foresee.data.clicks.schema import Schema, schema
from foresee.errors import DataError

AVAZU = (
    "id,click,hour,C1,banner_pos,site_id,site_domain,site_category,app_id,app_domain,app_category,device_id,device_ip,"
    "device_model,device_type,device_conn_type,C14,C15,C16,C17,C18,C19,C20,C21"
)


@pytest.mark.parametrize("name", ["a.tsv", "a.txt.gz"])
def test_criteo_as_published(tmp_path: Path, name: str) -> None:
    rows = criteo_rows(60)
    found, wrong = together(criteo(tmp_path / name), "criteo")
    assert not wrong
    assert np.concatenate([one.labels for one in found]).tolist() == [int(row[0]) for row in rows]
    for at in (1, 13):
        values = np.concatenate([one.numbers[f"I{at}"] for one in found])
        assert [None if np.isnan(v) else int(v) for v in values] == [int(row[at]) if row[at] else None for row in rows]
    keys = np.concatenate([one.keys["C26"] for one in found])
    assert [key == 0 for key in keys] == [row[39] == "" for row in rows]


def test_criteo_with_commas_a_header_line_and_other_columns(tmp_path: Path) -> None:
    names = ["split", "Id", *(schema("criteo").columns or ())]
    rows = [["train", "7", *row] for row in criteo_rows(20)]
    path = write(tmp_path / "c.csv.gz", "\n".join(map(",".join, [names, *rows])))
    plain, _ = together(criteo(tmp_path / "c.tsv", 20), "criteo")
    found, wrong = together(path, "criteo")
    assert not wrong
    assert _same(found, plain)


def test_avazu(tmp_path: Path) -> None:
    row = "10000169349117863715,0,14102123,1005,0,1fbe01fe,f3845767,28905ebd,ecad2386,7801e8d9,07d7df22,a99f214a,96809ac8,"
    row += "711ee120,1,0,15704,320,50,1722,0,35,-1,79"
    for content in (f"{AVAZU}\n{row}\n", f"{row}\n"):
        [found], wrong = together(write(tmp_path / "a.csv", content), "avazu")
        assert not wrong
        assert found.numbers["hour_number"].tolist() == [23.0]
        assert len(found.keys) == 23
        assert found.keys["weekday"].tolist() == [reading_key("1")]  # a Tuesday


@pytest.mark.parametrize("profile", [[], ["1", "5"]])
def test_kdd2012(tmp_path: Path, profile: list[str]) -> None:
    rows = [["0", "1", "432", "7686695", "385", "3", "3", "1601", "5521", "7709", "576", "490234"]]
    rows += [["2", "3", "433", "7686696", "386", "2", "1", "1602", "5522", "7710", "577", "490235"]]
    [found], wrong = together(write(tmp_path / "k.txt", "\n".join("\t".join(row + profile) for row in rows)), "kdd2012")
    assert not wrong
    assert found.labels is not None
    assert found.labels.tolist() == [0, 1]
    assert found.numbers["impression"].tolist() == [1.0, 3.0]
    assert (found.keys["Gender"] == 0).tolist() == [not profile] * 2


def test_malformed_rows_are_named_and_passed_over(tmp_path: Path) -> None:
    rows = ["y,n,c", "1,1,a", "0,2", "2,3,a", "1,x,a", "0,4,a,b", "", ",5,a", "1,inf,a", "0,NA,", '1,6,"a\nb"', '1,"7']
    found, wrong = together(write(tmp_path / "m.csv", "\n".join(rows)), SMALL)
    assert [(one.line, one.reason) for one in wrong] == [
        (3, "2 fields, expected 3"),
        (4, "y is '2': neither '1' nor what means no"),
        (5, "n is 'x': not a number"),
        (6, "4 fields, expected 3"),
        (8, "y is '': neither '1' nor what means no"),
        (9, "n is 'inf': not a number"),
        (13, "a quote is opened and never closed"),
    ]
    assert column(found, "c") == ["a", "", "a\nb"]
    assert sum(one.malformed_count for one in found) == 7


def test_more_malformed_rows_than_are_remembered(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "y,n,c\n1,1,a\n" + "1,1\n" * 150 + "5,1,a\n" * 150)
    found, wrong = together(path, SMALL)
    assert sum(one.malformed_count for one in found) == 300
    assert [one.line for one in wrong] == list(range(3, 103))


def test_a_schema_of_another_file_is_said_early(tmp_path: Path) -> None:
    path = write(tmp_path / "o.csv", "y,n,c\n" + "yes,1,a\n" * 2000)
    with pytest.raises(DataError, match=r"none of the first 2,000 rows fits .* line 2: y is 'yes'"):
        list(chunks(path, SMALL))


def test_a_truncated_file(tmp_path: Path) -> None:
    raw = gzip.compress(criteo(tmp_path / "w.tsv", 400).read_bytes())
    (tmp_path / "t.tsv.gz").write_bytes(raw[: len(raw) // 2])
    found, wrong = together(tmp_path / "t.tsv.gz", "criteo")
    assert 0 < sum(map(len, found)) < 400
    assert ["ends in the middle" in one.reason for one in wrong] == [True]


FIELDS = st.sampled_from(
    ["1", "0", "", "2", "x", "NA", " 1 ", "1.5", "+3", "1e9", "a,b", 'q"q', "two\nlines", "é", "0"]
)


@examples(60)
@given(st.lists(st.lists(FIELDS, min_size=3, max_size=3) | st.lists(FIELDS, min_size=2, max_size=4), max_size=25))
def test_the_engine_and_the_slow_way_agree(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows([["y", "n", "c"], *rows])
    path = write(tmp_path_factory.mktemp("e") / "t.csv", written.getvalue())
    fast, fast_wrong = together(path, SMALL, block=64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_is_plain", lambda content: False)
        slow, slow_wrong = together(path, SMALL, block=64)
        whole, whole_wrong = together(path, SMALL)
    assert fast_wrong == slow_wrong == whole_wrong
    assert _same(fast, slow)
    assert _same(fast, whole)
    assert [one.first_row for one in fast] == [sum(len(c) for c in fast[:n]) for n in range(len(fast))]


def _same(first: list[Chunk], second: list[Chunk]) -> bool:
    def joined(found: list[Chunk]) -> list[Any]:
        arrays = [np.concatenate([one.labels for one in found])] if found else []
        names = found[0].columns if found else []
        return arrays + [np.concatenate([one.columns[name] for one in found]) for name in names]

    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(joined(first), joined(second), strict=True)
    )


def reading_key(text: str) -> int:
    from foresee.data.clicks.reading.texts import key

    return key(text)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(tmp_path: Path, threads: int) -> None:
    path = criteo(tmp_path / "t.tsv", 200)
    one, other = together(path, "criteo", block=5000), together(path, "criteo", block=5000, threads=threads)
    assert [len(chunk) for chunk in one[0]] == [len(chunk) for chunk in other[0]]
    assert _same(one[0], other[0])


def test_a_pass_can_be_left(tmp_path: Path) -> None:
    for chunk in chunks(criteo(tmp_path / "t.tsv", 200), "criteo", block=3000):
        assert len(chunk) > 0
        break


# -- Parquet ----------------------------------------------------------------------------------------------------------
def test_parquet_of_texts_is_as_csv(tmp_path: Path) -> None:
    rows = criteo_rows(40)
    names = list(schema("criteo").columns or ())
    pq.write_table(pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)}), tmp_path / "c.parquet")
    found, wrong = together(tmp_path / "c.parquet", "criteo")
    assert not wrong
    assert _same(found, together(criteo(tmp_path / "c.tsv", 40), "criteo")[0])


def test_parquet_of_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "y": pa.array([True, False, True, None]),
            "n": pa.array([1.5, None, float("nan"), 2.0], pa.float32()),
            "c": pa.array([7.0, None, 8.0, 9.0]),
            "d": pa.array(["a", "b", None, "a"]).dictionary_encode(),
            "i": pa.array([1005, 2, 3, 4], pa.int64()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    known = Schema(label="y", numeric=("n",), categories=("c", "d", "i"))
    [found], wrong = together(tmp_path / "t.parquet", known)
    assert found.labels is not None
    assert found.labels.tolist() == [1, 0, 1]
    assert np.isnan(found.numbers["n"]).tolist() == [False, True, True]
    assert column([found], "c") == ["7", "", "8"]
    assert (found.keys["d"] == 0).tolist() == [False, False, True]
    assert found.keys["i"].tolist()[0] == reading_key("1005")
    assert [(one.line, one.reason[:7]) for one in wrong] == [(4, "y is ''")]


def test_parquet_that_cannot_be_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"y": [1], "n": [1]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="no column c; there are y, n"):
        list(chunks(tmp_path / "t.parquet", SMALL))
    (tmp_path / "b.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read as a Parquet file"):
        list(chunks(tmp_path / "b.parquet", SMALL))


def test_small_files_of_each_size(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no row in it"):
        list(chunks(write(tmp_path / "e.csv", ""), SMALL))
    found, _ = together(write(tmp_path / "h.csv", "y,n,c\n"), SMALL)
    assert sum(map(len, found)) == 0
    found, _ = together(small(tmp_path / "s.csv", 1), SMALL)
    assert sum(map(len, found)) == 1
    with pytest.raises(DataError, match="No such file"):
        list(chunks(tmp_path / "none.csv", SMALL))


def test_real_rows() -> None:
    folder = Path(os.environ.get("FORESEE_DATA", Path(__file__).parents[4] / ".." / "shared" / "data")) / "ctr"
    if not folder.is_dir():
        pytest.skip(f"no measuring data at {folder}; set FORESEE_DATA")
    for name, of, rows, yes in (("criteo_kaggle_12k", "criteo", 11931, None), ("avazu_kaggle", "avazu", 8999, 1563)):
        found, wrong = together(folder / f"{name}.csv.gz", of)
        labels = np.concatenate([one.labels for one in found])
        assert (len(labels), wrong) == (rows, [])
        assert yes is None or labels.sum() == yes
