"""Which of several drawn ensembles is taken: by inherited weights' validation loss (Algorithm 5.1), or greedily (NES)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresee.checks import whole
from foresee.data import Data
from foresee.ensembles.measures import Measures, measure, nll
from foresee.errors import InputError
from foresee.probes.outputs import logits_of
from foresee.seeds import derive
from foresee.supernets import evaluating
from foresee.supernets.supernet import Supernet

#: samples that are predicted at a time
SIZE = 256


class Estimates:
    """What networks with inherited weights predict on data, each architecture once.

    Batch statistics are estimated again for each network on what the supernet was trained on, as in `Supernet.evaluate`.

    Args:
        supernet: trained.
        data: what they are judged by, with labels.
        like: what batch statistics are estimated on; None: `data`.
        known: predictions that were made before with the same arguments, which new ones are added to; they count as looks
            only when they are asked for here.
    """

    def __init__(
        self, supernet: Supernet, data: Data, like: Data | None = None, known: dict[str, Tensor] | None = None
    ) -> None:
        self.supernet, self.data, self.like = supernet, data, like or data
        self._known: dict[str, Tensor] = {} if known is None else known
        self._asked: set[str] = set()
        self._labels: Tensor | None = None

    @property
    def labels(self) -> Tensor:
        """Of all samples, in order."""
        if self._labels is None:
            parts = [batch.labels for batch in self._batches()]
            if any(part is None for part in parts):
                raise InputError(f"ensemble: {self.data.name} has no labels to judge by")
            self._labels = torch.cat([part for part in parts if part is not None])
        return self._labels

    @property
    def evaluated(self) -> int:
        """How many architectures were looked at: the evaluation budget that was spent."""
        return len(self._asked)

    def probabilities(self, architecture: Any) -> Tensor:
        """Of one architecture (or its text), (samples, classes)."""
        space = self.supernet.space
        found = space.parse(architecture) if isinstance(architecture, str) else architecture
        key = str(found)  # not its identity: cells of equal function inherit other weights
        self._asked.add(key)
        if key not in self._known:
            looked = evaluating.looks(self.like, seed=derive(self.supernet.seed, "statistics"))
            network = evaluating.settled(self.supernet.inherit(found), looked).eval()
            device = self.supernet.device
            with torch.no_grad():
                answers = [logits_of(batch.to(device).call(network)).softmax(-1).cpu() for batch in self._batches()]
            self._known[key] = torch.cat(answers)
        return self._known[key]

    def together(self, architectures: Sequence[Any]) -> Tensor:
        """(members, samples, classes)."""
        return torch.stack([self.probabilities(one) for one in architectures])

    def loss(self, architectures: Sequence[Any]) -> float:
        """The ensemble's negative log likelihood: that of the mean of probabilities."""
        mean = self.together(architectures).double().mean(0)
        return float(nll(mean, self.labels))

    def measure(self, architectures: Sequence[Any]) -> Measures:
        """Errors, disagreement, likelihood, calibration."""
        return measure(self.together(architectures), self.labels)

    def _batches(self) -> Any:
        return self.data.epoch(min(SIZE, self.data.epoch_samples), shuffle=False)


@dataclass(frozen=True)
class Selected:
    """An ensemble that was selected, with all that were looked at.

    Args:
        architectures: its members.
        loss: its estimated validation loss.
        tried: the loss of every ensemble that was drawn, in order.
        evaluated: networks that were looked at so far, after each of them.
    """

    architectures: tuple[Any, ...]
    loss: float
    tried: tuple[float, ...]
    evaluated: tuple[int, ...]


def nesbs(draw: Callable[[int], Sequence[Any]], estimates: Estimates, iterations: int = 5) -> Selected:
    """Algorithm 5.1: of `iterations` drawn ensembles the one of the least estimated validation loss, the first of equals.

    Args:
        draw: the architectures of ensemble number t.
        estimates: what judges them.
        iterations: T.
    """
    whole("iterations", iterations)
    best: tuple[Any, ...] = ()
    tried: list[float] = []
    evaluated: list[int] = []
    for number in range(iterations):
        drawn = tuple(draw(number))
        loss = estimates.loss(drawn)
        if not tried or loss < min(tried):
            best = drawn
        tried.append(loss)
        evaluated.append(estimates.evaluated)
    return Selected(best, min(tried), tuple(tried), tuple(evaluated))


def forward_selection(probabilities: Tensor, labels: Tensor, size: int) -> list[int]:
    """NES' greedy choice from a pool, without replacement: first the best, then whatever helps the ensemble most.

    Args:
        probabilities: of the pool (networks, samples, classes).
        labels: (samples,).
        size: of the ensemble.

    >>> pool = torch.tensor([[[0.9, 0.1], [0.9, 0.1]], [[0.1, 0.9], [0.1, 0.9]], [[0.6, 0.4], [0.4, 0.6]]])
    >>> forward_selection(pool, torch.tensor([0, 1]), 2)
    [2, 0]
    """
    whole("ensemble size", size, most=len(probabilities))
    pool = probabilities.double()
    total = torch.zeros_like(pool[0])
    chosen: list[int] = []
    for count in range(1, size + 1):
        losses = nll((total + pool) / count, labels)
        losses[chosen] = torch.inf
        best = int(losses.argmin())
        chosen.append(best)
        total = total + pool[best]
    return chosen
