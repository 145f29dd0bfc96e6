"""Where the tests of spaces find reference networks and tables, and one thread for all of them."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest
from tests.looking import _one_thread  # noqa: F401

ROOT = Path(__file__).parents[2]


@pytest.fixture
def golden_networks() -> ModuleType:
    """Networks written by others from the same facts."""
    path = Path(os.environ.get("FORESEE_GOLDEN", ROOT.parent / "shared" / "golden")) / "networks.py"
    if not path.is_file():
        pytest.skip(f"no {path.name} under FORESEE_GOLDEN")
    spec = importlib.util.spec_from_file_location("golden_networks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def nasbench201_table() -> Path:
    """All cells of the benchmark with their identity, parameters and MACs."""
    path = Path(os.environ.get("FORESEE_DATA", ROOT.parent / "shared" / "data")) / "nas" / "nb201_cifar10.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    return path
