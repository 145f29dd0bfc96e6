"""The curvature of a network's output along a circle: jets against twenty backward passes, in one run.

    python -m perf curvature [--repeats 5] [--threads 1] [--device cuda]

The network is NAS-Bench-201's with C = 16 and N = 5 on a 3x32x32 input in float64, batch statistics, ten outputs. The
plain way differentiates each output twice through the angle by autograd, as the equation is usually implemented; both
ways are timed in turn, so that other load on the machine meets both, and must give the same curvature.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, nn

from foresee import spaces
from foresee.probes.jets import curvature, taylor
from foresee.seeds import generator
from foresee.task import Task
from perf.harness import How, Row

SECONDS = 40
DEVICES = ("cpu", "cuda")

CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|"


def by_jets(network: nn.Module, cosine: Tensor, sine: Tensor) -> Tensor:
    _, velocity, acceleration = taylor(network, cosine, sine, -cosine, method="jets")
    return curvature(velocity[0], acceleration[0])


def by_twenty_backward_passes(network: nn.Module, cosine: Tensor, sine: Tensor) -> Tensor:
    angle = torch.zeros((), dtype=cosine.dtype, device=cosine.device, requires_grad=True)
    output = network(cosine * angle.cos() + sine * angle.sin())
    output = output[-1] if isinstance(output, tuple) else output
    first = [torch.autograd.grad(y, angle, create_graph=True)[0] for y in output[0]]
    second = [torch.autograd.grad(y, angle, retain_graph=True)[0] for y in first]
    return curvature(torch.stack(first).detach(), torch.stack(second))


def measure(how: How) -> Iterator[Row]:
    """Both ways, and the same curvature."""
    space = spaces.get("nasbench201", **({"channels": 4, "cells": 1} if how.quick else {}))
    torch.manual_seed(0)
    network = space.build(space.parse(CELL), Task((3, 32, 32), 10)).double().train().to(how.device)
    draws = torch.randn(3 * 32 * 32, 2, dtype=torch.float64, generator=generator(0, "circle"))
    circle = torch.linalg.qr(draws).Q.T.reshape(2, 1, 3, 32, 32).to(how.device)
    ways = {"jets": by_jets, "plain": by_twenty_backward_passes}
    times = how.compare(
        {name: partial(way, network, *circle) for name, way in ways.items()}, repeats=1 if how.quick else 3
    )
    ours, theirs = (float(times[name].result) for name in ways)
    how.check(abs(ours - theirs) <= 1e-9 * abs(theirs), f"the two ways disagree: {ours} and {theirs}")
    found = times["jets"]
    yield Row(
        "curvature of ten outputs",
        found.middle,
        times["plain"].middle,
        "twenty backward passes",
        0.15,
        low=found.low,
        high=found.high,
    )
