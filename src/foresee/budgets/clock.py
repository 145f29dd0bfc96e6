"""Latency: measured on this device, or summed from a table of blocks measured once.

A measured latency is a median after a warm-up, with torch's threads fixed, kept per identity so that no architecture is
timed twice. A table holds the median of every *block*, a leaf module with its settings and input shape; the latency of an
architecture is then the sum over the calls its network makes, found on the meta device. That leaves out what happens between
blocks (sums, concatenations), so a table ranks well and reads low; `LatencyTable.calibrated` says by how much.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foresee.devices import threads as fixed_threads
from foresee.errors import InputError
from foresee.spaces.base import Space
from foresee.spaces.counting import on_meta
from foresee.task import Task


@dataclass(frozen=True)
class Timing:
    """Seconds of one forward: the median, and the half-width between the quartiles as spread, of `runs` runs."""

    median: float
    spread: float
    runs: int


def time_network(network: nn.Module, inputs: tuple[Tensor, ...], *, runs: int = 15, warmup: int = 3) -> Timing:
    """Time the forward of a network in evaluation mode; the caller fixes threads and device."""
    cuda = inputs[0].device.type == "cuda"
    was_training = network.training
    network.eval()
    seconds = []
    try:
        with torch.inference_mode():
            for run in range(warmup + runs):
                if cuda:
                    torch.cuda.synchronize(inputs[0].device)
                start = time.perf_counter()
                network(*inputs)
                if cuda:
                    torch.cuda.synchronize(inputs[0].device)
                if run >= warmup:
                    seconds.append(time.perf_counter() - start)
    finally:
        network.train(was_training)
    low, middle, high = statistics.quantiles(seconds, n=4) if runs > 1 else (seconds[0],) * 3
    return Timing(middle, (high - low) / 2, runs)


@dataclass
class Clock:
    """Finds the latency of architectures: by measuring, or from a table.

    `known` maps identities to seconds measured before; a run keeps it, because a measurement cannot be repeated exactly.
    """

    device: str = "cpu"
    threads: int = 1
    table: LatencyTable | None = None
    known: dict[str, float] = field(default_factory=dict)
    #: told of every new measurement: (identity, seconds)
    note: Callable[[str, float], None] | None = None

    def __call__(self, space: Space[Any], architecture: Any, task: Task) -> float:
        """Seconds for the network of an architecture."""
        if self.table is not None:
            return self.table.sum_of(lambda: space.build(architecture, task), task)
        identity = space.canonical(architecture)
        if identity not in self.known:
            with _quiet(self.threads):
                network = space.build(architecture, task).to(self.device)
                self.known[identity] = time_network(network, _inputs(task, self.device)).median
            if self.note is not None:
                self.note(identity, self.known[identity])
        return self.known[identity]


@dataclass
class LatencyTable:
    """Median seconds per block, and what they were measured on.

    `calibrated` is the median ratio of measured to summed latency over a few whole networks: sums are multiplied by it.
    """

    blocks: dict[str, Timing]
    device: str
    threads: int
    calibrated: float = 1.0

    def sum_of(self, build: Callable[[], nn.Module], task: Task) -> float:
        """The latency of the network `build` makes; a block that is not in the table is named."""
        total = 0.0
        for key, _, _ in block_calls(on_meta(build), task):
            if key not in self.blocks:
                raise InputError(f"latency table: block {key} was not measured; measure more samples of the space")
            total += self.blocks[key].median
        return total * self.calibrated

    @classmethod
    def measure(
        cls,
        space: Space[Any],
        task: Task,
        samples: Iterable[Any],
        *,
        device: str = "cpu",
        threads: int = 1,
        check: int = 3,
        told: Callable[[int], None] = lambda count: None,
    ) -> LatencyTable:
        """Measure every block that the networks of `samples` call, then calibrate on the first `check` of them."""
        samples = list(samples)
        table = cls({}, device, threads)
        with _quiet(threads):
            for architecture in samples:
                network = space.build(architecture, task).to(device)
                for key, module, shapes in block_calls(network, task):
                    if key not in table.blocks:
                        inputs = tuple(torch.randn(shape, device=device) for shape in shapes)
                        table.blocks[key] = time_network(module, inputs)
                        told(len(table.blocks))
            ratios = []
            for architecture in samples[:check]:
                network = space.build(architecture, task).to(device)
                summed = sum(table.blocks[key].median for key, _, _ in block_calls(network, task))
                ratios.append(time_network(network, _inputs(task, device)).median / summed)
        table.calibrated = statistics.median(ratios) if ratios else 1.0
        return table

    def save(self, path: str | Path) -> None:
        """Write the table as JSON."""
        plain = {
            "kind": "foresee latency table",
            "device": self.device,
            "threads": self.threads,
            "calibrated": self.calibrated,
            "blocks": {key: [t.median, t.spread, t.runs] for key, t in self.blocks.items()},
        }
        try:
            Path(path).write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error

    @classmethod
    def load(cls, path: str | Path) -> LatencyTable:
        """Read a table, checked at the door."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            if plain["kind"] != "foresee latency table":
                raise ValueError("another kind of file")
            blocks = {
                str(key): Timing(float(median), float(spread), int(runs))
                for key, (median, spread, runs) in plain["blocks"].items()
            }
            return cls(blocks, str(plain["device"]), int(plain["threads"]), float(plain["calibrated"]))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise InputError(f"{path}: not a latency table ({error}); make one with `foresee latency`") from error


def block_calls(network: nn.Module, task: Task) -> list[tuple[str, nn.Module, list[tuple[int, ...]]]]:
    """Every call of a leaf module in one forward of one sample: its key, the module, the shapes that go in."""
    calls: list[tuple[str, nn.Module, list[tuple[int, ...]]]] = []

    def hook(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        shapes = [tuple(part.shape) for part in inputs if isinstance(part, Tensor) and part.is_floating_point()]
        if shapes and len(shapes) == len(inputs):
            calls.append((f"{module} {' '.join('x'.join(map(str, shape)) for shape in shapes)}", module, shapes))

    leaves = [module for module in network.modules() if not any(True for _ in module.children())]
    handles = [module.register_forward_pre_hook(hook) for module in leaves]
    device = next((p.device for p in network.parameters()), torch.device("cpu"))
    was_training = network.training
    try:
        network.eval()
        with torch.no_grad():
            network(*_inputs(task, device))
    finally:
        network.train(was_training)
        for handle in handles:
            handle.remove()
    return calls


def _inputs(task: Task, device: torch.device | str) -> tuple[Tensor, ...]:
    example = task.example(1)
    return tuple(part.to(device) for part in (example if isinstance(example, tuple) else (example,)))


@contextmanager
def _quiet(threads: int) -> Iterator[None]:
    """Fixed torch threads, and global random numbers left as they were."""
    with fixed_threads(threads), torch.random.fork_rng(devices=[]):
        yield
