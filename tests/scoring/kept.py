"""What foresee gave before its rooms were rebuilt: made once by this file, held by `test_kept.py`.

What was the default score then is `foresee:2`. The transformer ("tokens") was made again when packed projections and
functional activations were first seen.

Only public names are used, so the same code runs on the foresee of then and of now:

    python tests/scoring/kept.py tests/scoring/kept.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

import foresee as fs

CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|"
BROKEN = "|none~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|none~0|none~1|none~2|"


class Plain(nn.Sequential):
    """Convolutions without norms."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 6, 3, stride=2, groups=2), nn.GELU(), nn.Flatten()
        )
        self.append(nn.Linear(6 * 9, 5))


class Tokens(nn.Module):
    """A transformer in small, with layer norms and attention."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, stride=4)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, activation="gelu")
        self.head = nn.Linear(8, 5)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.block(self.patches(images).flatten(2).mT).mean(1))


def networks() -> dict[str, nn.Module]:
    """The networks that are scored, each with weights of its own seed."""
    task = fs.Task((3, 8, 8), 5)
    cells = fs.spaces.get("nasbench201", channels=4, cells=1)
    mobile = fs.spaces.get("nats_size")
    makers: dict[str, Any] = {
        "cell": lambda: cells.build(cells.parse(CELL), task),
        "broken cell": lambda: cells.build(cells.parse(BROKEN), task),
        "narrow": lambda: mobile.build(mobile.parse("8:8:8:8:8"), task),
        "plain": Plain,
        "tokens": Tokens,
    }
    made = {}
    for name, make in makers.items():
        torch.manual_seed(7)
        made[name] = make()
    return made


def scored_networks(names: Sequence[str]) -> dict[str, Any]:
    """Every proxy and every variant on every network: value, status, reason, parts, spread."""
    batches = fs.data.load("synthetic", task=fs.Task((3, 8, 8), 5)).batches(2, 8, seed=3)
    found = {}
    for network, module in networks().items():
        scores = fs.scores(module, batches, names, seed=5, repeats=2)
        found[network] = {name: _plain(one) for name, one in scores.items()}
    return found


def _plain(score: Any) -> dict[str, Any]:
    return {
        "value": score.value,
        "status": score.status,
        "reason": score.reason if score.status in ("unsupported", "rank_deficient") else "",
        "parts": dict(score.parts),
        "spread": score.spread,
    }


def searched() -> dict[str, Any]:
    """Whole runs: which architectures were asked for, of which parent, with which scores."""
    small = {"channels": 2, "cells": 1}
    asked: dict[str, dict[str, Any]] = {
        "evolution": {
            "space": "nasbench201", "proxies": ["grad_norm", "naswot", "foresee:2"], "searcher": "evolution",
            "budgets": [fs.budgets.params < 2500], "evaluations": 40, "seed": 5, "space_settings": small,
            "searcher_settings": {"population": 8, "sample": 3}, "inputs": (3, 8, 8), "outputs": 4, "batch_size": 8,
        },
        "random": {
            "space": "nasbench201", "proxies": ["jacov"], "searcher": "random", "evaluations": 20, "seed": 2,
            "space_settings": small, "inputs": (3, 8, 8), "outputs": 4, "repeats": 2,
        },
        "rare": {
            "space": "nats_size", "proxies": ["params"], "searcher": "evolution", "evaluations": 12, "seed": 1,
            "budgets": [fs.budgets.params < 30000, fs.budgets.macs > 6.5e5], "inputs": (3, 8, 8), "outputs": 4,
        },
    }  # fmt: skip
    return {name: _rows(fs.search(data="synthetic", **arguments)) for name, arguments in asked.items()}


def _rows(run: Any) -> list[Any]:
    return [
        [row.id, row.architecture, row.parent, row.status, row.merit, dict(row.counts)]
        + [[score.proxy, score.value, score.status] for score in row.scores.values()]
        for row in run.record.candidates
    ]


def benched() -> dict[str, Any]:
    """Scores as a bench makes them, of digits, under two seeds."""
    matrices = fs.benchmarks.scored(
        "nasbench201", [CELL, BROKEN], ["foresee:2", "dextr", "zico", "params"], task=fs.Task((3, 16, 16), 10),
        space_settings={"channels": 4, "cells": 1}, seeds=(0, 1), batch_size=16,
    )  # fmt: skip
    return {
        name: {"values": [[None if v != v else v for v in row] for row in one.values.tolist()],
               "statuses": one.statuses.tolist(), "parts": {part: v.tolist() for part, v in one.parts.items()}}
        for name, one in matrices.items()
    }  # fmt: skip


def everything(names: Sequence[str]) -> dict[str, Any]:
    """All of it, by these proxies, with what the last digits depend on."""
    torch.set_num_threads(1)
    return {"networks": scored_networks(names), "searches": searched(), "bench": benched()}


def machine() -> list[str]:
    """What the last digits depend on: torch, and which processor it computes on."""
    return [torch.__version__, torch.backends.cpu.get_cpu_capability(), _processor()]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return "; ".join(
        sorted({line.split(":", 1)[1].strip() for line in lines if line.startswith(("model name", "CPU part"))})
    )


if __name__ == "__main__":
    known = {name: fs.proxies.get(name) for name in fs.proxies.proxies.names()}
    all_names = [full for name, one in known.items() for full in (name, *(f"{name}:{v}" for v in one.variants))]
    plain = {"names": all_names, "machine": machine(), **everything(all_names)}
    Path(sys.argv[1]).write_text(json.dumps(plain, indent=1) + "\n")
