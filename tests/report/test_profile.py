"""The page of a click log: what it says, that it holds together, and that strangers' values stay text."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import pytest
from tests.report.made_up_profile import made_up_guess, made_up_profile

from foresee.data.clicks.profile.profiling import profile as profiled
from foresee.data.clicks.profile.tallies import Rate
from foresee.data.clicks.schema import schema
from foresee.report import profile
from foresee.report.profile import along, by_column, hover, notes, render, save, tell


class Tags(HTMLParser):
    """All tags, ids and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]


def test_what_the_page_says():
    info = tell(made_up_profile(), made_up_guess())
    assert info.headline == "1,000 rows, 22.5 % of them mean yes"
    assert "7 rows are malformed" in info.lead
    assert info.left_out == (("id", "another value in every row: nothing to learn from"),)
    assert [row.values for row in info.rows] == ["900", "0", "about 123,000", "1"]
    assert [row.kind for row in info.rows] == ["number", "number", "category", "category"]
    assert info.rows[2].why == "words such as site"
    assert info.guessed
    assert "--write-schema clicks.toml" in info.lines[0][1]
    text = render(made_up_profile(), made_up_guess())
    for part in ("price", "about 123,000", "3 fields, expected 5", "train", "Left out", "Guessed from 1,000 rows"):
        assert part in text


def test_one_is_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("click,price,site\n" + "".join(f"{k % 2},{k}.5,{'ab'[k % 3 > 0]}\n" for k in range(60)) + "1,2\n")
    said = tell(profiled(path, schema({"label": "click", "numeric": ["price"], "categories": ["site"]})))
    assert said.lead == "1 number and 1 category to foresee click by. 1 row is malformed."
    assert said.rows[1].holds == "b (66.7 %), a (33.3 %)"  # a value and its share, also where the value is a number


def test_without_a_guess_there_are_no_reasons_and_no_schema_to_write():
    info = tell(made_up_profile(whole=False, malformed=0, named=()))
    assert not info.guessed
    assert "that were looked at" in info.headline
    assert "--write-schema" not in str(info.lines)
    assert "--schema 'made up'" in str(info.lines)
    text = render(made_up_profile(malformed=0, named=()))
    assert "Why it is taken so" not in text
    assert "Malformed rows" not in text


def test_notes_name_what_should_be_looked_at_twice():
    said = " ".join(notes(made_up_profile(malformed=100), made_up_guess()))
    assert "empty and same: one value, or none" in said
    assert "9.09 % of the rows are malformed" in said
    assert "Guessed: id is left out" in said
    leaky = made_up_profile()
    sure = leaky.categories[1].__class__("oracle", 0, 2, True, (Rate("a", 225, 225),), Rate("others", 775, 0), 0)
    assert "oracle alone nearly determines the label" in notes(made_up_profile(categories=(sure,)))[0]


def test_figures_say_their_groups():
    found = made_up_profile()
    assert [one.heading for one in by_column(found)] == ["site", "price"]
    assert "10 runs" in along(found).chart.text
    told = hover(found)
    assert told["run-0"] == ["rows 0", "100 rows, 20 % mean yes"]
    assert told["by0-0"][0] == "site 0"
    assert "1 site 0" in by_column(found)[0].note
    for one in by_column(found):
        assert one.svg.startswith("<svg")


@pytest.mark.parametrize("yes", [0, 3, 10])
def test_intervals_hold_their_share(yes):
    low, high = profile._interval(Rate("x", 10, yes))
    assert -1e-9 <= low <= 10 * yes <= high + 1e-9 <= 100 + 1e-6


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a\"b'c&d</table>", "\u202eevil\0", "x" * 5000])
def test_strangers_texts_stay_texts(text):
    made = Tags(render(made_up_profile(text), made_up_guess(text)))
    sound = Tags(render(made_up_profile(), made_up_guess()))
    assert made.tags == sound.tags
    assert len(made.ids) == len(set(made.ids))


def test_saved_whole(tmp_path):
    path = save(made_up_profile(), tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_shares_for_people():
    assert profile.percent(math.nan) == "–"
    assert profile.percent(1.0) == "100 %"
