"""A contest read again: whole, or one line that says what is wrong with its file."""

from __future__ import annotations

import json
import random

import pytest
from tests.benchmarks.contest.made_up import made_up_contest
from tests.benchmarks.test_opening import ODD, leaves

import foresee as fs
from foresee.benchmarks import open_contest
from foresee.report import contest as contest_page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plain: plain.pop("trials"), "not as foresee wrote it"),
        (lambda plain: plain["settings"].update(budget=-1), "at least 1"),
        (lambda plain: plain["settings"].update(searchers=["nobody@measured", "random"]), "nobody"),
        (lambda plain: plain["trials"].pop(0) and plain["trials"].pop(1), "runs of others"),
        (lambda plain: plain["trials"][0].update(searcher="x"), "runs of others"),
        (lambda plain: plain["trials"][0]["picks"].reverse(), "do not follow one another"),
        (lambda plain: plain["trials"][0].update(seconds="x" * 500), "where a number is expected"),
        (lambda plain: plain["trials"][0]["picks"].append([1]), "not as foresee wrote it"),
        (lambda plain: plain["table"].update(direction="up"), "higher or lower"),
        (lambda plain: plain["table"].update(best=float("nan")), "where a number is expected"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, change, words):
    path = made_up_contest().write(tmp_path)
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))
    with pytest.raises(fs.ForeseeError, match=words) as caught:
        open_contest(tmp_path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whatever_stands_in_the_file_it_is_shown_or_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("foresee.report.html.to_svg", lambda *_, **__: "")  # drawing takes long
    path, rng = made_up_contest().write(tmp_path), random.Random(4)
    whole = path.read_text()
    places, refused = list(leaves(json.loads(whole))), []
    for _ in range(150):
        plain = json.loads(whole)
        *before, last = rng.choice(places[1:])
        inner = plain
        for key in before:
            inner = inner[key]
        if rng.random() < 0.3 and isinstance(inner, dict):
            del inner[last]
        else:
            inner[last] = rng.choice(ODD)
        path.write_text(json.dumps(plain))
        try:
            contest_page.render(open_contest(tmp_path))
        except fs.ForeseeError as error:
            refused.append(str(error))
    assert len(refused) > 15
    assert all(len(line.splitlines()) == 1 and str(path) in line for line in refused), refused
