"""Scores, runs and benches are those of before the rooms were rebuilt: to the last digit where the machine is the same."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.scoring import kept

BEFORE = json.loads(Path(__file__).with_name("kept.json").read_text())
#: another processor or torch rounds float32 differently, and some of these numbers are differences of near equals
ELSEWHERE = 2e-3


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    threads = torch.get_num_threads()
    try:
        return json.loads(json.dumps(kept.everything(BEFORE["names"])))
    finally:
        torch.set_num_threads(threads)


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """Every place where two nests of plain values differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        if before.keys() != now.keys():
            return [f"{where}: {sorted(before.keys() ^ now.keys())}"]
        return [found for key in before for found in differences(before[key], now[key], f"{where}.{key}")]
    if isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            return [f"{where}: {len(before)} before, {len(now)} now"]
        return [
            found
            for i, pair in enumerate(zip(before, now, strict=True))
            for found in differences(*pair, f"{where}.{i}")
        ]
    same = before == now or (before != before and now != now)
    if not same and BEFORE["machine"] != kept.machine():
        same = _close(before, now, where)
    return [] if same else [f"{where}: {before!r} before, {now!r} now"]


def _close(before: Any, now: Any, where: str) -> bool:
    """As near as another machine comes; `random` is drawn from every bit of the weights, and reasons name rounding errors."""
    if isinstance(before, float) and isinstance(now, float):
        return ".random." in where or math.isclose(before, now, rel_tol=ELSEWHERE, abs_tol=1e-6)
    if isinstance(before, str) and isinstance(now, str):
        return re.sub(r"[-+.\de]+", "#", before) == re.sub(r"[-+.\de]+", "#", now)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("part", ["networks", "searches", "bench"])
def test_nothing_has_changed(now, part):
    assert differences(BEFORE[part], now[part]) == []


def test_a_changed_digit_is_noticed():
    before = {"a": [1.0, {"b": None}], "c": "text"}
    assert differences(before, before) == []
    assert differences(
        before,
        {"a": [math.nextafter(1.0, 2.0) if BEFORE["machine"] == kept.machine() else 1.1, {"b": None}], "c": "text"},
    )
    assert differences(before, {"a": [1.0], "c": "text"})
    assert differences(before, {"a": [1.0, {"b": 0.0}], "c": "text"})
