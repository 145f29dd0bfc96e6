"""Collecting a table while a file is read."""

from __future__ import annotations

import pytest

from foresee.benchmarks.formats.collect import Collector
from foresee.errors import DataError


def test_nothing_is_measured_twice_and_nothing_is_nan():
    collector = Collector("a file", "")
    collector.new("a")
    with pytest.raises(DataError, match="a file: architecture a comes twice"):
        collector.new("a")
    with pytest.raises(DataError, match="acc of a is nan"):
        collector.measure(0, float("nan"), "acc")
    collector.measure(0, 1.0, "acc", seed=3)
    collector.measure(0, 1.0, "acc", seed=3)
    with pytest.raises(DataError, match="seed 3 of architecture a comes twice"):
        collector.table()
    with pytest.raises(DataError, match="no architecture"):
        Collector("a file", "").table()
