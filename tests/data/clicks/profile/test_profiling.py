"""A profile is held against the same numbers made the obvious way, of a file that fits into memory."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest

from foresee.data.clicks.made.generating import generated
from foresee.data.clicks.profile import sketches
from foresee.data.clicks.profile.profiling import profile
from foresee.data.clicks.profile.tallies import QUANTILES
from foresee.data.clicks.schema import Schema, schema
from foresee.errors import DataError, UnknownNameError

pytest.importorskip("pyarrow")
NUMERIC = ("price", "views", "visits", "age_days", "stock", "rank")
CATEGORIES = ("visitor", "item", "seller", "category", "site", "campaign", "device", "place")
OWN = Schema(label="click", numeric=NUMERIC, categories=CATEGORIES)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return generated(tmp_path_factory.mktemp("logs") / "clicks.csv", 3000, malformed=0.01)


@pytest.fixture(scope="module")
def rows(log):
    lines = log.path.read_text().splitlines()
    wrong = {line for line, _ in log.named}
    names = lines[0].split(",")
    return [
        dict(zip(names, line.split(","), strict=True)) for n, line in enumerate(lines, 1) if n > 1 and n not in wrong
    ]


def test_counts_are_those_of_the_file(log, rows):
    found = profile(log.path, OWN)
    assert (found.rows, found.yes, found.malformed) == (len(rows), log.clicks, log.malformed)
    assert [one.line for one in found.named] == [line for line, _ in log.named][: len(found.named)]
    assert found.whole
    for one in found.categories:
        there = [row[one.name] for row in rows if row[one.name]]
        assert (one.missing, one.distinct, one.exact) == (len(rows) - len(there), len(set(there)), True)
        counted = Counter(there)
        assert [value.rows for value in one.most] == [many for _, many in counted.most_common(len(one.most))]
        for value in one.most:
            assert value.rows == counted[value.name]
            assert value.yes == sum(row["click"] == "1" for row in rows if row[one.name] == value.name)


def test_numbers_are_those_of_numpy(log, rows):
    for one in profile(log.path, OWN).numbers:
        there = np.array([float(row[one.name]) for row in rows if row[one.name]])
        assert (one.missing, one.distinct) == (len(rows) - len(there), len(set(there.tolist())))
        assert (one.low, one.high) == (there.min(), there.max())
        assert one.mean == pytest.approx(there.mean())
        assert one.spread == pytest.approx(there.std())
        assert one.quantiles == pytest.approx(np.quantile(there, QUANTILES))
        assert sum(group.rows for group in one.groups) == len(there)
        assert len(one.groups) <= 10


def test_chunks_do_not_matter(log, monkeypatch):
    from foresee.data.clicks.reading import streaming as reading

    whole = profile(log.path, OWN)
    real = reading.chunks
    monkeypatch.setattr(reading, "chunks", lambda path, of: real(path, of, block=4096))
    parts = profile(log.path, OWN)
    assert (parts.rows, parts.categories, parts.malformed) == (whole.rows, whole.categories, whole.malformed)
    for one, other in zip(parts.numbers, whole.numbers, strict=True):
        assert one.quantiles == other.quantiles
        assert one.mean == pytest.approx(other.mean)
        assert one.spread == pytest.approx(other.spread)
    assert sum(run.rows for run in parts.along) == parts.rows
    assert len(parts.along) <= 64


def test_a_long_file_is_estimated_and_says_so(tmp_path, monkeypatch):
    from foresee.data.clicks.profile import tallies

    small = {"Distinct": sketches.Distinct, "Drawn": sketches.Drawn, "Frequent": sketches.Frequent}
    for name, kind in small.items():
        monkeypatch.setattr(tallies, name, lambda kind=kind: kind(room=400))
    made = generated(tmp_path / "a.csv", 8000)
    found = profile(made.path, OWN)
    seller = next(one for one in found.categories if one.name == "seller")
    exact = len({line.split(",")[9] for line in made.path.read_text().splitlines()[1:]} - {""})
    assert not seller.exact
    assert seller.distinct == pytest.approx(exact, rel=0.25)
    assert "about" in str(found)
    views = next(one for one in found.numbers if one.name == "views")
    assert not views.exact
    assert sum(group.rows for group in views.groups) == 400
    counts = np.array([int(line.split(",")[2]) for line in made.path.read_text().splitlines()[1:]])
    assert views.mean == pytest.approx(counts.mean())  # what needs no sample is exact
    assert abs((counts <= views.quantiles[2]).mean() - 0.5) < 0.12


def test_the_first_rows_alone(log):
    found = profile(log.path, OWN, rows=500)
    assert (found.rows, found.whole) == (500, False)
    assert profile(log.path, OWN, rows=10_000).whole


def test_parts_of_a_split_by_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,x,part\n" + "".join(f"{k % 2},{k},{'train' if k < 6 else 'test'}\n" for k in range(10)))
    found = profile(path, Schema(label="y", numeric=("x",), split={"by": "column", "column": "part"}))
    assert [(one.name, one.rows, one.yes) for one in found.parts] == [("train", 6, 3), ("test", 4, 2)]


def test_columns_that_are_all_missing_or_constant(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,x,z,c,d\n" + "".join(f"{k % 2},,5,,same\n" for k in range(10)))
    found = profile(path, Schema(label="y", numeric=("x", "z"), categories=("c", "d")))
    empty, same = found.numbers
    assert (empty.missing, empty.distinct, empty.quantiles, empty.groups) == (10, 0, (), ())
    assert math.isnan(empty.mean)
    assert (same.spread, [group.name for group in same.groups]) == (0, ["5"])
    assert [(one.missing, one.distinct) for one in found.categories] == [(10, 0), (0, 1)]
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert plain["numbers"][0]["mean"] is None
    assert plain["rate"] == 0.5
    assert "same" in str(found)
    assert "<table" in found._repr_html_()


def test_derived_columns_have_their_numbers_as_names(tmp_path):
    made = generated(tmp_path / "a.csv", 4000, form="avazu")
    found = {one.name: one for one in profile(made.path, schema("avazu")).categories}
    assert found["weekday"].distinct == 2
    assert {value.name for value in found["hour_of_day"].most} <= {str(hour) for hour in range(24)}


def test_what_cannot_be_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,x\nyes,1\nno,2\n")
    with pytest.raises(DataError, match=r"no row of it can be used; 2 are malformed, such as line 2: y is 'yes'"):
        profile(path, Schema(label="y", numeric=("x",)))
    with pytest.raises(UnknownNameError, match="criteo"):
        profile(path, "critteo")
    with pytest.raises(DataError, match="nothing"):
        profile(tmp_path / "nothing.csv", "criteo")


def test_it_tells_how_far_it_is(log):
    told = []
    profile(log.path, OWN, told=told.append)
    assert told[-1] == 3000 - log.malformed


@pytest.mark.parametrize("form", ["criteo", "avazu", "kdd2012"])
def test_every_published_form_is_read_with_its_malformed_rows_named(form, tmp_path):
    made = generated(tmp_path / "log.txt.gz", 1200, form=form, malformed=0.01)
    found = profile(made.path, form)
    assert (found.rows, found.yes, found.malformed) == (1200 - made.malformed, made.clicks, made.malformed)
    assert [one.line for one in found.named] == [line for line, _ in made.named]
