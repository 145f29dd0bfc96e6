"""Fixtures of the data tests: the measuring data, where it is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def image_files() -> Path:
    """Folder with `cifar10_6k.npz` and others."""
    default = Path(__file__).parents[2] / ".." / "shared" / "data"
    folder = Path(os.environ.get("FORESEE_DATA", default)) / "images"
    if not folder.is_dir():
        pytest.skip(f"no measuring data at {folder}; set FORESEE_DATA")
    return folder
