"""Every proxy on the CPU and on another device: how far the values differ, and what each took.

    python -m perf.devices [--device cuda] [--threads 1] [--channels 16] [--cells 1]

Values in float32 differ in their last digits from device to device; what is random is drawn on the CPU for all of them. Times
are of the second call, one proxy at a time, on one NAS-Bench-201 network with the batches each proxy wants by itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial

import torch

import foresee as fs
from perf.harness import How, Row

SECONDS = 60
DEVICES = ("cuda",)

CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|"


def measure(how: How) -> Iterator[Row]:
    """Some proxies on a GPU beside one thread of its host; values agree within 2 %."""
    for name in ("foresee", "dextr", "meco", "naswot", "grad_norm", "synflow"):
        found: dict[str, tuple[float, float]] = {}
        for device in ("cpu", how.device):
            settings = fs.scoring.ScoringSettings(proxies=(name,), data="synthetic", device=device, batch_size=16)
            scorer = fs.scoring.Scorer("nasbench201", settings)
            network = scorer.candidate(CELL).build()
            times = how.compare({"": partial(scorer.of_network, network)}, repeats=3)[""]
            found[device] = times.middle, times.result[0].value
        (here, value), (there, other) = found["cpu"], found[how.device]
        how.check(abs(value - other) <= 0.02 * abs(value), f"{name}: {value} on the CPU, {other} on {how.device}")
        yield Row(f"{name}, 16 samples", there, here, "one thread of the host", 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--cells", type=int, default=1)
    parser.add_argument("--proxies", nargs="*", default=["all"])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    fs_devices = ("cpu", options.device)
    names = tuple(fs.proxies.names_of(options.proxies))
    agree = failed = 0
    for name in names:
        found, seconds = {}, {}
        for device in fs_devices:
            settings = fs.scoring.ScoringSettings(
                proxies=(name,), data="synthetic", device=device, threads=options.threads, batch_size=16
            )
            scorer = fs.scoring.Scorer(
                "nasbench201", settings, space_settings={"channels": options.channels, "cells": options.cells}
            )
            network = scorer.candidate(CELL).build()
            for _ in range(2):
                start = time.perf_counter()
                [found[device]] = scorer.of_network(network)
                seconds[device] = time.perf_counter() - start
        here, there = (found[device] for device in fs_devices)
        if not (here.ok and there.ok):
            failed += here.status != there.status
            print(f"{name:20} {here.status} / {there.status}  {there.reason[:80]}")
            continue
        difference = abs(there.value - here.value) / max(abs(here.value), 1e-12)
        agree += difference < 0.02
        print(f"{name:20} {difference:9.2e}  {seconds['cpu']:8.3f} s  {seconds[options.device]:8.3f} s", flush=True)
    print(f"{agree} of {len(names)} agree within 2 %; {failed} have another status")


if __name__ == "__main__":
    main()
