"""Files for the readers to read."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def write_json(tmp_path):
    """Writes a text, or anything else as JSON, and returns the path."""

    def make(plain, name="t.json"):
        (tmp_path / name).write_text(plain if isinstance(plain, str) else json.dumps(plain))
        return tmp_path / name

    return make
