"""The pool of HNAS as a file: NAS-Bench-201 cells, as the searcher draws them, with every metric and kappa.

    python perf/hnas_pool.py pool.csv --data cifar10.npz --device cuda --workers 16 --mps --seconds 560
    foresee search nasbench201 --searcher hnas --set hnas.pool_file=pool.csv ...

Metrics are those of networks with C = 16, kappa (`ntk_cond:hnas`) that of networks with C = 4, at a batch of 64; `m_grasp`
takes a Hessian of every sample, by far the dearest, and is made last, at a smaller batch. Scores are kept in a cache (by
default beside the file), so a pool that is stopped goes on where it was; the file is written after every part, with an empty
place where there is no score. Small networks leave a GPU idle, so several processes share it; `--mps` starts NVIDIA's server
that lets them run at the same time. On an H200 with 16 cores: with it 8.5 cells a second for m_trace and 24 for kappa,
without it 2.9 (for the whole first part) and 5.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foresee.runs.engines import get_ready
from foresee.runs.events import Event
from foresee.scoring import Cache, Scorer, ScoringSettings, scored
from foresee.scoring.keys import Keys
from foresee.searchers.pool import drawn
from foresee.searchers.problem import Problem

KAPPA = "ntk_cond:hnas"
#: the order of the columns: the thesis' metrics, the forms of zero-cost-nas that its tables come from, others, kappa
COLUMNS = (
    *("m_grad", "m_snip", "m_grasp", "m_trace", "m_knas", "grad_norm", "snip", "grasp"),
    *("fisher", "synflow", "naswot", "foresee", KAPPA),
)
#: what is made together, and its channels; the dearest last
PARTS: tuple[tuple[tuple[str, ...], int], ...] = (
    (tuple(name for name in COLUMNS if name not in ("m_grasp", KAPPA)), 16),
    ((KAPPA,), 4),
    (("m_grasp",), 16),
)


class Watch:
    """Says how far a part is, and ends it when the time is over."""

    def __init__(self, part: str, until: float) -> None:
        self.part, self.until, self.begun, self.said = part, until, time.monotonic(), 0.0

    def __call__(self, event: Event) -> None:
        """Take one event in."""
        now = time.monotonic()
        if now - self.said > 10 or event.kind == "finished":
            self.said = now
            print(f"{self.part}: {event.done}/{event.total} in {now - self.begun:.0f} s", flush=True)
        if now > self.until and event.kind != "finished":
            raise KeyboardInterrupt


@contextmanager
def shared_gpu(wanted: bool) -> Iterator[None]:
    """NVIDIA's server that lets processes use one GPU at the same time."""
    if wanted:
        subprocess.run(["nvidia-cuda-mps-control", "-d"], check=True)
    try:
        yield
    finally:
        if wanted:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, check=False)


def write(path: Path, texts: list[str], columns: dict[str, dict[str, float]]) -> None:
    """A row for each text, with the columns there are."""
    names = [name for name in COLUMNS if name in columns]
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["architecture", *names])
        for text in texts:
            values = [columns[name].get(text, float("nan")) for name in names]
            rows.writerow([text, *("" if value != value else repr(value) for value in values)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data", default="synthetic", help="CIFAR-10: the path of anything that foresee reads")
    parser.add_argument("--workers", type=int, default=None, help="processes; by default one per core")
    parser.add_argument("--cells", type=int, default=5)
    parser.add_argument("--grasp-batch", type=int, default=16)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop then, and write what there is")
    parser.add_argument("--mps", action="store_true")
    chosen = parser.parse_args()
    start = time.monotonic()
    alike: dict[str, Any] = {"data": chosen.data, "device": chosen.device, "seed": chosen.seed}
    problem = Problem(Scorer("nasbench201", ScoringSettings.of(proxies=("params",), data="synthetic")))
    texts = [str(one) for one in drawn(problem, chosen.number, chosen.seed)]
    columns: dict[str, dict[str, float]] = {}
    with shared_gpu(chosen.mps), Cache(chosen.cache or chosen.out.with_suffix(".scores.sqlite")) as cache:
        get_ready("foresee.scoring.ready")
        for names, channels in PARTS:
            batch = chosen.grasp_batch if names == ("m_grasp",) else 64
            how = ScoringSettings.of(proxies=names, batch_size=batch, inputs=(3, 32, 32), outputs=10, **alike)
            space = {"channels": channels, "cells": chosen.cells}
            watch, over = Watch(names[0], start + chosen.seconds), False
            many = {"engine": "processes", "workers": chosen.workers, "cache": cache, "observers": [watch]}
            try:
                scored("nasbench201", texts, how, space_settings=space, **many)
            except KeyboardInterrupt:
                over = True
            keys = Keys(Scorer("nasbench201", how, space_settings=space, formulas=True))
            asked = {keys(text, name, chosen.seed): (text, name) for text in texts for name in names}
            for key, score in cache.get(asked).items():
                text, name = asked[key]
                columns.setdefault(name, {})[text] = float("nan") if score.value is None else score.value
            for name in names:
                values = list(columns.get(name, {}).values())
                missing = sum(value != value for value in values)
                print(f"{name:14} {len(values)} cells, {missing} of them without a value", flush=True)
            write(chosen.out, texts, columns)
            if over:
                raise SystemExit(f"the time is over in {names[0]}: start again to go on")
    print(f"{chosen.out}: {len(texts)} cells in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
