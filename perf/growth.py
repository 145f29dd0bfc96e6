"""Large searches: time per evaluation from first to last, memory and the store, in the DARTS space with a free proxy.

    python -m perf growth
    python -m perf.growth [searcher ...] --evaluations 100000      # the whole of it, with times of every tenth

The straightforward way is to draw an architecture, build its network and count its parameters.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import foresee as fs
from foresee.runs.events import Event
from foresee.searchers import SearchSettings, run_search
from foresee.seeds import stream
from perf.harness import How, Row

SECONDS = 90
EVALUATIONS = 3000
SEARCHERS = ("random", "evolution", "batch_evolution", "nsga2", "history_evolution")
#: what is followed where it is not the proxy alone
WAYS: dict[str, dict[str, Any]] = {name: {"objectives": ["params", "macs"]} for name in ("nsga2", "history_evolution")}
#: the issue's: 100,000 evaluations in 4 minutes and 100 MB
PER_EVALUATION, STORE = 240 / 100_000, 100.0


class Marks:
    """An observer that notes the processor's time and the memory of the process at every tenth of a run."""

    def __init__(self, evaluations: int) -> None:
        self.every = max(1, evaluations // 10)
        self.seconds: list[float] = []
        self.held: list[float] = []

    def __call__(self, event: Event) -> None:
        """Note it."""
        if event.kind in ("scored", "failed") and event.done % self.every == 0:
            self.seconds.append(time.process_time())
            self.held.append(held())

    @property
    def tenths(self) -> list[float]:
        """Seconds of the processor for one evaluation, of each tenth but the first."""
        return [(b - a) / self.every for a, b in zip(self.seconds, self.seconds[1:], strict=False)]


def held() -> float:
    """Megabytes that the process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def searched(searcher: str, evaluations: int, folder: str) -> tuple[Marks, float, float]:
    """A search; its marks, seconds by the wall, and megabytes of its store."""
    marks, start = Marks(evaluations), time.perf_counter()
    asked = {"space": "darts", "proxies": ["params"], "searcher": searcher, "evaluations": evaluations}
    run_search(SearchSettings.of(**asked, **WAYS.get(searcher, {})), out=folder, observers=[marks])
    took = time.perf_counter() - start
    return marks, took, sum(file.stat().st_size for file in Path(folder).glob("run.sqlite*")) / 1e6


def plainly(many: int) -> float:
    """Seconds of the processor for one evaluation where the network is built."""
    space, task = fs.spaces.get("darts"), fs.Task((1, 8, 8), 10)
    start = time.process_time()
    for number in range(many):
        network = space.build(space.sample(stream(0, "plain", number)), task)
        sum(one.numel() for one in network.parameters())
    return (time.process_time() - start) / many


def measure(how: How) -> Iterator[Row]:
    """How it grows, how fast it is, and how large the store gets."""
    evaluations, plain = (60, plainly(1)) if how.quick else (EVALUATIONS, plainly(5))
    for searcher in ("random",) if how.quick else SEARCHERS:
        with TemporaryDirectory() as folder:
            marks, _, size = searched(searcher, evaluations, f"{folder}/run")
        tenths = marks.tenths
        each = sum(tenths) / len(tenths)
        yield Row(
            f"{searcher}, an evaluation", each, plain, "its network built", PER_EVALUATION / plain, note="processor"
        )
        # Medians: a tenth is a fifth of a second here, and one collection of garbage is seen in it.
        first, last = (statistics.median(some) for some in (tenths[:4], tenths[-4:]))
        yield Row(f"{searcher}, the last evaluations", last, first, "the first ones", 1.2)
        yield Row(f"{searcher}, memory at the end", marks.held[-1], marks.held[0], "after a tenth", 1.05, unit="MB")
        stored = size * 100_000 / evaluations
        yield Row(f"{searcher}, store of 100,000", stored, STORE, "what it may be", 1.0, unit="MB")


def main() -> None:
    """The whole of it."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("searchers", nargs="*", default=["random"])
    options.add_argument("--evaluations", type=int, default=100_000)
    chosen = options.parse_args()
    for searcher in chosen.searchers:
        with TemporaryDirectory() as folder:
            marks, took, size = searched(searcher, chosen.evaluations, f"{folder}/run")
        tenths = " ".join(f"{1e3 * one:.2f}" for one in marks.tenths)
        print(f"{searcher}: {chosen.evaluations:,} in {took:.1f} s, store {size:.1f} MB, ms of processor {tenths}")
        print(f"  memory {' '.join(f'{one:.0f}' for one in marks.held)} MB; at the end {held():.0f} MB with the record")


if __name__ == "__main__":
    main()
