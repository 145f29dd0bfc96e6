"""A little training before looking: the same search as initialised, and after 10 % of one pass over the data."""

import foresee as fs
from foresee.supernets import Supernet

LOOK = {"inputs": (3, 8, 8), "batch_size": 32, "space_settings": {"channels": 4, "cells": 1}}


def main() -> None:
    for level in ("0%", "10%"):
        run = fs.search("nasbench201", "sigeo", "random", evaluations=6, finalists=0, warmup=level, **LOOK)
        print(f"after {level}: best {run.best.architecture}, sigeo {run.record.best.merit:.4g}")

    data = fs.data.load("digits", inputs=(3, 8, 8))
    supernet = Supernet("nasbench201", data.task, channels=4, cells=1)
    supernet.train(data, recipe="warmup", epochs=12, out="supernet")  # stop it, and resume=True goes on
    print(f"inherited: {supernet.evaluate(run.best.architecture, data)}")


if __name__ == "__main__":
    main()
