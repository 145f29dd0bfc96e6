"""Ensembles judged by inherited weights, as the thesis' repeated trials are: chosen by validation, judged by test.

Each architecture is looked at once, its batch statistics are estimated once, and both parts are predicted: what was looked at
before costs nothing, but counts in the budget of whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from foresee.data import Data
from foresee.ensembles.measures import measure, nll
from foresee.ensembles.selecting import forward_selection
from foresee.probes.outputs import logits_of
from foresee.seeds import derive
from foresee.supernets import evaluating
from foresee.supernets.supernet import Supernet

#: samples that are predicted at a time
SIZE = 512


class Inherited:
    """What networks with a supernet's weights predict on two parts of the data.

    Args:
        supernet: trained.
        like: what it was trained on, and batch statistics are estimated on.
        val: what ensembles are chosen by.
        test: what the chosen are judged by.
        batches: of 128 samples, that statistics are estimated on.
    """

    def __init__(
        self, supernet: Supernet, like: Data, val: Data, test: Data, batches: int = evaluating.BATCHES
    ) -> None:
        self.supernet, self.val, self.test = supernet, val, test
        # drawn and moved once: the same batches serve every architecture
        seed = derive(supernet.seed, "statistics")
        self._looks = [one.to(supernet.device) for one in evaluating.looks(like, seed=seed, batches=batches)]
        self._placed = {
            name: [batch.to(supernet.device) for batch in part.epoch(min(SIZE, part.epoch_samples), shuffle=False)]
            for name, part in (("val", val), ("test", test))
        }
        self.labels = {
            name: torch.cat([one.labels.cpu() for one in batches if one.labels is not None])
            for name, batches in self._placed.items()
        }
        self._known: dict[str, dict[str, Tensor]] = {}

    @property
    def looked_at(self) -> list[str]:
        """The architectures so far, as texts."""
        return list(self._known)

    def predicted(self, text: str) -> dict[str, Tensor]:
        """By part, the probabilities (samples, classes) of an architecture."""
        if text not in self._known:
            network = evaluating.settled(self.supernet.inherit(text), self._looks).eval()
            with torch.no_grad():
                self._known[text] = {
                    name: torch.cat([logits_of(batch.call(network)).softmax(-1).cpu() for batch in batches])
                    for name, batches in self._placed.items()
                }
        return self._known[text]

    def together(self, texts: Sequence[str], part: str) -> Tensor:
        """(members, samples, classes)."""
        return torch.stack([self.predicted(text)[part] for text in texts])

    def loss(self, texts: Sequence[str]) -> float:
        """The ensemble's negative log likelihood on the validation part."""
        return float(nll(self.together(texts, "val").double().mean(0), self.labels["val"]))

    def error(self, texts: Sequence[str], part: str = "test") -> float:
        """The share that the ensemble gets wrong."""
        answers = self.together(texts, part).double().mean(0).argmax(-1)
        return float((answers != self.labels[part]).double().mean())

    def disagreement(self, texts: Sequence[str], part: str = "test") -> float:
        """The share of samples on which two members differ, the mean over all pairs."""
        return measure(self.together(texts, part), self.labels[part]).ppd

    def best_single(self, texts: Iterable[str]) -> float:
        """The least test error of a single one of these: a bound, for it is chosen by the test."""
        return min(self.error([text]) for text in texts)


def over_draws(
    inherited: Inherited, draws: Sequence[Sequence[Any]], loss: Callable[[Sequence[str]], float] | None = None
) -> list[float]:
    """After each drawn ensemble, the test error of the one that validation, or another `loss`, prefers (Algorithm 5.1)."""
    errors: list[float] = []
    least = float("inf")
    for drawn in draws:
        texts = [str(one) for one in drawn]
        found = (loss or inherited.loss)(texts)
        better = not errors or found < least
        least = min(least, found)
        errors.append(inherited.error(texts) if better else errors[-1])
    return errors


def over_pools(inherited: Inherited, pool: Sequence[Any], size: int) -> list[float]:
    """The test error of what NES-RS selects from the first n, 2n, 3n, ... networks of a pool: equal budgets."""
    texts = [str(one) for one in pool]
    errors = []
    for count in range(size, len(texts) + 1, size):
        known = inherited.together(texts[:count], "val")
        chosen = forward_selection(known, inherited.labels["val"], size)
        errors.append(inherited.error([texts[place] for place in chosen]))
    return errors
