"""What proxies cost on one NAS-Bench-201 network (C = 16, N = 5): beside one pass, and beside plain loops.

One forward + backward at batch 64 is 1.0 in the first rows. In the others the base is the proxy written from its paper's
formula, one at a time (`perf/plain/proxies.py`), which must give the same number.

    python -m perf proxies [--device cuda] [--repeats 5] [--threads 1]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn import functional as F

import foresee as fs
from foresee.proxies import Probe
from perf.harness import How, Row
from perf.plain import proxies as plain

SECONDS = 120
DEVICES = ("cpu", "cuda")

CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|"
FAMILY = ["grad_norm", "snip", "plain", "fisher", "l2_norm", "m_grad", "m_snip"]
#: the thirteen of NAS-Bench-Suite-Zero
SUITE = ["epe_nas", "fisher", "flops", "grad_norm", "grasp", "jacov", "l2_norm"]
SUITE += ["naswot", "params", "plain", "snip", "synflow", "zen"]
#: what may be taken, in passes forward and backward of a batch of 64; of zico, in its own two passes
PROMISED = {
    "gradient family together": 1.4,
    "thirteen of the suite together": 7.0,
    "foresee, 16 samples": 0.5,
    "dextr": 0.25,
    "meco": 0.08,
    "zico, 2 x 128": 1.15,
}
#: naswot and zico are hardly more than the pass itself, in loops as well
LOOPS = 1.1
PASS, PAIR = "forward + backward, batch 64", "forward + backward, 2 x 128"


def passes(network: torch.nn.Module, batches: Any) -> None:
    """What training would do."""
    for inputs, labels in batches:
        loss = F.cross_entropy(network(inputs), labels)
        torch.autograd.grad(loss, list(network.parameters()), allow_unused=True)


def measure(how: How) -> Iterator[Row]:
    """Beside a pass, then beside plain loops."""
    torch.manual_seed(0)
    space = fs.spaces.get("nasbench201", **({"channels": 4, "cells": 1} if how.quick else {}))
    network = space.build(space.parse(CELL), fs.Task()).train().to(how.device)
    draw = fs.data.load("synthetic")
    one = draw.batch(8 if how.quick else 64, seed=0).to(how.device)
    two = [batch.to(how.device) for batch in draw.batches(2, 8 if how.quick else 128, seed=0)]
    pairs = [(batch.inputs, batch.labels) for batch in two]
    score: dict[str, Callable[[], Any]] = {
        "gradient family together": lambda: fs.scores(network, one, FAMILY),
        "gradient family and foresee": lambda: fs.scores(network, one, [*FAMILY, "foresee"]),
        "foresee, 64 samples": lambda: fs.score(network, one, "foresee"),
        "thirteen of the suite together": lambda: fs.scores(network, one, SUITE),
        "foresee, 16 samples": lambda: fs.score(network, one.first(16), "foresee"),
        "dextr": lambda: fs.score(network, one.first(1), "dextr"),
        "meco": lambda: fs.score(network, one.first(1), "meco"),
        "zico, 2 x 128": lambda: fs.score(network, two, "zico"),
    }
    base: dict[str, Callable[[], Any]] = {
        PASS: lambda: passes(network, [(one.inputs, one.labels)]),
        PAIR: lambda: passes(network, pairs),
    }
    times = how.compare({**base, **score})
    for name in score:
        beside = PAIR if name.startswith("zico") else PASS
        spread = {"low": times[name].low, "high": times[name].high}
        yield Row(name, times[name].middle, times[beside].middle, beside, PROMISED.get(name), **spread)
    yield from beside_loops(how, network, one, two)


def beside_loops(how: How, network: torch.nn.Module, one: Any, two: Any) -> Iterator[Row]:
    """Each proxy beside the same number in plain loops."""
    pair, first = (one.inputs, one.labels), one.first(1)
    draws = Probe(network, first, seed=0).draws
    count = first.inputs.numel()
    plane, angle = draws.plane(f"plane.{count}", count), 2 * math.pi * float(draws.uniform("angle"))
    three = ["grad_norm", "snip", "l2_norm"]
    ways: dict[str, tuple[Callable[[], list[float]], Callable[[], list[float]]]] = {
        "grad_norm, snip, l2_norm together": (
            lambda: [score.value for score in fs.scores(network, one, three).values()],
            lambda: [getattr(plain, name)(network, pair) for name in three],
        ),
        "zico": (
            lambda: [fs.score(network, two, "zico").value],
            lambda: [plain.zico(network, [(batch.inputs, batch.labels) for batch in two])],
        ),
        "naswot": (
            lambda: [fs.score(network, one, "naswot").value],
            lambda: [plain.naswot(network, one.inputs)],
        ),
        "meco, in loops": (
            lambda: [fs.score(network, first, "meco").value],
            lambda: [plain.meco(network, first.inputs)],
        ),
        "dextr, in loops": (
            lambda: [fs.score(network, first, "dextr", seed=0).value],
            lambda: [plain.dextr(network, first.inputs, plane, angle)],
        ),
    }
    for name, (ours, theirs) in ways.items():
        times = how.compare({"ours": ours, "plain": theirs}, repeats=1 if how.quick else min(3, how.repeats))
        pairs = zip(times["ours"].result, times["plain"].result, strict=True)
        apart = max(abs(a - b) / abs(b) for a, b in pairs)
        how.check(apart < 1e-2, f"{name}: {apart:.1e} apart from plain loops")
        spread = {"low": times["ours"].low, "high": times["ours"].high}
        yield Row(
            name, times["ours"].middle, times["plain"].middle, "plain loops", LOOPS, **spread, note=f"{apart:.0e} apart"
        )
