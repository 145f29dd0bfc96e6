"""Encoding: the same in batches and one by one, here and there, saved and loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.data.clicks.logs import SMALL, criteo, criteo_rows, small
from tests.properties import examples

from foresee.data.clicks.preparing.fitting import Fitting
from foresee.data.clicks.preprocessing import Preprocessing, batch_of, logged
from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.reading.streaming import chunks
from foresee.data.clicks.reading.texts import key
from foresee.data.clicks.schema import Schema, schema
from foresee.errors import DataError, InputError


def fit(path: Path, of: Schema | str) -> tuple[Preprocessing, list[Chunk]]:
    found = list(chunks(path, of))
    fitting = Fitting(schema(of))
    for chunk in found:
        fitting.add(chunk, np.ones(len(chunk), np.bool_))
    return fitting.done(), found


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Preprocessing, list[Chunk]]:
    return fit(criteo(tmp_path_factory.mktemp("p") / "c.tsv", 80), schema("criteo", least=2))


@pytest.mark.parametrize("normalise", [True, False])
def test_served_one_by_one_as_trained_on(learnt: tuple[Preprocessing, list[Chunk]], normalise: bool) -> None:
    preprocessing, [chunk] = learnt
    trained = batch_of(*preprocessing.encode(chunk), preprocessing.statistics if normalise else None)
    names = schema("criteo").columns or ()
    for number, row in enumerate(criteo_rows(80)):
        served = preprocessing.rows([dict(zip(names, row, strict=True))], normalise=normalise)
        for one, all_of_them in zip((*served.parts, served.labels), (*trained.parts, trained.labels), strict=True):
            assert one is not None
            assert all_of_them is not None
            assert torch.equal(one[0], all_of_them[number])


@examples(60)
@given(st.lists(st.floats(-3e38, 3e38, width=64) | st.just(float("nan")), min_size=1, max_size=20))
def test_numbers_do_not_depend_on_their_neighbours(values: list[float]) -> None:
    array = np.array(values)
    assert np.array_equal(logged(array), [logged(array[n : n + 1])[0] for n in range(len(array))], equal_nan=True)


def test_values_may_come_typed(learnt: tuple[Preprocessing, list[Chunk]]) -> None:
    preprocessing, _ = learnt
    row = dict(zip(schema("criteo").columns or (), criteo_rows(80)[0], strict=True))
    typed: dict[str, Any] = {k: int(v) if k[0] == "I" and v else v for k, v in row.items()}
    typed |= {"I1": float(row["I1"]) if row["I1"] else None, "label": row["label"] == "1", "more": object()}
    one, other = preprocessing.rows([row]), preprocessing.rows([typed])
    assert all(torch.equal(a, b) for a, b in zip(one.parts, other.parts, strict=True))


def test_lists_are_served_as_they_stand_in_a_log(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"y": [k % 2 for k in range(20)], "tags": [[["a", "b"], []][k % 2] for k in range(20)]})
    pq.write_table(table, tmp_path / "a.parquet")
    found, _ = fit(tmp_path / "a.parquet", Schema(label="y", categories=("tags",), least=1))
    served = found.rows([{"tags": ["a", "b"]}, {"tags": '["a","b"]'}, {"tags": []}]).parts[1][:, 0].tolist()
    assert served[0] == served[1] != served[2]


def test_numbers_of_categories(tmp_path: Path) -> None:
    preprocessing, _ = fit(small(tmp_path / "s.csv", 200), SMALL.but(least=15))
    rows = [{"n": "1", "c": value} for value in ("v0", "never", "", None)]
    ids = preprocessing.rows(rows).parts[1][:, 0].tolist()
    assert ids[1:] == [0, 1, 1]
    assert preprocessing.rows(rows).labels is None
    frequent = preprocessing.values[0].tolist()
    assert ids[0] == (2 + frequent.index(key("v0")) if key("v0") in frequent else 0)
    assert (
        int(preprocessing.rows([{"n": 1, "c": f"v{n}"} for n in range(9)]).parts[1].max())
        < preprocessing.vocabularies[0]
    )


def test_hashed(tmp_path: Path) -> None:
    preprocessing, _ = fit(small(tmp_path / "s.csv"), SMALL.but(buckets=7))
    ids = preprocessing.rows([{"n": 1, "c": "new"}, {"n": 1, "c": ""}]).parts[1][:, 0].tolist()
    assert ids == [2 + key("new") % 7, 1]
    assert preprocessing.vocabularies == (9,)


def test_without_numbers_or_without_categories(tmp_path: Path) -> None:
    path = small(tmp_path / "s.csv")
    numbers, _ = fit(path, Schema(label="y", numeric=("n",)))
    dense, sparse = numbers.rows([{"n": 3}]).parts
    assert (numbers.vocabularies, sparse.tolist(), dense.shape) == ((2,), [[1]], (1, 1))
    categories, _ = fit(path, Schema(label="y", categories=("c",)))
    dense, sparse = categories.rows([{"c": "v1"}]).parts
    assert dense.tolist() == [[0.0]]


def test_decimal_commas_are_served_as_numbers_or_as_texts(tmp_path: Path) -> None:
    rows = [f"{k % 2};{k},5;{'ab'[k % 2]}" for k in range(20)]
    (tmp_path / "a.csv").write_text("\n".join(["y;price;c", *rows]) + "\n")
    own = Schema(label="y", numeric=("price",), categories=("c",), decimal_commas=("price",), least=1)
    found, _ = fit(tmp_path / "a.csv", own)
    assert found.schema.decimal_commas == ("price",)
    served = found.rows([{"price": 12.5, "c": "a"}, {"price": "12,5", "c": "a"}, {"price": 1e-7, "c": "a"}])
    assert torch.equal(served.parts[0][0], served.parts[0][1])
    with pytest.raises(InputError, match="decimal comma"):
        found.rows([{"price": "12.5", "c": "a"}])


def test_rows_that_cannot_be(learnt: tuple[Preprocessing, list[Chunk]]) -> None:
    preprocessing, _ = learnt
    row = dict(zip(schema("criteo").columns or (), criteo_rows(1)[0], strict=True))
    with pytest.raises(InputError, match="at least one"):
        preprocessing.rows([])
    with pytest.raises(InputError, match="row 1: no value of I2, C3"):
        preprocessing.rows([row, {k: v for k, v in row.items() if k not in ("I2", "C3")}])
    with pytest.raises(InputError, match="row 1: I5 is 'many': not a number"):
        preprocessing.rows([row, {**row, "I5": "many"}])


def test_saved_and_loaded(learnt: tuple[Preprocessing, list[Chunk]], tmp_path: Path) -> None:
    preprocessing, [chunk] = learnt
    again = Preprocessing.load(preprocessing.save(tmp_path / "p"))
    assert again.fingerprint == preprocessing.fingerprint
    assert (again.schema, again.vocabularies) == (preprocessing.schema, preprocessing.vocabularies)
    for one, other in zip(again.encode(chunk), preprocessing.encode(chunk), strict=True):
        assert np.array_equal(one, other)  # type: ignore[arg-type]
    preprocessing.save(tmp_path / "p")
    assert sorted(file.name for file in (tmp_path / "p").iterdir()) == ["preprocessing.json", "values.npy"]


@pytest.mark.slow
def test_served_in_another_process_without_the_engine(
    learnt: tuple[Preprocessing, list[Chunk]], tmp_path: Path
) -> None:
    preprocessing, _ = learnt
    preprocessing.save(tmp_path)
    row = dict(zip(schema("criteo").columns or (), criteo_rows(1)[0], strict=True))
    code = (
        "import sys, json; sys.modules['pyarrow'] = None\n"
        "from foresee.data.clicks.preprocessing import Preprocessing\n"
        f"batch = Preprocessing.load({str(tmp_path)!r}).rows([json.loads(sys.argv[1])])\n"
        "print(json.dumps([part.double().tolist() for part in batch.parts]))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, json.dumps(row)], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(out) == [part.double().tolist() for part in preprocessing.rows([row]).parts]


def test_damage_is_seen(learnt: tuple[Preprocessing, list[Chunk]], tmp_path: Path) -> None:
    learnt[0].save(tmp_path)
    raw = bytearray((tmp_path / "values.npy").read_bytes())
    raw[-1] ^= 1
    (tmp_path / "values.npy").write_bytes(raw)
    with pytest.raises(DataError, match="not the one that"):
        Preprocessing.load(tmp_path)
    for text in ("", "[]", "{}", '{"format": "foresee-preprocessing", "version": 9}'):
        (tmp_path / "preprocessing.json").write_text(text)
        with pytest.raises(DataError):
            Preprocessing.load(tmp_path)
    with pytest.raises(DataError, match="no preprocessing that can be read"):
        Preprocessing.load(tmp_path / "none")


def test_an_empty_file_of_values_is_said(learnt: tuple[Preprocessing, list[Chunk]], tmp_path: Path) -> None:
    learnt[0].save(tmp_path)
    (tmp_path / "values.npy").write_bytes(b"")
    with pytest.raises(DataError, match="no preprocessing that can be read"):
        Preprocessing.load(tmp_path)
