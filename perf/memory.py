"""No proxy keeps memory: score 2,000 tiny networks in one process and watch what the process holds."""

from __future__ import annotations

import argparse
import gc
from pathlib import Path

import torch
from torch import nn

import foresee as fs


def held_megabytes() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def tiny(width: int) -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)),
        *(nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 4)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=2000)
    count = parser.parse_args().networks
    torch.set_num_threads(1)
    batch = (torch.randn(8, 3, 8, 8), torch.arange(8) % 4)
    names = [name for name in fs.proxies.proxies.names() if fs.score(tiny(4), batch, name).seconds < 0.2]
    for warm in range(20):  # libraries load, pools fill
        fs.scores(tiny(4 + warm % 4), batch, names)
    start = held_megabytes()
    for index in range(count):
        fs.scores(tiny(4 + index % 4), batch, [names[(index + step) % len(names)] for step in (0, 11, 23)])
        if index % (count // 4) == 0:
            print(f"{index:5} networks: {held_megabytes() - start:+.1f} MB")
    print(f"{count:5} networks, {len(names)} proxies in turn: {held_megabytes() - start:+.1f} MB (at most +100)")


if __name__ == "__main__":
    main()
