"""A small table whose truth is known, and settings under which its networks score in milliseconds."""

from __future__ import annotations

import random

import numpy as np

from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import MEAN, Table
from foresee.spaces import get


def small_table(many: int = 40) -> Table:
    """Cells of NAS-Bench-201: `test_acc` rises with their convolutions, `test_loss` falls, `val_acc` has every second."""
    rng, noise = random.Random(0), np.random.default_rng(0)
    space = get("nasbench201")
    texts = list(dict.fromkeys(str(space.sample(rng)) for _ in range(2 * many)))[:many]
    collector = Collector("made up", "nasbench201")
    for place, text in enumerate(texts):
        collector.new(text)
        accuracy = 60 + 5 * text.count("conv_3x3~") + 2 * text.count("conv_1x1~") + float(noise.normal())
        collector.measure(place, accuracy, "test_acc", "cifar10", 200, MEAN)
        collector.measure(place, -accuracy, "test_loss", "cifar10", 200, MEAN)
        if place % 2 == 0:
            collector.measure(place, accuracy, "val_acc", "cifar10", 12, MEAN)
    return collector.table()


#: how to look at its networks so that a score takes milliseconds
LOOK = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 4}
LOOK["space_settings"] = {"channels": 2, "cells": 1}
