"""How those who take part are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

import foresee as fs
from foresee.benchmarks.contest.entries import Entry, entries_of, split
from foresee.searchers.base import searchers


def test_what_is_followed_where_nobody_says(monkeypatch):
    assert Entry.parse("random", "dextr").follows == ("dextr",)
    monkeypatch.setattr(searchers["random"], "measures", True)
    assert Entry.parse("random", "dextr").follows == ("measured",)
    assert Entry.parse("random@zico", "dextr").follows == ("zico",)


def test_a_search_of_each_kind():
    measured = Entry.parse("evolution@measured", "dextr")
    assert (measured.objectives, measured.proxies, measured.measured) == (("measured",), ("params",), True)
    by_size = Entry.parse("evolution@params", "dextr")  # the proxy, more is better; not the cost
    assert (by_size.objectives, by_size.proxies, by_size.measured) == ((), ("params",), False)
    both = Entry.parse("random@zico+params", "dextr")
    assert (both.objectives, both.proxies) == (("zico", "params"), ("zico",))


def test_how_many_it_proposes(monkeypatch):
    assert Entry.parse("evolution", "dextr").spends(50) == 50
    assert Entry.parse("evolution(evaluations=20)", "dextr").spends(50) == 20
    monkeypatch.setattr(searchers["evolution"], "evaluations", 7)
    assert Entry.parse("evolution", "dextr").spends(50) == 7
    assert Entry.parse("evolution", "dextr").spends(5) == 5


@examples(60)
@given(
    st.sampled_from(["", "mine", "the best one", "κ"]),
    st.dictionaries(
        st.sampled_from(["population", "sample"]),
        st.one_of(st.integers(-5, 50), st.text(max_size=12), st.lists(st.integers(0, 3), max_size=3), st.booleans()),
    ),
    st.one_of(st.none(), st.integers(1, 40)),
    st.sampled_from([("measured",), ("dextr",), ("dextr:reference",), ("zico", "params")]),
)
def test_what_is_written_is_read_as_the_same(named, settings, evaluations, follows):
    entry = Entry("evolution", follows, settings, evaluations, named)
    assert Entry.parse(str(entry), "foresee") == entry
    assert entries_of(f"random,{entry}, random@measured", "foresee")[1] == entry


def test_settings_by_searcher_and_by_name():
    found = entries_of(
        ["a=evolution,b=evolution(sample=2)", "random"],
        "dextr",
        {"evolution": {"population": 10, "sample": 3}, "a": {"population": 20, "evaluations": 5}},
    )
    assert [dict(one.settings) for one in found] == [
        {"population": 20, "sample": 3},
        {"population": 10, "sample": 2},
        {},
    ]
    assert [one.evaluations for one in found] == [5, None, None]
    assert [one.label for one in found] == ["a", "b", "random@dextr"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("evolutoin", "unknown searcher 'evolutoin': did you mean evolution"),
        ("evolution@dexter", "unknown objective of evolution 'dexter': did you mean dextr"),
        ("evolution@mesured", "did you mean measured?"),
        ("evolution@dextr:nothing", "nothing"),
        ("evolution(populaton=3)", "did you mean population?"),
        ("evolution(population)", "expected key=value"),
        ("evolution(evaluations=0)", "at least 1"),
        ("evolution@", "expected a name such as"),
        ("evolution(population=3", "expected a name such as"),
        ("random@dextr+dextr", "named twice"),
        ("random,random@dextr", "takes part twice"),
        ("", "name searchers to compare"),
        (",", "name searchers to compare"),
    ],
)
def test_mistakes_are_one_line_with_the_nearest(text, words):
    with pytest.raises(fs.ForeseeError) as caught:
        entries_of(text, "dextr")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_commas_in_brackets_and_quotations_do_not_split():
    assert split('a(b=[1, 2], c={"d": "e,)"})@f, g') == ['a(b=[1, 2], c={"d": "e,)"})@f', "g"]
    assert split(" , ") == []
