"""Click logs of a few rows in the form of Criteo's, for tests: categories decide the label, so that it can be learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SCHEMA = """label = "label"
numeric = ["age", "count"]
categories = ["site", "device", "hour"]
least = 2

[split]
by = "random"
"""
COLUMNS = ("label", "age", "count", "site", "device", "hour")
#: networks of two narrow blocks, so that a step takes milliseconds
TINY = {"blocks": 2, "dense_widths": [16, 32], "sparse_widths": [16]}


def rows(count: int, seed: int = 0) -> list[dict[str, str]]:
    """So many rows by column; some values are missing."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        site, device, hour = (int(rng.integers(most)) for most in (12, 4, 24))
        age, seen = int(rng.integers(18, 80)), int(rng.integers(0, 300))
        chance = 0.75 if (site + device) % 3 == 0 else 0.2
        made.append(
            {
                "label": str(int(rng.random() < chance)),
                "age": "" if rng.random() < 0.1 else str(age),
                "count": str(seen),
                "site": f"s{site}",
                "device": "" if rng.random() < 0.1 else f"d{device}",
                "hour": f"{hour:02d}",
            }
        )
    return made


def write_log(path: Path, count: int = 400, seed: int = 0, columns: tuple[str, ...] = COLUMNS) -> Path:
    """A CSV with a header line."""
    lines = [",".join(columns), *(",".join(row[name] for name in columns) for row in rows(count, seed))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_schema(path: Path) -> Path:
    """The description of its columns."""
    path.write_text(SCHEMA, encoding="utf-8")
    return path
