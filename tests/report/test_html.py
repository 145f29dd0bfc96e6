from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from foresee.errors import RunError
from foresee.quantities import format_quantity
from foresee.report.html import TABLE, distinct, hover, render, write
from foresee.report.info import summarise
from foresee.report.words import number
from foresee.runs.record import CandidateRow, EventRow, Record

Make = Callable[..., Record]
VOID = {"meta", "link", "br", "img", "input"}


class Page(HTMLParser):
    """Reads a page strictly: tags must close in order, ids must be unique."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []
        ids = [a["id"] for _, a in self.tags if "id" in a]
        assert len(ids) == len(set(ids))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"script", "style"}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def sections(self) -> list[str | None]:
        return [a.get("id") for tag, a in self.tags if tag == "section"]


@pytest.fixture(scope="module")
def whole(make_record: Make) -> str:
    return render(make_record(200, proxies=("dextr", "synflow")), "runs/a")


def test_sections_come_in_order_of_interest(whole: str) -> None:
    expected = ["answer", "why", "asked", "time", "cost", "cells", "best", "outcomes", "again"]
    assert Page(whole).sections() == expected


def test_the_answer_names_the_best_and_how_to_build_it(whole: str, make_record: Make) -> None:
    info = summarise(make_record(200, proxies=("dextr", "synflow")))
    best = info.best
    assert best is not None
    text = Page(whole).text
    assert best.architecture in text
    assert number(best.value) in text
    assert f"{best.counts['params']:,}" in text
    assert f"{best.counts['macs']:,}" in text
    assert 'fs.build("runs/a/best.json")' in text
    assert "dextr steered the search" in text


def test_nothing_comes_from_elsewhere(whole: str) -> None:
    for tag, attributes in Page(whole).tags:
        assert tag not in {"img", "iframe", "object", "embed", "base", "form"}
        for key in ("src", "href", "action", "data"):
            value = attributes.get(key) or ""
            assert value == "" or value.startswith(("#", "data:"))
        assert not [key for key in attributes if key.startswith("on")]
    assert "@import" not in whole
    assert not re.search(r"url\((?!#)", whole)


def test_the_only_script_is_the_one_the_policy_names(whole: str) -> None:
    import base64
    import hashlib

    scripts = re.findall(r"<script>(.*?)</script>", whole, re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in whole or f"script-src 'sha256-{digest}'" in whole


def test_the_table_holds_the_best_twenty_with_every_proxy(whole: str, make_record: Make) -> None:
    info = summarise(make_record(200, proxies=("dextr", "synflow")))
    table = re.search(r'<table class="sortable">.*?</table>', whole, re.S)
    assert table is not None
    rows = re.findall(r"<tr>.*?</tr>", table[0], re.S)
    assert len(rows) == 21
    heads = [re.sub("<[^>]*>", "", h).strip() for h in re.findall(r"<th .*?</th>", rows[0], re.S)]
    assert heads == ["Rank", "Architecture", "dextr", "synflow", "params", "MACs", "Candidate", "Scored in"]
    for entry, row in zip(info.entries[:20], rows[1:], strict=True):
        values = re.findall(r'data-value="([^"]*)"', row)
        other = entry.scores["synflow"].value
        assert values == [
            str(entry.rank), entry.architecture, str(entry.value), "" if other is None else str(other),
            str(entry.counts["params"]), str(entry.counts["macs"]), str(entry.id), str(entry.seconds),
        ]  # fmt: skip


def test_every_dot_can_tell_its_candidate(whole: str) -> None:
    told = re.search(r'<script type="application/json" id="candidates">(.*?)</script>', whole, re.S)
    assert told is not None
    known = set(json.loads(told[1]))
    named = {one for ids in re.findall(r'data-ids="([^"]*)"', whole) for one in ids.split()}
    assert named
    assert named <= known


def test_figures_have_words(whole: str) -> None:
    charts = re.findall(r'<svg viewBox[^>]*class="chart"[^>]*><title>(.*?)</title>', whole)
    assert len(charts) == 4
    assert all(charts)


def test_pictures_of_the_best_cells(whole: str) -> None:
    assert whole.count('<svg class="cell"') == 5
    assert "nor_conv_3x3" in whole


def test_hostile_strings_are_text(make_record: Make, poison: Callable[[Record, str], Record], hostile: str) -> None:
    record = replace(poison(make_record(30, failures=0.3), hostile), status=hostile)
    text = render(record, f"runs/{hostile}")
    page = Page(text)
    assert "<script>document" not in text
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in page.tags]
    assert hostile in " ".join(page.words)
    assert "&{{7*7}}" in "".join(page.words)  # no template is rendered twice


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "‮txet", "</script>", "<!--", "]]>", "x" * 5000])
def test_strange_strings_can_be_written(make_record: Make, text: str, tmp_path: Path) -> None:
    plain = make_record(5, failures=0.0)
    rows = tuple(replace(c, architecture=text + str(c.id)) for c in plain.candidates)
    path = write(tmp_path, replace(plain, candidates=rows, title=text))
    Page(path.read_text(encoding="utf-8"))


def test_hostile_names_of_objectives_parts_and_steps_are_text(
    make_record: Make, follow: Make, poison: Callable[[Record, str], Record], hostile: str
) -> None:
    plain = follow(make_record(30, proxies=("dextr",)), "dextr", "params", steps=5)
    page = Page(render(poison(plain, hostile), "runs/a"))
    assert "img" not in [tag for tag, _ in page.tags]
    assert [tag for tag, _ in page.tags].count("script") == 2
    words = " ".join(page.words)
    assert f"{hostile}0 (higher), {hostile}1 (lower)" in words
    assert f"5 {hostile} in" in words
    assert f"{hostile}part 0" in words


def heads(page: str) -> list[str]:
    table = re.search(r'<table class="sortable">.*?</thead>', page, re.S)
    assert table is not None
    return [re.sub("<[^>]*>", "", one).strip() for one in re.findall(r"<th .*?</th>", table[0], re.S)]


def test_one_objective_looks_as_if_none_were_named(make_record: Make, follow: Make) -> None:
    plain = make_record(60, proxies=("dextr", "synflow"), failures=0.0)
    stored = follow(plain, "dextr", spread=False)
    assert stored.objectives
    assert render(replace(stored, settings=plain.settings), "runs/a") == render(plain, "runs/a")


def test_several_objectives_are_told_marked_and_sortable(make_record: Make, follow: Make) -> None:
    record = follow(make_record(120, proxies=("dextr", "synflow")), "dextr", "params")
    text = render(record, "runs/a")
    page, info = Page(text), summarise(record)
    assert "Follows dextr (higher), params (lower)" in page.text
    assert f"{len(info.front)} of them are on the front" in page.text
    assert "no other is as good in both dextr and params and better in one of them" in page.text
    assert heads(text) == [
        "Rank", "Architecture", "Front", "dextr", "params", "synflow", "MACs", "Candidate", "Scored in",
    ]  # fmt: skip
    rows = re.findall(r"<tr>\s*<td.*?</tr>", text, re.S)
    cells = [re.findall(r'data-value="([^"]*)"', one) for one in rows if "architecture" in one]
    assert {int(values[-2]) for values in cells if values[2] == "1"} == set(info.front)
    assert text.count("on the front</span>") == len(info.front)
    by_id = {entry.id: entry for entry in info.entries}
    for values in cells:
        entry = by_id[int(values[-2])]
        assert [float(v) for v in values[3:5]] == [entry.value, entry.counts["params"]]
    # those of the front that are not among the best twenty come after them
    assert [int(values[0]) for values in cells[:TABLE]] == list(range(1, TABLE + 1))
    assert len(cells) == len({*(e.id for e in info.entries[:TABLE]), *info.front}) > TABLE


def test_the_front_is_drawn_once(make_record: Make, follow: Make) -> None:
    plain = make_record(80, proxies=("dextr", "synflow"))
    time = "The front over time"
    headings = {
        ("dextr", "params"): (["dextr against params", time], ["dextr against MACs"]),
        ("dextr", "synflow"): (["dextr against synflow", time], ["dextr against params", "dextr against MACs"]),
        ("dextr", "params", "synflow"): (
            ["dextr against params", "dextr against synflow", time],
            ["dextr against MACs"],
        ),
        ("params", "dextr"): (["params against dextr", time], ["params against MACs"]),
        ("params",): ([], ["Against MACs"]),
        ("dextr",): ([], ["Against params", "Against MACs"]),
    }
    for names, (front, rest) in headings.items():
        text = render(follow(plain, *names), "runs/a")
        section = text[text.index('<section id="cost">') : text.index('<section id="cells">')]
        assert re.findall(r"<h3>(.*?)</h3>", section) == rest
        assert ('<section id="front">' in text) == bool(front)
        if front:
            section = text[text.index('<section id="front">') : text.index("Networks to pick from")]
            assert re.findall(r"<h3>(.*?)</h3>", section) == front


def test_networks_to_pick_from_are_on_the_front(make_record: Make, follow: Make) -> None:
    record = follow(make_record(120, proxies=("dextr", "synflow")), "dextr", "params")
    text, info = render(record, "runs/a"), summarise(record)
    section = text[text.index("Networks to pick from") : text.index('<section id="asked">')]
    shown = [int(one) for one in re.findall(r"<h3>Candidate (\d+)", section)]
    assert set(shown) <= set(info.front)
    assert record.knee is not None
    assert re.search(rf'<h3>Candidate {record.knee.id} <span class="chip">the knee', section)
    assert "best by dextr" in section
    assert "best by params" in section
    for one in shown:
        entry = next(entry for entry in info.entries if entry.id == one)
        assert f'<code id="pick-{one}">{html.escape(entry.architecture)}</code>' in section
    assert section.count('<figure class="card pick">') == len(shown)
    assert section.count('aria-label="Picture 1 of candidate') == len(shown)


def test_more_than_two_objectives(make_record: Make, follow: Make) -> None:
    page = Page(render(follow(make_record(80, proxies=("dextr", "synflow")), "dextr", "params", "synflow")))
    assert "in all of dextr , params and synflow and better in one" in page.text
    assert "on the run's front of 3 objectives; the line is that of these two alone" in page.text


def test_a_best_that_is_not_on_the_front_is_said(make_record: Make, follow: Make) -> None:
    plain = follow(make_record(10, failures=0.0), "dextr", "params")
    best, other = plain.scored[:2]
    equal = {"dextr": best.objectives["dextr"], "params": best.objectives["params"] - 1}
    rows = tuple(replace(c, id=90, merit=best.merit, objectives=equal) if c == other else c for c in plain.candidates)
    assert "This one is not: another has the same dextr" in Page(render(replace(plain, candidates=rows))).text
    assert "This one is not" not in Page(render(plain)).text


def test_a_cost_that_ranks_is_shown_as_a_quantity(make_record: Make, follow: Make) -> None:
    record = follow(make_record(40, proxies=("dextr",)), "params")
    best = summarise(record).best
    assert best is not None
    text = render(record, "runs/a")
    assert heads(text) == ["Rank", "Architecture", "params", "dextr", "MACs", "Candidate", "Scored in"]
    assert f"params lower is better {format_quantity(best.value)} {best.counts['params']:,}" in Page(text).text
    assert "params steered the search; dextr was recorded beside it" in Page(text).text


def test_spreads_stand_beside_values(make_record: Make, follow: Make) -> None:
    plain = make_record(40, proxies=("dextr", "synflow"), failures=0.0)
    record = follow(plain, "dextr")
    text = render(record, "runs/a")
    best = summarise(record).best
    assert best is not None
    assert f'<div class="big">{number(best.value)}<span class="spread"> ± 0.12</span></div>' in text
    other = number(best.scores["synflow"].value)
    assert f'>{other}<span class="spread"> ± 0.12</span></td>' in text
    assert "± is the standard deviation over 3 draws" in Page(text).text
    assert "±" not in Page(render(follow(plain, "dextr", spread=False))).text


def test_the_parts_of_the_best_are_told_and_many_are_folded_away(make_record: Make, follow: Make) -> None:
    record = follow(make_record(40, proxies=("dextr", "synflow"), failures=0.0), "dextr")
    best = summarise(record).best
    assert best is not None
    page = Page(render(record, "runs/a"))
    assert "dextr is made from part 0" in page.text
    assert "synflow is made from 12 parts" in page.text
    assert [tag for tag, _ in page.tags].count("details") == 1
    for value in best.scores["dextr"].parts.values():
        assert number(value) in page.text
    assert "is made from" not in Page(render(make_record(10))).text


def test_the_steps_of_the_searcher_are_told(make_record: Make, follow: Make) -> None:
    text = Page(render(follow(make_record(20), "dextr", steps=12), "runs/a")).text
    assert "The searcher worked in steps: 12 rounds in 4.2 s, 4 of them before the first candidate." in text
    assert "worked in steps" not in Page(render(make_record(10))).text


def test_a_run_without_any_score(make_record: Make) -> None:
    page = Page(render(make_record(12, failures=1.0), "runs/a"))
    assert page.sections() == ["answer", "asked", "outcomes", "again"]
    assert "No architecture has a score" in page.text
    assert "the features are not finite" in page.text
    assert "12 failed" in page.text


def test_a_run_that_has_just_begun() -> None:
    page = Page(render(Record("search", "running", 0.0, {}, {})))
    assert "No architecture has a score yet" in page.text
    assert "still going on" in page.text


def test_an_interrupted_run_says_how_to_go_on(make_record: Make) -> None:
    text = Page(render(make_record(20, status="interrupted"), "runs/a")).text
    assert "was stopped after 20 of 200 candidates" in text
    assert "--out runs/a --resume" in text
    assert "ended with an error" in Page(render(Record("search", "failed", 0.0, {}, {}))).text


def test_an_exhausted_space_is_said(make_record: Make) -> None:
    record = replace(make_record(20), events=(EventRow(0.0, "exhausted", None, {}),))
    assert "nothing new to propose" in Page(render(record)).text


def test_a_missing_space_leaves_the_pictures_out_and_says_so(make_record: Make) -> None:
    page = Page(render(make_record(20, space="left_us"), "runs/a"))
    assert "No picture: the space left_us could not be loaded here" in page.text
    assert not [1 for tag, a in page.tags if tag == "svg" and a.get("class") == "cell"]


def test_scores_of_waiting_and_odd_candidates(make_record: Make) -> None:
    plain = make_record(6, failures=0.0)
    first, second, third, *rest = plain.candidates
    rows: tuple[CandidateRow, ...] = (
        replace(first, status="asked", merit=None, scores={}, finished=0.0),
        replace(second, merit=math.nan),
        replace(third, counts={}, started=0.0, finished=0.0),
        *rest,
    )
    page = Page(render(replace(plain, candidates=rows), "runs/a"))
    assert "4 scored" in page.text
    assert "1 waiting" in page.text
    assert "1 no score" in page.text


def test_the_same_record_gives_the_same_page(make_record: Make) -> None:
    assert render(make_record(30), "runs/a") == render(make_record(30), "runs/a")


def test_two_thousand_candidates_stay_under_a_megabyte(make_record: Make) -> None:
    text = render(make_record(2000, limit=None, proxies=("dextr", "synflow")), "runs/a")
    assert len(text.encode()) < 1_000_000


def test_write_is_whole_or_nothing(make_record: Make, tmp_path: Path) -> None:
    path = write(tmp_path, make_record(5))
    assert path == tmp_path / "report.html"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(RunError, match="cannot be written"):
        write(tmp_path / "missing" / "folder", Record("search", "running", 0.0, {}, {}))


def test_write_reads_the_run_of_the_folder(make_record: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import foresee.runs

    seen: list[Any] = []
    monkeypatch.setattr(foresee.runs, "read", lambda folder: seen.append(folder) or make_record(5))
    write(tmp_path)
    assert seen == [tmp_path]


def test_equal_functions_are_drawn_once(make_record: Make) -> None:
    plain = make_record(10, failures=0.0)
    rows = tuple(replace(c, identity=str(c.id // 5)) for c in plain.candidates)
    entries = summarise(replace(plain, candidates=rows)).entries
    assert len(distinct(entries, 5)) == 2
    assert distinct(entries, 5)[0] == entries[0]


def test_the_pointer_tells_every_objective(make_record: Make, follow: Make) -> None:
    plain = make_record(10, proxies=("dextr", "synflow"), failures=0.0)
    one = summarise(follow(plain, "dextr", "synflow")).entries[0]
    told = hover([one], {one.id})[str(one.id)][1]
    assert told.startswith(f"{number(one.value)} · synflow {number(one.objectives['synflow'])} · ")
    cheap = summarise(follow(plain, "params", "dextr")).entries[0]
    told = hover([cheap], {cheap.id})[str(cheap.id)][1]
    assert told.startswith(f"dextr {number(cheap.objectives['dextr'])} · {format_quantity(cheap.value)} params · ")
