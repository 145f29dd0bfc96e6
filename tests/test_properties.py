"""The property tests themselves: the same examples in every run, many new ones when exploring."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import properties
from tests.properties import examples

steady = pytest.mark.skipif(bool(properties.EXPLORE), reason="exploring draws new examples")


def drawn() -> list[tuple[int, str]]:
    """What a property of two arguments is shown."""
    seen = []

    @given(number=st.integers(), word=st.text())
    @examples(300)
    def record(number, word):
        seen.append((number, word))

    record()
    return seen


@steady
def test_examples_do_not_depend_on_what_ran_before(tmp_path):
    first = drawn()
    path = tmp_path / "constants.py"
    path.write_text("\n".join(f"a{i}, b{i} = {10**9 + i}, 'constant {i}'" for i in range(500)))
    spec = importlib.util.spec_from_file_location("constants", path)
    sys.modules["constants"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(sys.modules["constants"])
        assert drawn() == first
    finally:
        del sys.modules["constants"]


@steady
def test_every_property_is_under_the_profile():
    assert settings().derandomize
    assert examples(7).max_examples == 7
    assert examples(7).derandomize
    assert examples(7).deadline is None


def test_exploring_draws_more_and_new():
    code = (
        "from tests import properties; properties.load()\n"
        "chosen = properties.examples(7); print(chosen.max_examples, chosen.derandomize, chosen.deadline)"
    )
    environment = {**os.environ, "FORESEE_EXPLORE": "20", "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["140", "False", "None"]
