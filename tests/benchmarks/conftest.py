"""A table with a bit of everything."""

from __future__ import annotations

import pytest

from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import MEAN, UNKNOWN, Table


@pytest.fixture
def table() -> Table:
    """Three architectures; the second has two seeds, the third only a mean; 12 epochs for the first."""
    collector = Collector("a file", "")
    for text in ("a", "b", "c"):
        collector.new(text)
    collector.measure(0, 90.0, "test_acc", "cifar10", 200, 777)
    collector.measure(1, 91.0, "test_acc", "cifar10", 200, 777)
    collector.measure(1, 93.0, "test_acc", "cifar10", 200, 888)
    collector.measure(2, 70.0, "test_acc", "cifar10", 200, MEAN)
    collector.measure(0, 60.0, "test_acc", "cifar10", 12, 777)
    collector.measure(0, 0.7, "val_loss", "cifar100", UNKNOWN, 0)
    collector.cost(0, "params:cifar10", 100.0)
    collector.cost(0, "macs:cifar10", 5.0)
    collector.cost(0, "macs:cifar100", 6.0)
    collector.proxy(1, "zen", -3.0)
    collector.aliases["old_name"] = "test_acc_cifar10@200#777"
    return collector.table()
