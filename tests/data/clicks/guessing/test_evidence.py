from __future__ import annotations

import random

import pytest

from foresee.data.clicks.guessing.evidence import Column

rng = random.Random(0)
#: some far more frequent than their neighbours, as of sites or creatives
CODES = [code for k in range(70) for code in [k * 37 % 2500] * rng.choice([1, 1, 2, 30])]


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        ([int(rng.expovariate(0.05)) for _ in range(3000)], "counts"),
        ([round(rng.gauss(40, 12)) for _ in range(3000)], "smooth"),
        ([round(rng.lognormvariate(12, 0.6)) for _ in range(3000)], "spread"),
        ([rng.randrange(10**6) for _ in range(3000)], "code"),
        ([100_000 + rng.randrange(200) for _ in range(3000)], "code"),
        ([rng.choice([1, 5, 9]) for _ in range(300)], "few"),
        ([rng.choice(CODES) for _ in range(3000)], "code"),
    ],
)  # fmt: skip
def test_shapes_of_whole_numbers(values, shape):
    assert Column("x", [str(value) for value in values]).shape == shape


@pytest.mark.parametrize(
    ("name", "values", "form", "clocked"),
    [
        ("hour", ["14102100", "14102123"], "%y%m%d%H", True),
        ("C20", ["14102100", "14102123"], None, False),
        ("day", ["20240131", "20240201"], "%Y%m%d", False),
        ("seen", ["2024-01-31 10:00:00", "2024-02-01 11:30:00"], "iso", True),
        ("x", ["2024-01-31T10:00:00Z", "2024-02-01T11:30:00+01:00"], "iso", True),
        ("x", ["2024-01-31", "2024-02-01"], "iso", False),
        ("x", ["31.01.2024 10:00", "01.02.2024 11:30"], "%d.%m.%Y %H:%M", True),
        ("timestamp", ["1494000000", "1494700000"], "unix", True),
        ("ts", ["1494000000123", "1494700000456"], "unix_ms", True),
        ("phone", ["1494000000", "1494700000"], None, False),
        ("date", ["2024-13-31", "2024-02-01"], None, False),
        ("time", ["morning", "noon"], None, False),
    ],
)
def test_times(name, values, form, clocked):
    column = Column(name, values)
    assert (column.time, column.clocked) == (form, clocked)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("user_id", "code"), ("UserID", "code"), ("userid", "code"), ("zip", "code"), ("device_type", "code"),
        ("user_age", "quantity"), ("hours_per_week", "quantity"), ("num_sites", "quantity"), ("slotprice", "quantity"),
        ("price_category", "code"), ("capital_gain", "quantity"), ("C14", ""), ("x", ""), ("123", ""),
    ],
)  # fmt: skip
def test_what_names_say(name, said):
    assert Column(name, []).said == said


@pytest.mark.parametrize(
    ("values", "european"),
    [
        (["1,50", "2,75", "1.299,00"], True),
        (["1,50", "3"], True),
        (["1.50", "2.75"], False),
        (["1,2,3", "4,5"], False),
        ([], False),
    ],
)
def test_decimal_commas(values, european):
    assert Column("price", values).european == european


def test_hashes_that_look_like_numbers_are_none():
    column = Column("C1", ["12345678", "1e345678", "0a1b2c3d", "99999999"] * 5)
    assert column.numbers is None


def test_missing_values_are_no_values():
    column = Column("x", ["", "NA", "1", "2", "NULL"])
    assert column.missing == pytest.approx(0.6)
    assert column.numbers is not None
    assert column.numbers.tolist() == [1, 2]
