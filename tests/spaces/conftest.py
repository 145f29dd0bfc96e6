"""Where the tests of spaces find tables, and one thread for all of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.looking import _one_thread  # noqa: F401

ROOT = Path(__file__).parents[2]


@pytest.fixture
def nasbench201_table() -> Path:
    """All cells of the benchmark with their identity, parameters and MACs."""
    path = Path(os.environ.get("FORESEE_DATA", ROOT.parent / "shared" / "data")) / "nas" / "nb201_cifar10.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    return path
