"""The benchmark's own order of its cells."""

from __future__ import annotations

import csv
import gzip

from foresee.spaces.nasbench201.listing import official


def test_the_order_is_that_of_the_benchmark(nasbench201_table):
    with gzip.open(nasbench201_table, "rt") as file:
        for row in csv.DictReader(file):
            assert official()[int(row["index"])] == row["arch_str"]
    assert len(set(official())) == 15_625
