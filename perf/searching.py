"""What a search costs beside its scores: a whole run by the wall against the time of its scores.

With the serial engine, in memory and in a folder: asking, counting, storing and telling are the rest. In a folder each result
waits for the disk to keep it, so how long that takes for a page is said beside it. The networks are small ones: with larger
ones the share is less.

    python -m perf searching
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Mapping
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from foresee.searchers import SearchSettings, run_search
from perf.harness import How, Row

SECONDS = 90
EVALUATIONS = 150
ASKED: dict[str, Any] = {
    "space_settings": {"channels": 8, "cells": 1},
    "inputs": (3, 16, 16),
    "batch_size": 32,
    "data": "synthetic",
    "finalists": 0,
    "space": "nasbench201",
    "proxies": ["foresee"],
}
#: what is followed where it is not the proxy alone
WAYS: Mapping[str, Mapping[str, Any]] = {
    "random": {},
    "evolution": {},
    "history_evolution": {"objectives": ["foresee", "params"]},
    "nsga2": {"objectives": ["foresee", "params"]},
}


def run_of(searcher: str, folder: str | None = None, evaluations: int = EVALUATIONS) -> tuple[float, float]:
    """Seconds of a run, and of its scores."""
    asked = {**ASKED, **WAYS.get(searcher, {}), "searcher": searcher, "evaluations": evaluations}
    start = time.perf_counter()
    run = run_search(SearchSettings.of(**asked), out=folder)
    return time.perf_counter() - start, sum(row.seconds for row in run.record.candidates)


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


def measure(how: How) -> Iterator[Row]:
    """A row for a searcher in memory and one in a folder."""
    run_of("random", evaluations=5)  # what is imported and compiled once is no part of it
    page = f"the disk keeps a page in {1e3 * kept():.2f} ms"
    for searcher in ["random"] if how.quick else WAYS:
        many = 10 if how.quick else EVALUATIONS
        with TemporaryDirectory() as folder:
            took, scores = run_of(searcher, evaluations=many)
            yield Row(f"{searcher}, in memory", took, scores, "its scores", 1.15)
            took, scores = run_of(searcher, f"{folder}/run", evaluations=many)
            yield Row(f"{searcher}, in a folder", took, scores, "its scores", 1.3, note=page)
