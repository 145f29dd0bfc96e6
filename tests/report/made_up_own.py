"""A run over somebody's own code that never happened: picks as texts, and pictures as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

from foresee.runs.record import EventRow, Record
from foresee.spaces.own.boxes import Box, Drawing, Repeat


def made_up_own(record: Record, bad: str = "") -> Record:
    """The record with architectures of an own space; `bad` is a text that somebody could have written anywhere."""
    rows = tuple(
        replace(row, architecture=_text(row.id, bad), identity=_text(row.id, bad)) for row in record.candidates
    )
    made = replace(record, candidates=rows, settings={**record.settings, "space": "nets:make_net"})
    drawn = [EventRow(0.0, "drawn", row.id, {"drawing": drawing(row.id, bad).to_json()}) for row in made.scored[:5]]
    ends = {"acceptance": 0.5, "rejected": 0.12, "passed_over": 3, "reason": bad or "BuildError: too deep"}
    return replace(made, events=(*record.events, *drawn, EventRow(0.0, "finished", None, ends)))


def _text(number: int, bad: str) -> str:
    picks = {"depth": number % 4, "act": bad or ["relu", "gelu"][number % 2], f"stem.width{bad}": 8 * (1 + number % 9)}
    picks |= {"rate": 0.001 * number} if number % 3 else {}
    return json.dumps({**picks, "id": number}, sort_keys=True, separators=(",", ":"))


def drawing(number: int, bad: str = "") -> Drawing:
    """A U-Net in little, with a repeated part and a long name."""
    wide = 16 + number % 3
    boxes = [
        Box("input", "input", shape=(3, 32, 32)),
        Box(
            bad or f"Conv2d 3×3, 3 → {wide}",
            name=bad or "stem",
            shape=(wide, 32, 32),
            params=448,
            after=("BatchNorm2d", "ReLU"),
        ),
        Box("Block of 2 Conv2d", name="blocks.0", shape=(wide, 32, 32), params=4640),
        Box("+", "join", shape=(wide, 32, 32), after=("ReLU",)),
        Box("ConvTranspose2d 2×2, 128 → 64, stride 2, depthwise and more", shape=(64, 64, 64), params=32_800),
        Box("concat", "join", shape=(80, 64, 64)),
        Box("Linear 80 → 10", shape=(10,), params=810, before=("LayerNorm", "mean")),
        Box("output", "output", shape=(10,)),
    ]
    lines = ((0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (1, 5), (4, 5), (5, 6), (6, 7))
    return Drawing(tuple(boxes), lines, (Repeat(2, 2, 4),))
