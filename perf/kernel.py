"""The neural tangent kernel of a network of a million parameters, batch 64, in bounded memory: bytes and seconds.

    python -m perf.kernel [--networks convolutions mixer] [--samples 64] [--memory 2G] [--threads 2] [--device cpu]

For each network, in a process of its own: the exact trace over all ten outputs (`ntk_trace`), and the condition number of
the true-class kernel (`ntk_cond:hnas`). Printed are the seconds, the greatest resident size of the process before and after
(on a CUDA device the greatest allocation), and what was predicted. One forward and backward run of the batch is timed just
before and after, so that the number of runs a result was worth can be told on a busy machine too. Fails above the limit
(4 GiB for the whole process).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from foresee import spaces
from foresee.probes.kernel import predicted_bytes
from foresee.proxies import Probe, get
from foresee.quantities import parse_quantity
from foresee.task import Task
from perf.harness import How, Row

SECONDS = 40
DEVICES = ("cpu", "cuda")

CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|"
LIMIT = 4 * 2**30


def convolutions() -> nn.Module:
    """Plain convolutions with BatchNorm, 1.13 M parameters: every row is a backward run of the whole batch."""
    layers: list[nn.Module] = []
    before = 3
    for width, stride in ((16, 1), (32, 2), (64, 2), (128, 2), (128, 1), (256, 2), (256, 1)):
        layers += [nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


class Mixer(nn.Module):
    """Tokens mixed by linear layers with LayerNorm, 1.06 M parameters: samples do not meet, layers can be contracted."""

    def __init__(self, width: int = 128, tokens: int = 64, blocks: int = 6) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, width, 4, 4)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * blocks))
        self.across = nn.ModuleList(nn.Linear(tokens, tokens) for _ in range(blocks))
        self.widen = nn.ModuleList(nn.Linear(width, 5 * width) for _ in range(blocks))
        self.narrow = nn.ModuleList(nn.Linear(5 * width, width) for _ in range(blocks))
        self.head = nn.Linear(width, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Images to logits."""
        signal = self.embed(images).flatten(2).transpose(1, 2)
        for i, (across, widen, narrow) in enumerate(zip(self.across, self.widen, self.narrow, strict=True)):
            signal = signal + across(self.norms[2 * i](signal).mT).mT
            signal = signal + narrow(nn.functional.gelu(widen(self.norms[2 * i + 1](signal))))
        out: Tensor = self.head(signal.mean(1))
        return out


def nasbench201() -> nn.Module:
    """NAS-Bench-201's network with C = 16 and N = 5, 0.83 M parameters."""
    space = spaces.get("nasbench201")
    return space.build(space.parse(CELL), Task((3, 32, 32), 10))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "convolutions": convolutions,
    "mixer": Mixer,
    "nasbench201": nasbench201,
}


def peak(device: str) -> int:
    if device != "cpu":
        return torch.cuda.max_memory_allocated()
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def forward_and_backward(network: nn.Module, inputs: Tensor) -> float:
    start = time.perf_counter()
    output = network(inputs)
    (output[-1] if isinstance(output, tuple) else output).sum().backward()
    if inputs.is_cuda:
        torch.cuda.synchronize()
    network.zero_grad()
    return time.perf_counter() - start


def looked_at(name: str, samples: int, memory: float, device: str) -> dict[str, float | str]:
    torch.manual_seed(0)
    network = NETWORKS[name]().train().to(device)
    inputs, labels = torch.randn(samples, 3, 32, 32, device=device), torch.arange(samples, device=device) % 10
    forward_and_backward(network, inputs[:2])
    found: dict[str, float | str] = {"params": sum(p.numel() for p in network.parameters()), "before": peak(device)}
    once = [forward_and_backward(network, inputs) for _ in range(3)]
    asked = {"ntk_trace": ("all", "all", False), "ntk_cond:hnas": ("label", "conv_linear", True)}
    for proxy, (outputs, parameters, matrix) in asked.items():
        probe = Probe(network, (inputs, labels))
        how = {"outputs": outputs, "parameters": parameters, "memory": memory, "matrix": matrix}
        found[f"{proxy} predicted"] = predicted_bytes(probe, **how)  # type: ignore[arg-type]
        start = time.perf_counter()
        found[proxy] = float(get(proxy, {"memory": memory})(probe))
        found[f"{proxy} seconds"] = time.perf_counter() - start
        found[f"{proxy} peak"] = peak(device)
    once += [forward_and_backward(network, inputs) for _ in range(3)]
    found["once"] = sorted(once)[len(once) // 2]
    return found


def by_one_row_each(network: nn.Module, inputs: Tensor) -> float:
    """The trace over all outputs as it is defined: a gradient for each output of each sample, and its square."""
    total = 0.0
    for sample in inputs:
        for output in network(sample[None])[0]:
            found = torch.autograd.grad(output, list(network.parameters()), retain_graph=True)
            total += sum(float(one.double().square().sum()) for one in found)
    return total


def measure(how: How) -> Iterator[Row]:
    """The exact trace of a network whose samples do not meet, beside a gradient for each output of each sample."""
    torch.manual_seed(0)
    network = Mixer(16, 64, 1) if how.quick else Mixer(64, 64, 4)
    network = network.train().to(how.device)
    samples = 2 if how.quick else 8
    inputs, labels = torch.randn(samples, 3, 32, 32, device=how.device), torch.arange(samples, device=how.device) % 10
    times = how.compare(
        {
            "ours": lambda: float(get("ntk_trace")(Probe(network, (inputs, labels)))),
            "plain": lambda: by_one_row_each(network, inputs),
        },
        repeats=1 if how.quick else 3,
    )
    ours, theirs = times["ours"].result, times["plain"].result
    apart = min(abs(ours / theirs - 1), abs(ours * samples / theirs - 1))  # a mean or a sum over the samples
    how.check(apart < 1e-3, f"the two ways disagree: {ours} and {theirs}")
    name = f"exact trace of the tangent kernel, {samples} samples"
    yield Row(name, times["ours"].middle, times["plain"].middle, "a gradient for each output of each sample", 1.0)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--networks", nargs="+", choices=sorted(NETWORKS), default=["convolutions", "mixer"])
    options.add_argument("--samples", type=int, default=64)
    options.add_argument("--memory", type=parse_quantity, default=2.0**31)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--device", default="cpu")
    options.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    if chosen.child:
        print(json.dumps(looked_at(chosen.networks[0], chosen.samples, chosen.memory, chosen.device)))
        return
    over = False
    for name in chosen.networks:
        own = ["--child", "--networks", name, "--samples", str(chosen.samples), "--memory", str(int(chosen.memory))]
        how = ["--threads", str(chosen.threads), "--device", chosen.device]
        answer = subprocess.run(
            [sys.executable, "-m", "perf.kernel", *own, *how], check=True, capture_output=True, text=True
        )
        found = json.loads(answer.stdout.splitlines()[-1])
        print(f"{name}: {found['params'] / 1e6:.2f} M parameters, batch {chosen.samples}, {chosen.device}")
        print(
            f"  one forward + backward run {found['once']:.3f} s; process at the start {found['before'] / 2**20:.0f} MiB"
        )
        for proxy in ("ntk_trace", "ntk_cond:hnas"):
            seconds, greatest, predicted = (found[f"{proxy} {what}"] for what in ("seconds", "peak", "predicted"))
            print(
                f"  {proxy:>14} = {found[proxy]:.6g} in {seconds:.1f} s ({seconds / found['once']:.1f} runs), "
                f"peak {greatest / 2**20:.0f} MiB, predicted {predicted / 2**20:.0f} MiB beside the network"
            )
            over |= greatest > LIMIT
    if over:
        raise SystemExit(f"more than {LIMIT / 2**30:.0f} GiB were taken")


if __name__ == "__main__":
    main()
