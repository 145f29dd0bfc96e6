"""Predictions of NAS-Bench-301, imported, and a surrogate that is asked."""

from __future__ import annotations

import random
import sys
import types

import pytest

from foresee.benchmarks import load
from foresee.benchmarks.formats import nasbench301
from foresee.errors import DataError, InputError, MissingExtraError
from foresee.spaces import get
from foresee.spaces.darts.text import to_config, to_pairs


@pytest.fixture
def cells():
    rng = random.Random(0)
    return [get("darts").sample(rng) for _ in range(3)]


@pytest.mark.parametrize("form", ["csv", "csv of configurations", "objects", "configurations", "pairs", "by text"])
def test_predictions(write_json, cells, form):
    values = [93.1, 94.2, 92.0]
    if form.startswith("csv"):
        texts = [str(to_config(cell)) if "config" in form else str(cell) for cell in cells]
        rows = ["genotype,prediction", *(f'"{text}",{value}' for text, value in zip(texts, values, strict=True))]
        path = write_json("\n".join(rows), "t.csv")
    elif form == "by text":
        path = write_json(dict(zip(map(str, cells), values, strict=True)))
    else:
        make = {"objects": str, "configurations": to_config, "pairs": to_pairs}[form]
        path = write_json(
            [{"arch": make(cell), "val_accuracy": value} for cell, value in zip(cells, values, strict=True)]
        )
    table = load(path)
    assert (table.space, list(table.architectures)) == ("darts", list(map(str, cells)))
    assert table.values("prediction").tolist() == table.values("val_acc").tolist() == values


@pytest.mark.parametrize("plain", [[{"arch": "x", "prediction": 1}], {"x": 1.0}, [{"arch": 3, "prediction": None}]])
def test_predictions_that_are_not_sound(write_json, plain):
    with pytest.raises((DataError, InputError)):
        load(write_json(plain))


@pytest.mark.parametrize("text", ["{", "[]", "{}", "[1]", '{"a": {}}', "[" * 5000, '{"a": "b"}'])
def test_json_that_is_no_table(write_json, text):
    with pytest.raises(DataError):
        load(write_json(text))


def test_a_surrogate_is_asked_without_noise(monkeypatch, tmp_path, cells):
    asked = []

    class Model:
        def predict(self, config, representation, with_noise):
            assert (representation, with_noise) == ("genotype", False)
            asked.append(config)
            return 90.0 + len(asked)

    fake = types.SimpleNamespace(load_ensemble=lambda folder: Model())
    monkeypatch.setitem(sys.modules, "nasbench301", fake)
    table = nasbench301.predict(tmp_path, list(map(str, cells)))
    assert table.values("val_acc").tolist() == [91.0, 92.0, 93.0]
    assert asked[0].normal == list(cells[0].normal.edges)
    assert asked[0].reduce_concat == [2, 3, 4, 5]
    with pytest.raises(DataError, match="no such folder"):
        nasbench301.predict(tmp_path / "none", [])
    monkeypatch.setitem(sys.modules, "nasbench301", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        nasbench301.predict(tmp_path, [])
