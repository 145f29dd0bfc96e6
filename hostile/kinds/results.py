"""A damaged bench or calibration is a `RunError` in one line, or a page; `foresee report` changes none of their files.

Bytes, texts and values of what they left in their folders are damaged, and folders of several kinds are named in one call.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from foresee.benchmarks import bench, calibrate_table
from hostile import damage, tables
from hostile.commands import foresee
from hostile.runs import small_run

SECONDS = 180.0
FOLDERS_PER_CASE = 6
_LOOK: dict[str, Any] = {"data": "synthetic", "space_settings": {"channels": 2, "cells": 1}, "bootstrap": 5}
_FILES = {"bench": ("bench.json", "bench.json", "scores.csv"), "calibration": ("calibration.json",)}


def case(rng: random.Random, folder: Path) -> None:
    """A bench or a calibration whose files are damaged again and again, and reported beside a run."""
    small_run(folder / "run")
    kind = rng.choice(sorted(_FILES))
    _made(kind, folder / kind)
    sound = {name: (folder / kind / name).read_bytes() for name in _FILES[kind]}
    for _ in range(FOLDERS_PER_CASE):
        name = rng.choice(_FILES[kind])
        hurt = _hurt(rng, sound[name]) if name.endswith(".json") and rng.random() < 0.7 else None
        (folder / kind / name).write_bytes(damage.content(rng, sound[name]) if hurt is None else hurt)
        before = {one: (folder / kind / one).read_bytes() for one in sound}
        named = rng.choice(
            [[kind], [kind, "run"], ["run", f"{kind}/{_FILES[kind][0]}"], [kind, "-o", f"{kind}/{name}"]]
        )
        foresee(["report", *named], folder, patience=60).check((0, 2))
        after = {one: (folder / kind / one).read_bytes() for one in sound}
        assert before == after, f"changed by reporting: {[one for one in sound if before[one] != after[one]]}"
        (folder / kind / name).write_bytes(sound[name])


def _made(kind: str, out: Path) -> None:
    table = tables.small_table()
    if kind == "bench":
        bench(table, tables.TARGET, ["params"], sample=10, out=out, **_LOOK)
    else:
        calibrate_table(table, tables.TARGET, proxies=["params"], untrained="params", trained=12, out=out, **_LOOK)


def _hurt(rng: random.Random, whole: bytes) -> bytes:
    """One value of a JSON file is another, or gone."""
    plain = json.loads(whole)
    inner: Any = plain
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = rng.choice(keys)
        if not isinstance(inner[key], dict | list) or not inner[key] or rng.random() < 0.3:
            break
        inner = inner[key]
    if rng.random() < 0.3:
        del inner[key]
    else:
        inner[key] = damage.value(rng)
    return json.dumps(plain, default=str).encode("utf-8", "replace")
