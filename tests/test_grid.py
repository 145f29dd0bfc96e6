"""Small tables: as text, as HTML that hurts no page, as frames."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import MissingExtraError
from foresee.grid import Bad, Column, Grid, frame, listed

HOSTILE = "<script>alert(1)</script>&\"'\ud800"


def test_text_is_aligned_words_left_and_numbers_right():
    made = Grid([Column("name", words=True), Column("n")], [["a", "1"], ["long one", "12345"]], "a title", ["a note"])
    assert str(made).splitlines() == ["a title", "name          n", "a             1", "long one  12345", "a note"]


def test_html_escapes_every_text_and_names_no_colours_of_the_page():
    made = Grid([Column(HOSTILE), Column("n", quiet=True)], [[HOSTILE, Bad(HOSTILE)]], HOSTILE, [HOSTILE]).html()
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 5
    assert "background" not in made
    made.encode("utf-8")  # a message to a notebook holds no half characters
    assert made.count("color:#") == 1  # what went wrong, and nothing else


@examples(30)
@given(
    st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])), min_size=2, max_size=2))
)
def test_html_of_any_text_has_its_rows_and_cells(rows):
    tree = ElementTree.fromstring(Grid([Column("a"), Column("b", words=True)], rows).html())
    cells = [[cell.text or "" for cell in row] for row in tree.findall("table/tbody/tr")]
    assert cells == [[text if len(text) <= 400 else f"{text[:399]}…" for text in row] for row in rows]


def test_frames_are_known_by_their_index():
    pytest.importorskip("pandas")
    made = frame([{"name": "a", "n": 1}, {"name": "b", "n": 2}], "name")
    assert made.loc["b", "n"] == 2
    assert len(frame([], "name")) == 0


def test_without_pandas_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'foresee\[notebook\]'"):
        frame([{"name": "a"}], "name")


def test_names_in_a_sentence():
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
