"""Many architectures at once: cells of NAS-Bench-201 in one stack, beside the same cells one after the other."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from foresee.scoring.scorer import Job, Scorer
from foresee.scoring.settings import ScoringSettings
from foresee.spaces import get
from perf.harness import How, Row

SECONDS = 60
DEVICES = ("cpu", "cuda")
#: proxy, and the greatest ratio to one by one that is promised on a CPU and on a GPU
PROXIES = {"meco": (1.0, 0.1), "dextr": (1.0, 0.1), "foresee": (1.2, 0.2)}


def scorer(how: How, name: str, stacked: bool) -> Scorer:
    settings = ScoringSettings(
        proxies=(name,), data="synthetic", inputs=(3, 32, 32), outputs=10, device=how.device, stacked=stacked
    )
    return Scorer("nasbench201", settings, space_settings={"channels": 4, "cells": 1} if how.quick else {})


def measure(how: How) -> Iterator[Row]:
    space, rng = get("nasbench201"), random.Random(0)
    count = 4 if how.device == "cpu" else 64
    job = tuple(str(space.sample(rng)) for _ in range(count))
    for name, (on_cpu, on_gpu) in PROXIES.items():
        many, alone = scorer(how, name, True), scorer(how, name, False)

        def values(which: Scorer, name: str = name) -> list[float]:
            return [one.scores[0].value or 0.0 for one in which(Job(job, (name,), 0))]

        times = how.compare(
            {"many": lambda many=many: values(many), "alone": lambda alone=alone: values(alone)}, repeats=2
        )
        pairs = zip(times["many"].result, times["alone"].result, strict=True)
        how.check(all(math.isclose(*pair, rel_tol=1e-2) for pair in pairs), f"{name}: a stack gives other scores")
        yield Row(
            f"{name}, one cell of a stack of {count}",
            value=times["many"].middle / count,
            base=times["alone"].middle / count,
            beside="one by one",
            at_most=on_cpu if how.device == "cpu" else on_gpu,
        )
