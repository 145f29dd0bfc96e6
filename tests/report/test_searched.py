"""`fs.search` leaves a report beside the run, as the command does."""

from __future__ import annotations

import inspect

import pytest

import foresee as fs
from foresee.searchers.search import search

ASKED = {
    "space": "nasbench201", "proxies": "params", "searcher": "random", "evaluations": 3, "finalists": 0,
    "data": "synthetic", "inputs": [3, 8, 8], "outputs": 4, "space_settings": {"channels": 2, "cells": 1},
}  # fmt: skip


def test_a_kept_run_has_its_report(tmp_path):
    run = fs.search(**ASKED, out=tmp_path / "r")
    assert "The best of 3 scored architectures" in (run.folder / "report.html").read_text()
    assert fs.search(**ASKED).folder is None


def test_an_interrupted_one_too(tmp_path):
    def interrupt(event):
        if event.kind == "scored":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fs.search(**ASKED, out=tmp_path / "r", observers=[interrupt])
    assert "was stopped" in (tmp_path / "r" / "report.html").read_text()


def test_it_is_documented_as_the_search_it_is():
    assert inspect.signature(fs.search) == inspect.signature(search)
    assert fs.search.__doc__ == search.__doc__
