"""A small finished run in a folder, made in milliseconds: something to read, to damage and to report."""

from __future__ import annotations

from pathlib import Path

from foresee.report import write
from foresee.searchers import SearchSettings, run_search

SETTINGS = SearchSettings.from_json(
    {
        "space": "nasbench201",
        "space_settings": {"channels": 2, "cells": 1},
        "proxies": ["params", "macs"],
        "evaluations": 12,
        "data": "synthetic",
        "inputs": [3, 8, 8],
        "outputs": 4,
        "searcher_settings": {"population": 4, "sample": 2},
        "seed": 3,
    }
)


def small_run(folder: Path, *, report: bool = False) -> Path:
    """The run, always the same."""
    run_search(SETTINGS, out=folder)
    if report:
        write(folder)
    return folder
