"""What was measured before: a line of JSON for each run, and what got worse since.

Ratios are compared with those of the same kind of machine only: the same processor, number of cores, device and release of
torch. The past of a row is the median of its last three runs, so one noisy run neither raises an alarm nor hides one.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perf.harness.rows import Row

FILE = Path(__file__).parent.parent / "history.jsonl"
#: a ratio that has grown by more than this share is a regression
WORSE = 0.2
#: so many runs are the past
PAST = 3


@dataclass(frozen=True)
class Run:
    """One run of the suite: when, of which commit, on what, and the ratios by "file/name"."""

    date: str
    commit: str
    machine: str
    device: str
    ratios: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Plain values, ratios with four digits."""
        ratios = {key: float(f"{value:.4g}") for key, value in self.ratios.items()}
        return {**{name: getattr(self, name) for name in ("date", "commit", "machine", "device")}, "ratios": ratios}


def machine() -> str:
    """The kind of this machine: no name, no address.

    >>> machine().count(",") >= 2
    True
    """
    import torch

    release = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    return f"{platform.machine()}, {os.cpu_count()} cores, torch {release}"


def device_name(device: str) -> str:
    """`cpu`, or what kind of a GPU it is."""
    if device == "cpu":
        return device
    import torch

    return str(torch.cuda.get_device_name(device))


def now_run(rows: Mapping[str, Sequence[Row]], device: str) -> Run:
    """What was measured now, by file."""
    ratios = {key(file, row): row.ratio for file, found in rows.items() for row in found}
    return Run(datetime.now(UTC).strftime("%Y-%m-%d %H:%M"), _commit(), machine(), device_name(device), ratios)


def key(file: str, row: Row) -> str:
    """How a row is known in the history."""
    return f"{file}/{row.name}"


def read(path: Path = FILE) -> list[Run]:
    """All runs, the oldest first; a line that makes no sense is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(Run(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found


def append(run: Run, path: Path = FILE) -> None:
    """One more line."""
    with path.open("a") as file:
        file.write(json.dumps(run.to_json()) + "\n")


def past(runs: Iterable[Run], like: Run) -> dict[str, float]:
    """The ratio that each row of a run had, by the median of its last runs on this kind of machine."""
    alike = [one for one in runs if (one.machine, one.device) == (like.machine, like.device)]
    found: dict[str, list[float]] = {}
    for one in alike:
        for name, ratio in one.ratios.items():
            found.setdefault(name, []).append(ratio)
    return {name: statistics.median(ratios[-PAST:]) for name, ratios in found.items() if name in like.ratios}


def regressions(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """By how much, as a share, those ratios grew that grew too much.

    >>> regressions({"a": 1.0, "b": 1.0}, {"a": 1.15, "b": 1.5, "new": 9.0})
    {'b': 0.5}
    """
    grown = {name: ratio / before[name] - 1 for name, ratio in now.items() if before.get(name, 0) > 0}
    return {name: share for name, share in grown.items() if share > WORSE}


def _commit() -> str:
    asked = ["git", "-C", str(FILE.parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
