"""No proxy keeps memory: score hundreds of tiny networks in one process and watch what the process holds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn

import foresee as fs
from perf.harness import How, Row

SECONDS = 60


def held_megabytes() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def tiny(width: int) -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)),
        *(nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 4)),
    )


def measure(how: How) -> Iterator[Row]:
    """What the process holds after many networks, beside what it held after the first few."""
    count = 20 if how.quick else 400
    batch = (torch.randn(8, 3, 8, 8), torch.arange(8) % 4)
    names = [name for name in fs.proxies.proxies.names() if fs.score(tiny(4), batch, name).seconds < 0.2]
    for warm in range(20):  # libraries load, pools fill
        fs.scores(tiny(4 + warm % 4), batch, names)
    start = held_megabytes()
    for index in range(count):
        fs.scores(tiny(4 + index % 4), batch, [names[(index + step) % len(names)] for step in (0, 11, 23)])
    note = f"{len(names)} proxies in turn"
    yield Row(f"held after {count} networks", held_megabytes(), start, "before them", 1.1, unit="MB", note=note)
