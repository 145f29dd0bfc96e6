"""Where the tests find measured NAS-Bench-1Shot1 and NAS-Bench-101 cells."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def read_table() -> Callable[[str], list[dict[str, str]]]:
    """Rows of one of the tables by name."""

    def read(name: str) -> list[dict[str, str]]:
        path = Path(os.environ.get("FORESEE_DATA", ROOT.parent / "shared" / "data")) / "nas" / f"{name}.csv.gz"
        if not path.is_file():
            pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
        with gzip.open(path, "rt") as file:
            return list(csv.DictReader(file))

    return read
