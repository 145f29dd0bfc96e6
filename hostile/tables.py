"""A small table of measured cells, and its files: what is damaged, converted, and benched."""

from __future__ import annotations

import random
from pathlib import Path

from foresee.benchmarks.formats import save
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import MEAN, Table
from foresee.spaces import get

#: a target that every table of ours has
TARGET = "test_acc_cifar10"


def small_table(many: int = 24, *, space: str = "nasbench201") -> Table:
    """Cells with an accuracy for each and a loss for some, always the same."""
    rng = random.Random(0)
    cells = get("nasbench201")
    texts = list(dict.fromkeys(str(cells.sample(rng)) for _ in range(2 * many)))[:many]
    collector = Collector("made up", space)
    for place, text in enumerate(texts):
        collector.new(text)
        accuracy = 60 + 5 * text.count("conv_3x3~") + rng.random()
        collector.measure(place, accuracy, "test_acc", "cifar10", 200, MEAN)
        if place % 2 == 0:
            collector.measure(place, -accuracy, "val_loss", "cifar10", 12, rng.choice([MEAN, 777]))
    return collector.table()


def write_csv(path: Path) -> Path:
    """The table as a long csv."""
    save(small_table(), path)
    return path
