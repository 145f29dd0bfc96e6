"""Which part of a supernet a step trains: a function of the seed and the step's number alone.

- `Uniform`: each step one architecture, drawn uniformly: single-path, fair training (Guo et al. 2020; NESBS, thesis 5.2.1).
  AutoFormer's one configuration for each iteration is the same.
- `AnyPath`: NASRec's way (Zhang et al. 2023). Of the inputs of a block any number, of its operations one; and at the
  beginning the full path instead, ever more rarely.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Protocol

import torch
from torch import Tensor

from foresee.checks import whole
from foresee.seeds import stream
from foresee.spaces.base import Space
from foresee.spaces.nasrec.space import NASRec
from foresee.spaces.one_shot import Choice, OneShot, one_hot

#: steps in which NASRec trains the full path now and then, by data set
FULL_PATH_STEPS: Mapping[str, int] = {"criteo": 15_000, "avazu": 12_500, "kdd": 20_000}
#: the same as a share of an epoch: Criteo's 36,672,495 samples are 71,626 steps of 512
FULL_PATH_SHARE = 15_000 / 71_626
#: the number of inputs of a block is 1 and a binomial draw of at most so many
MORE_INPUTS = 3


class Sampler(Protocol):
    """What says which part is trained."""

    @property
    def facts(self) -> dict[str, Any]:
        """Its name and settings, as plain values."""
        ...

    def __call__(self, one_shot: OneShot[Any], step: int) -> None:
        """Set a one-shot network to what step number `step` (from 0) trains."""
        ...


class Uniform:
    """One architecture a step, as the space draws them: every option of a choice is as likely as any other.

    >>> from foresee.spaces.nasbench201 import NASBench201
    >>> sampler = Uniform(NASBench201(), seed=1)
    >>> sampler.architecture(7) == sampler.architecture(7), sampler.architecture(7) == sampler.architecture(8)
    (True, False)
    """

    def __init__(self, space: Space[Any], seed: int = 0) -> None:
        self.space, self.seed = space, seed

    @property
    def facts(self) -> dict[str, Any]:
        """Its name."""
        return {"sampler": "uniform"}

    def architecture(self, step: int) -> Any:
        """What a step trains."""
        return self.space.sample(stream(self.seed, "path", step))

    def __call__(self, one_shot: OneShot[Any], step: int) -> None:
        """Select it."""
        one_shot.select(self.architecture(step))


class AnyPath:
    """NASRec's any-path, single-path schedule with its full-path beginning.

    Macro: each block of n candidates reads 1 + Binomial(min(n - 1, 3), 1/2) of them, dense and sparse, and one on each side
    of its pair. Micro: one operation of each kind, one width of each, both switches by a coin. With probability 1 - t / T
    the full path is trained instead (all inputs; all operations of a block, at the greatest width, both switches on); the
    wiring and each block draw that apart. The counter has to be above 0, so that the first step never does.

    Args:
        steps: T; 15,000 for Criteo, 12,500 for Avazu, 20,000 for KDD. 0: never the full path.
        seed: of all draws.

    >>> [AnyPath(steps=4).full(step) for step in range(6)]
    [0.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(self, steps: int, seed: int = 0) -> None:
        whole("steps", steps, 0, of="full path")
        self.steps, self.seed = steps, seed

    @property
    def facts(self) -> dict[str, Any]:
        """Its name and how long it trains the full path."""
        return {"sampler": "any_path", "full_path_steps": self.steps}

    def full(self, step: int) -> float:
        """The probability of the full path in a step, from 0 on."""
        return max(0.0, 1.0 - step / self.steps) if step and self.steps else 0.0

    def weights(self, one_shot: OneShot[Any], step: int) -> dict[str, Tensor]:
        """What a step trains, choice by choice."""
        rng, probability = stream(self.seed, "path", step), self.full(step)
        wide = rng.random() < probability
        found: dict[str, Tensor] = {}
        inputs: dict[tuple[str, str], list[Choice]] = {}
        blocks: dict[str, bool] = {}
        for choice in one_shot.choices:
            number, gene, *read = choice.name.split(".")
            if number not in blocks:
                blocks[number] = rng.random() < probability
            if read:
                inputs.setdefault((number, gene), []).append(choice)
            elif gene in ("left", "right"):
                found[choice.name] = torch.ones(len(choice.options)) if wide else _one(choice, rng)
            else:
                found[choice.name] = _all(choice) if blocks[number] else _one(choice, rng)
        for group in inputs.values():
            found |= _on(group, len(group) if wide else input_count(len(group), rng), rng)
        return found

    def __call__(self, one_shot: OneShot[Any], step: int) -> None:
        """Mix by these weights."""
        one_shot.mix(self.weights(one_shot, step))


def input_count(candidates: int, rng: Random) -> int:
    """How many of its candidates a block reads: 1 + Binomial(min(n - 1, 3), 1/2)."""
    return 1 + sum(rng.random() < 0.5 for _ in range(min(candidates - 1, MORE_INPUTS)))


def _one(choice: Choice, rng: Random) -> Tensor:
    return one_hot(rng.randrange(len(choice.options)), len(choice.options))


def _all(choice: Choice) -> Tensor:
    """Every operation; of widths the greatest and of switches `on`, which come last."""
    count = len(choice.options)
    return torch.ones(count) if choice.name.endswith("_op") else one_hot(count - 1, count)


def _on(group: list[Choice], count: int, rng: Random) -> dict[str, Tensor]:
    """So many of the inputs switched on; where there is one alone it has no `off`."""
    chosen = set(rng.sample(range(len(group)), count))
    return {
        choice.name: one_hot(int(place in chosen) if len(choice.options) > 1 else 0, len(choice.options))
        for place, choice in enumerate(group)
    }


def usual(space: Space[Any], seed: int, epoch_steps: int) -> Sampler:
    """How a space's supernet is trained where nothing else is said: NASRec its own way, all others uniformly.

    Args:
        space: whose networks they are.
        seed: of the draws.
        epoch_steps: steps of a whole epoch, of which the full path has its share.
    """
    if isinstance(space, NASRec):
        return AnyPath(round(FULL_PATH_SHARE * epoch_steps), seed)
    return Uniform(space, seed)
