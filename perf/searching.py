"""What a search costs beside its scores: the share of the time of 1,000 evaluations that is spent outside scoring.

With the serial engine, in memory and in a folder: asking, counting, storing and telling are the rest of the wall-clock time.
In a folder each result waits for the disk to keep it, so how long that takes for a page is printed beside it. The networks
are small ones: with larger ones the share is less.

    python perf/searching.py [searcher ...]
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Mapping
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from foresee.searchers import SearchSettings, run_search

EVALUATIONS = 1000
ASKED: dict[str, Any] = {
    "space_settings": {"channels": 8, "cells": 1},
    "inputs": (3, 16, 16),
    "batch_size": 32,
    "data": "synthetic",
    "finalists": 0,
    "space": "nasbench201",
    "proxies": ["foresee"],
}
#: what is followed where it is not the proxy alone, and settings
WAYS: Mapping[str, Mapping[str, Any]] = {
    "random": {},
    "evolution": {},
    "history_evolution": {"objectives": ["foresee", "params"]},
    "nsga2": {"objectives": ["foresee", "params"]},
    "local_search": {},
    "reinforce": {},
}


def share(searcher: str, folder: str | None = None, evaluations: int = EVALUATIONS) -> tuple[float, float]:
    """Seconds of a run, and the share of them that is not scoring."""
    asked = {**ASKED, **WAYS.get(searcher, {}), "searcher": searcher, "evaluations": evaluations}
    start = time.perf_counter()
    run = run_search(SearchSettings.of(**asked), out=folder)
    took = time.perf_counter() - start
    return took, 1 - sum(row.seconds for row in run.record.candidates) / took


def kept(times: int = 50) -> float:
    """Seconds that the disk takes to keep a page, the median."""
    found = []
    with TemporaryFile() as file:
        for _ in range(times):
            file.write(bytes(4096))
            file.flush()
            start = time.perf_counter()
            os.fsync(file.fileno())
            found.append(time.perf_counter() - start)
    return statistics.median(found)


def main() -> None:
    """Print the shares."""
    print(f"{EVALUATIONS} evaluations each; the disk keeps a page in {1e3 * kept():.2f} ms")
    share("random", evaluations=5)  # what is imported and compiled once is no part of it
    for searcher in sys.argv[1:] or WAYS:
        with TemporaryDirectory() as folder:
            found = {"memory": share(searcher), "a folder": share(searcher, f"{folder}/run")}
        for where, (took, outside) in found.items():
            print(f"{searcher:20} in {where:9} {took:7.1f} s  {100 * outside:5.2f} % outside scoring", flush=True)


if __name__ == "__main__":
    main()
