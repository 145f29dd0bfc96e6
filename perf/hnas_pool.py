"""The pool of HNAS as a file: NAS-Bench-201 cells, as the searcher draws them, with every metric and kappa.

    python perf/hnas_pool.py pool.csv --data cifar10.npz --device cuda --workers 16
    foresee search nasbench201 --searcher hnas --set hnas.pool_file=pool.csv ...

Metrics are those of networks with C = 16, kappa (`ntk_cond:hnas`) that of networks with C = 4, all at a batch of 64. Scores are
kept in a cache (by default beside the file), so a pool that is stopped goes on where it was, and the file is written again
after every part. What has no score has an empty place. Several processes share the GPU: a single one leaves it idle most of
the time, for the networks are small.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

from foresee.runs.engines import get_ready
from foresee.runs.events import Event
from foresee.scoring import Cache, Scorer, ScoringSettings, scored
from foresee.searchers.pool import drawn
from foresee.searchers.problem import Problem

#: column of kappa, and what is made together: a part's proxies and its channels, the dearest last
KAPPA = "ntk_cond:hnas"
PARTS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("m_grad", "m_snip", "m_trace", "m_knas", "fisher", "synflow", "naswot", "foresee"), 16),
    ((KAPPA,), 4),
    (("m_grasp",), 16),
)
COLUMNS = ("m_grad", "m_snip", "m_grasp", "m_trace", "m_knas", "fisher", "synflow", "naswot", "foresee", KAPPA)


class Watch:
    """Says how far a part is, and ends it when the time is over."""

    def __init__(self, part: str, seconds: float | None, start: float) -> None:
        self.part, self.seconds, self.start, self.begun, self.said = part, seconds, start, time.monotonic(), 0.0

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        if now - self.said > 10 or event.kind == "finished":
            self.said = now
            print(f"{self.part}: {event.done}/{event.total} in {now - self.begun:.0f} s", flush=True)
        if self.seconds is not None and now - self.start > self.seconds:
            raise KeyboardInterrupt


def write(path: Path, texts: list[str], columns: dict[str, list[float]]) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["architecture", *columns])
        for place, text in enumerate(texts):
            values = [column[place] for column in columns.values()]
            rows.writerow([text, *("" if value != value else repr(value) for value in values)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data", default="synthetic", help="CIFAR-10: a path of anything that foresee reads")
    parser.add_argument("--workers", type=int, default=None, help="processes; by default one per core")
    parser.add_argument("--cells", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--seconds", type=float, default=None, help="stop after so long, and write what there is")
    chosen = parser.parse_args()
    get_ready("foresee.scoring.ready")
    start = time.monotonic()
    alike = {"data": chosen.data, "device": chosen.device, "seed": chosen.seed, "inputs": (3, 32, 32), "outputs": 10}
    problem = Problem(Scorer("nasbench201", ScoringSettings.of(proxies=("params",), data="synthetic")))
    texts = [str(one) for one in drawn(problem, chosen.number, chosen.seed)]
    columns: dict[str, list[float]] = {}
    with Cache(chosen.cache or chosen.out.with_suffix(".scores.sqlite")) as cache:
        for names, channels in PARTS:
            try:
                found = scored(
                    "nasbench201",
                    texts,
                    names,
                    space_settings={"channels": channels, "cells": chosen.cells},
                    batch_size=64,
                    engine="processes",
                    workers=chosen.workers,
                    cache=cache,
                    observers=[Watch("+".join(names), chosen.seconds, start)],
                    **alike,
                )
            except KeyboardInterrupt:
                raise SystemExit(f"stopped in {'+'.join(names)}: start again to go on") from None
            columns |= {name: found[name].values[:, 0].tolist() for name in names}
            for name in names:
                spent = found[name].seconds.mean()
                print(f"{name:14} {spent:.3f} s a cell, without a value: {dict(found[name].reasons)}", flush=True)
            write(chosen.out, texts, {name: columns[name] for name in COLUMNS if name in columns})
    print(f"{chosen.out}: {len(texts)} cells in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
