"""Where the work of a chapter is kept; processes wait for each other."""

from __future__ import annotations

import multiprocessing
import time

import pytest

from foresee.papers import Unavailable, Workshop
from foresee.papers.nesbs.work import alone, by_seed, digest, work_folder


def test_work_is_kept_where_it_is_said_or_beside_the_scores_or_for_now(tmp_path):
    beside = Workshop(cache=tmp_path / "here" / "scores.sqlite")
    assert work_folder(beside, {"work": ""}) == tmp_path / "here"
    assert work_folder(beside, {"work": str(tmp_path / "there")}) == tmp_path / "there"
    now = work_folder(Workshop(), {"work": ""})
    assert now.is_dir()
    assert now == work_folder(Workshop(), {"work": ""}), "one folder for a process"


def test_other_values_have_another_digest():
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert len({digest(one) for one in ([], {}, [1], ["1"], {"a": 1})}) == 5


def _enter(folder, log):
    with alone(folder):
        with log.open("a") as file:
            file.write("in ")
        time.sleep(0.1)
        with log.open("a") as file:
            file.write("out ")


def test_only_one_process_at_a_time_is_inside(tmp_path):
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    several = [context.Process(target=_enter, args=(tmp_path / "held", log)) for _ in range(3)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert log.read_text() == "in out " * 3


def test_seeds_that_are_not_there_are_left_out_and_said():
    workshop = Workshop(repeats=3)

    def look(seed):
        if seed == 1:
            raise Unavailable("seed 1 is elsewhere")
        return seed

    assert by_seed(workshop, look) == {0: 0, 2: 2}
    assert workshop.notes == ["seed 1 is elsewhere"]
    with pytest.raises(Unavailable, match="seed 1"):
        by_seed(Workshop(seed=1), look)
