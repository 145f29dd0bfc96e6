"""Many architectures at once: networks of a space in one stack, beside the same networks one after the other."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping

from foresee.scoring.scorer import Job, Scorer
from foresee.scoring.settings import ScoringSettings
from perf.harness import How, Row

SECONDS = 60
DEVICES = ("cpu", "cuda")
#: space and proxy, and the greatest ratio to one by one that is promised on a CPU and on a GPU; None: nothing is gained there
RATIOS: Mapping[tuple[str, str], tuple[float | None, float]] = {
    ("nasbench201", "meco"): (1.0, 0.1),
    ("nasbench201", "dextr"): (1.0, 0.1),
    ("nasbench201", "foresee"): (None, 0.2),
    ("transnas_micro", "meco"): (1.0, 0.2),
    ("nasbench_macro", "meco"): (1.0, 0.2),
    ("nats_size", "meco"): (1.0, 0.2),
}
#: sides of images; the stem of one space divides them by four
SIDE = {"nasbench201": 32, "transnas_micro": 64, "nasbench_macro": 32, "nats_size": 32}
#: settings of small networks, for a look
SMALL = {
    "nasbench201": {"channels": 4, "cells": 1},
    "transnas_micro": {"channels": 4},
    "nasbench_macro": {"channels": 4},
    "nats_size": {"step": 2},
}


def scorer(how: How, space: str, name: str, stacked: bool) -> Scorer:
    inputs = (3, SIDE[space], SIDE[space])
    settings = ScoringSettings(
        proxies=(name,), data="synthetic", inputs=inputs, outputs=10, device=how.device, stacked=stacked
    )
    return Scorer(space, settings, space_settings=SMALL[space] if how.quick else {})


def measure(how: How) -> Iterator[Row]:
    count = 4 if how.device == "cpu" else 64
    for (which, name), (on_cpu, on_gpu) in RATIOS.items():
        many, alone = scorer(how, which, name, True), scorer(how, which, name, False)
        rng = random.Random(0)
        job = tuple(str(many.space.sample(rng)) for _ in range(count))

        def values(by: Scorer, job: tuple[str, ...] = job, name: str = name) -> list[float]:
            return [one.scores[0].value or 0.0 for one in by(Job(job, (name,), 0))]

        times = how.compare(
            {"many": lambda many=many: values(many), "alone": lambda alone=alone: values(alone)}, repeats=2
        )
        pairs = zip(times["many"].result, times["alone"].result, strict=True)
        how.check(all(math.isclose(*pair, rel_tol=1e-2) for pair in pairs), f"{name}: a stack gives other scores")
        yield Row(
            f"{name}, one {'cell' if which == 'nasbench201' else f'network of {which}'} of a stack of {count}",
            value=times["many"].middle / count,
            base=times["alone"].middle / count,
            beside="one by one",
            at_most=on_cpu if how.device == "cpu" else on_gpu,
        )
