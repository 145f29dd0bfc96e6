"""Where the tests find measured NAS-Bench-101 cells."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def table() -> list[dict[str, str]]:
    """Rows with `hash`, `adj_upper`, `ops` and `params`."""
    path = Path(os.environ.get("FORESEE_DATA", ROOT.parent / "shared" / "data")) / "nas" / "nb101.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))
