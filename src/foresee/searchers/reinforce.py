"""REINFORCE: a policy over the choices of a space, made likelier to take what was better than usual."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresee.checks import whole
from foresee.errors import InputError
from foresee.searchers.base import Result, Sampler, searchers
from foresee.searchers.problem import Problem
from foresee.spaces.base import Space
from foresee.task import MOST

Floats = NDArray[np.float64]
#: draws of the policy in vain, after which a candidate is drawn at random
PATIENCE = 200
#: Adam's decays and the least of its denominators (Kingma & Ba 2015)
BETAS, EPSILON = (0.9, 0.999), 1e-8


@searchers.register("reinforce")
class Reinforce(Sampler):
    """Learn a policy by its gradient (Williams 1992), as the baseline of NAS-Bench-201 does.

    The policy has a softmax over the options of each choice, all equal at first, and draws the choices independently. After a
    result the logits take a step of Adam along the gradient of log p(architecture) (merit - baseline), where the baseline is
    an exponential moving average of the merits. A batch is drawn from one policy, and its gradients are averaged.

    An architecture is evaluated once, where the paper would train it again: what the policy draws again is drawn anew, and
    at random when it draws nothing new any more. It needs a space that is made of independent choices.

    Args:
        lr: step of Adam.
        momentum: of the moving average.
        batch: candidates drawn before the policy changes; more than 1 lets them be scored at once.
    """

    name = "reinforce"
    summary = "learns a policy over the choices of a space by REINFORCE"
    source = "Williams 1992; NAS-Bench-201 (Dong & Yang 2020), its baseline"
    published: ClassVar[Mapping[str, str]] = {
        "lr": "0.001 (NAS-Bench-201, its baseline)",
        "momentum": "0.9 (NAS-Bench-201, its baseline)",
        "batch": "1 (NAS-Bench-201, its baseline)",
    }

    @classmethod
    def fits(cls, space: type[Space[Any]]) -> str:
        """Only spaces that say their choices."""
        return "is not made of independent choices" if space.choices is Space.choices else ""

    def __init__(self, problem: Problem, *, lr: float = 0.05, momentum: float = 0.9, batch: int = 1) -> None:
        super().__init__(problem)
        whole("reinforce.batch =", batch, most=MOST)
        if isinstance(lr, bool) or not isinstance(lr, int | float) or not 0 < lr < np.inf:
            raise InputError(f"reinforce.lr = {lr!r}: expected a number above 0")
        if isinstance(momentum, bool) or not isinstance(momentum, int | float) or not 0 <= momentum < 1:
            raise InputError(f"reinforce.momentum = {momentum!r}: expected a number from 0 to below 1")
        self.lr, self.momentum, self.batch = lr, momentum, batch
        sizes = [len(choice.options) for choice in self.space.choices]
        #: a row for each choice; options that a choice does not have are never drawn
        self._logits: Floats = np.zeros((len(sizes), max(sizes)))
        self._there = np.arange(max(sizes)) < np.array(sizes)[:, None]
        self._moments: tuple[Floats, Floats] = (np.zeros_like(self._logits), np.zeros_like(self._logits))
        self._updates = 0
        self._baseline: float | None = None
        self._told: list[tuple[Any, float]] = []

    def told_before(self, candidate: int) -> int:
        """A batch is drawn from the policy that all results before it made."""
        return candidate - candidate % self.batch

    @property
    def policy(self) -> Floats:
        """The probability of each option of each choice."""
        shifted = np.where(self._there, self._logits, -np.inf)
        weights = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A draw of the policy; a random one where it draws nothing new any more."""
        if attempt >= PATIENCE:
            return self.space.sample(rng), None
        places = range(self._logits.shape[1])
        return self.space.assemble([rng.choices(places, row)[0] for row in self.policy.tolist()]), None

    def learn(self, result: Result) -> None:
        """With the last of a batch the policy changes."""
        if result.merit is not None:
            self._told.append((result.architecture, result.merit))
        if (result.id + 1) % self.batch == 0 and self._told:
            self._update(self._told)
            self._told = []

    def _update(self, told: list[tuple[Any, float]]) -> None:
        """A step of Adam up the gradient of log p times the advantage, its mean over what was told."""
        gradient = np.zeros_like(self._logits)
        for architecture, merit in told:
            before = merit if self._baseline is None else self._baseline
            self._baseline = self.momentum * before + (1 - self.momentum) * merit
            gradient += (merit - self._baseline) * self._score(architecture) / len(told)
        self._updates += 1
        first, second = (
            beta * moment + (1 - beta) * gradient**power
            for beta, moment, power in zip(BETAS, self._moments, (1, 2), strict=True)
        )
        self._moments = first, second
        mean, square = (one / (1 - beta**self._updates) for one, beta in zip(self._moments, BETAS, strict=True))
        self._logits = self._logits + self.lr * mean / (np.sqrt(square) + EPSILON)

    def _score(self, architecture: Any) -> Floats:
        """The gradient of log p(architecture) by the logits: one-hot minus policy, 0 for choices that do not matter."""
        gradient = np.zeros_like(self._logits)
        policy = self.policy
        for row, pick in enumerate(self.space.picks(architecture)):
            if pick is not None:
                gradient[row] = -policy[row]
                gradient[row, pick] += 1.0
        return gradient

    def state(self) -> dict[str, Any]:
        """As the base, with the policy."""
        return {**super().state(), "baseline": self._baseline, "logits": self._logits.tolist()}
