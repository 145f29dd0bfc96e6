"""Where the tests of DARTS cells find the table of NAS-Bench-301 cells."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def nasbench301_rows() -> list[dict[str, str]]:
    """Cells as (input, operation index) pairs, with the parameters of their networks in millions."""
    path = Path(os.environ.get("FORESEE_DATA", ROOT.parent / "shared" / "data")) / "nas" / "nb301_proxies_725.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))
