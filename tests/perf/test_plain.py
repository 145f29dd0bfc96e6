"""The reference points give the numbers of the package, small; what is measured gives rows."""

from __future__ import annotations

import pytest
from perf.harness import How

from perf import curvature, proxies


def test_plain_loops_give_the_numbers_of_the_package():
    rows = list(proxies.measure(How(quick=True)))  # raises where they do not
    assert sum(row.beside == "plain loops" for row in rows) == 5
    assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize("file", [curvature])
def test_other_files_give_rows(file):
    assert all(row.ratio > 0 for row in file.measure(How(quick=True)))
