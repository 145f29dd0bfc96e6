from __future__ import annotations

import pytest

from foresee.data.clicks.guessing.evidence import Column
from foresee.data.clicks.guessing.labels import find_label, other_outcomes
from foresee.errors import DataError


def columns(**values):
    return [Column(name, [str(value) for value in some]) for name, some in values.items()]


def test_a_name_wins_over_other_columns_of_two_values():
    found = find_label(columns(is_mobile=[0, 1, 0, 1], gender=["m", "f", "m", "f"], clicked=[0, 0, 0, 1]), header=True)
    assert (found.name, found.positive, found.negative) == ("clicked", ("1",), ("0",))


def test_the_only_column_of_two_values():
    found = find_label(columns(a=[1, 2, 3, 4], flag=["on", "off", "off", "off"]), header=True)
    assert (found.name, found.positive) == ("flag", ("on",))


def test_several_without_a_name():
    with pytest.raises(DataError, match=r"is_mobile \(0, 1\) and gender \(m, f\)"):
        find_label(columns(is_mobile=[0, 1], gender=["m", "f"]), header=True)


def test_the_first_column_of_a_file_without_names_unless_the_last_may_be_meant_too():
    first = columns(column_1=[0, 1, 1, 0], column_2=["a", "b", "a", "a"], column_3=[1, 2, 3, 4])
    assert find_label(first, header=False).name == "column_1"
    with pytest.raises(DataError, match="several columns"):
        find_label(first[:2], header=False)


def test_counts_of_clicks_mean_yes_above_nothing():
    found = find_label(columns(click=[0, 1, 2, 0, 5, 0], x=[1, 2, 3, 4, 5, 6]), header=True, label="click")
    assert found.positive == (">0",)


def test_a_label_of_one_value_is_said():
    with pytest.raises(DataError, match=r"only the value '0'.*--label"):
        find_label(columns(click=[0, 0, 0], x=[1, 2, 3]), header=True, label="click")


def test_a_split_is_no_label():
    with pytest.raises(DataError, match="no column of two values"):
        find_label(columns(part=["train", "test"] * 5, x=range(10)), header=True)


def test_other_outcomes():
    there = columns(click=[0, 1], purchase=[0, 1], site=["a", "b"])
    assert other_outcomes(there, "click") == ["purchase"]


def test_a_count_is_a_label_where_nothing_has_two_values():
    counts = Column("conversions", ["0", "0", "1", "3", "0", "2"] * 20)
    other = Column("views", [str(k % 9) for k in range(120)])
    found = find_label([other, counts], header=True)
    assert (found.name, found.positive) == ("conversions", (">0",))
    flag = Column("clicked", ["0", "1"] * 60)
    assert find_label([counts, flag], header=True).name == "clicked"


@pytest.mark.parametrize(("no", "yes"), [("nein", "ja"), ("non", "oui"), ("Não", "Sim")])
def test_yes_in_other_languages(no, yes):
    found = find_label([Column("click", [yes, yes, no] * 30)], header=True)
    assert (found.positive, found.negative) == ((yes,), (no,))
