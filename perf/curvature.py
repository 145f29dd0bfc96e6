"""The curvature of a network's output along a circle: jets against twenty backward passes, in one run.

    python perf/curvature.py [--repeats 7] [--threads 2] [--device cpu]

The network is NAS-Bench-201's with C = 16 and N = 5 on a 3x32x32 input in float64, batch statistics, ten outputs. The
plain way differentiates each output twice through the angle by autograd, as the equation is usually implemented; both
ways are timed in turn, so that other load on the machine meets both, and must give the same curvature.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor, nn

from foresee import spaces
from foresee.probes.jets import curvature, taylor
from foresee.seeds import generator
from foresee.task import Task

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


def timed(way: Callable[..., Tensor], *args: object) -> tuple[float, Tensor]:
    start = time.perf_counter()
    kappa = way(*args).cpu()
    return time.perf_counter() - start, kappa


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--device", default="cpu")
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)

    space = spaces.get("nasbench201")
    torch.manual_seed(0)
    network = space.build(space.parse(CELL), Task((3, 32, 32), 10)).double().train().to(chosen.device)
    draws = torch.randn(3 * 32 * 32, 2, dtype=torch.float64, generator=generator(0, "circle"))
    circle = torch.linalg.qr(draws).Q.T.reshape(2, 1, 3, 32, 32).to(chosen.device)

    ways = {"jets": by_jets, "twenty backward passes": by_twenty_backward_passes}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    kappas: dict[str, float] = {}
    for turn in range(chosen.repeats + 1):
        for name, way in ways.items():
            spent, kappa = timed(way, network, *circle)
            kappas[name] = float(kappa)
            if turn:  # the first turn warms up
                seconds[name].append(spent)

    for name in ways:
        low, high = min(seconds[name]), max(seconds[name])
        print(
            f"{name:>22}: kappa {kappas[name]:.12g}, "
            f"median {median(seconds[name]) * 1e3:.1f} ms ({low * 1e3:.1f} to {high * 1e3:.1f})"
        )
    fast, slow = (median(seconds[name]) for name in ways)
    print(f"{'ratio':>22}: {slow / fast:.1f} times faster")
    first, second = kappas.values()
    if abs(first - second) > 1e-9 * abs(second):
        raise SystemExit("the two ways disagree")


if __name__ == "__main__":
    main()
