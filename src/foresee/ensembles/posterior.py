r"""The posterior of architectures after a supernet was trained (thesis, Eq. 5.4, 5.6, 5.7).

Each choice has a logit for each option; p(o) = exp(alpha_o / tau) / sum exp(alpha / tau), and an architecture is as likely as
the product of its options. The logits maximise

    E_{A ~ p_alpha} [ log p(D | A) ] - KL[ p_alpha || uniform ],

the first term by one straight-through Gumbel draw for each batch, with the supernet's weights as they are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from foresee.data import Data
from foresee.errors import InputError, TrainingError
from foresee.probes.outputs import logits_of
from foresee.seeds import derive, generator
from foresee.spaces.one_shot import OneShot, straight_through
from foresee.supernets.frozen import frozen
from foresee.training import losses

#: the thesis' values (5.3.3): Adam of so many epochs
EPOCHS, LR, BETAS, DECAY, BATCH = 20, 0.01, (0.9, 0.999), 3e-4, 128


@dataclass(frozen=True, eq=False)
class Posterior:
    """How likely each option of each choice is.

    Args:
        logits: by choice, one number for each option, in float64.
        counts: how many options a choice takes at once, where it is not one.
        temperature: tau; a larger one makes all options more alike.
        without: options that cannot be chosen (`none`, where an architecture has no such edge).
        options: by choice the names of its options; only `without` reads them.

    >>> posterior = Posterior({"a": torch.tensor([math.log(3), 0.0])})
    >>> [round(float(one), 3) for one in posterior.probabilities()["a"]]
    [0.75, 0.25]
    >>> round(float(posterior.log_probability({"a": torch.tensor([0.0, 1.0])}).exp()), 3)
    0.25
    """

    logits: Mapping[str, Tensor]
    counts: Mapping[str, int] = field(default_factory=dict)
    temperature: float = 1.0
    without: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise InputError(f"posterior: temperature = {self.temperature:g}; expected a number above 0")
        plain = {name: vector.detach().double().cpu() for name, vector in self.logits.items()}
        object.__setattr__(self, "logits", plain)

    @property
    def allowed(self) -> dict[str, Tensor]:
        """By choice, which options can be chosen."""
        found = {}
        for name, vector in self.logits.items():
            names = self.options.get(name, ())
            odd = [one in self.without for one in names] or [False] * len(vector)
            found[name] = ~torch.tensor(odd)
        return found

    def probabilities(self) -> dict[str, Tensor]:
        """Eq. 5.6: by choice a vector that sums to 1."""
        allowed = self.allowed
        masked = {name: torch.where(allowed[name], one, -torch.inf) for name, one in self.logits.items()}
        return {name: torch.softmax(vector / self.temperature, -1) for name, vector in masked.items()}

    def log_probability(self, path: Mapping[str, Tensor]) -> Tensor:
        """Eq. 5.7: of a path of ones and zeros, a number. Several options of a choice are drawn without replacement, in
        any order.
        """
        total = torch.zeros((), dtype=torch.float64)
        for name, likely in self.probabilities().items():
            chosen = path[name].nonzero()[:, 0].tolist()
            orders = (_in_order(likely[list(order)]) for order in itertools.permutations(chosen))
            total = total + torch.stack(list(orders)).sum().log()
        return total

    def draw(self, seed: int, *use: Any) -> dict[str, Tensor]:
        """One architecture as a path of ones and zeros, by the seed and what it is for."""
        likely = {name: one.log() for name, one in self.probabilities().items()}
        drawn = straight_through(likely, generator=generator(seed, *use), counts=self.counts)
        return {name: vector.float() for name, vector in drawn.items()}

    def mode(self) -> dict[str, Tensor]:
        """The likeliest architecture as a path."""
        return {name: foremost(likely, self.counts.get(name, 1)) for name, likely in self.probabilities().items()}

    def tempered(self, temperature: float) -> Posterior:
        """The same logits under another temperature (Figures 5.6 and 5.7)."""
        return replace(self, temperature=temperature)

    @property
    def divergence(self) -> float:
        """KL to the uniform distribution over what can be chosen, in nats: 0 knows nothing."""
        return float(kl_to_uniform(self.logits, self.allowed, self.temperature))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "logits": {name: vector.tolist() for name, vector in self.logits.items()},
            "counts": dict(self.counts),
            "temperature": self.temperature,
            "without": list(self.without),
            "options": {name: list(names) for name, names in self.options.items()},
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Posterior:
        """Inverse of `to_json`."""
        return cls(
            {name: torch.tensor(one, dtype=torch.float64) for name, one in plain["logits"].items()},
            dict(plain["counts"]),
            float(plain["temperature"]),
            tuple(plain["without"]),
            {name: tuple(names) for name, names in plain["options"].items()},
        )


def foremost(values: Tensor, count: int = 1) -> Tensor:
    """Ones where the `count` largest of a vector are, zeros elsewhere.

    >>> foremost(torch.tensor([0.2, 0.9, 0.5]), 2).tolist()
    [0.0, 1.0, 1.0]
    """
    return torch.zeros(len(values)).index_fill_(0, values.topk(count).indices, 1.0)


def _in_order(likely: Tensor) -> Tensor:
    """How likely these options are drawn one after the other, without replacement."""
    left = 1 - torch.cat([likely.new_zeros(1), likely.cumsum(0)[:-1]])
    return (likely / left).prod()


def kl_to_uniform(logits: Mapping[str, Tensor], allowed: Mapping[str, Tensor], temperature: float = 1.0) -> Tensor:
    """Sum over choices of sum_o p(o) log( p(o) |O| ), of the options that can be chosen; differentiable.

    >>> float(kl_to_uniform({"a": torch.zeros(4)}, {"a": torch.ones(4, dtype=torch.bool)}))
    0.0
    """
    total = torch.zeros((), dtype=torch.float64)
    for name, vector in logits.items():
        likely = torch.log_softmax(vector[allowed[name]] / temperature, -1)
        total = total + (likely.exp() * (likely + math.log(len(likely)))).sum().double()
    return total


def fit(
    one_shot: OneShot[Any],
    data: Data,
    *,
    seed: int = 0,
    epochs: int = EPOCHS,
    batch: int = BATCH,
    lr: float = LR,
    betas: tuple[float, float] = BETAS,
    weight_decay: float = DECAY,
    temperature: float = 1.0,
    prior: float = 1.0,
    without: Collection[str] = (),
    observe: Callable[[int, float], None] = lambda step, loss: None,
) -> Posterior:
    """The posterior by which a trained one-shot network explains the data best; its weights and statistics stay.

    Each step draws one architecture (straight through, all options with a gradient) and goes down the mean cross-entropy of a
    batch plus `prior` times the divergence from uniform: the thesis' loss. Batch norms see the batch.

    Args:
        one_shot: trained.
        data: what it was not trained on, with labels.
        seed: of the order of the batches and of all draws.
        epochs: passes over the data.
        batch: samples of a step.
        lr: of Adam.
        betas: of Adam.
        weight_decay: of Adam, on the logits.
        temperature: tau, of the draws too.
        prior: weight of the divergence. The evidence lower bound of N samples has 1 / N beside a mean; the thesis, whose loss
            is the usual cross-entropy, has 1.
        without: options that cannot be chosen.
        observe: told each step and its loss.
    """
    options = {choice.name: choice.options for choice in one_shot.choices}
    logits = one_shot.logits()
    empty = Posterior(logits, one_shot.counts, temperature, tuple(without), options)
    allowed = empty.allowed
    architect = torch.optim.Adam(list(logits.values()), lr, betas=betas, weight_decay=weight_decay)
    size = min(batch, data.epoch_samples)
    step = 0
    with frozen(one_shot):
        device = next(one_shot.parameters()).device
        for number in range(epochs):
            for seen in data.epoch(size, seed=derive(seed, "posterior"), number=number):
                masked = {name: torch.where(allowed[name], one, -torch.inf) for name, one in logits.items()}
                drawn = straight_through(
                    masked,
                    temperature=temperature,
                    generator=generator(seed, "posterior", step),
                    counts=one_shot.counts,
                )
                placed = seen.to(device)
                if placed.labels is None:
                    raise InputError(f"posterior: {data.name} has no labels to explain")
                outputs = logits_of(placed.call(one_shot.mix(drawn)))
                kind = losses.kind_of([placed.labels], outputs.shape[1])
                loss = losses.loss(outputs, placed.labels, kind).cpu()
                loss = loss + prior * kl_to_uniform(logits, allowed, temperature).to(loss)
                if not bool(torch.isfinite(loss)):
                    raise TrainingError(f"posterior: the loss of step {step} is no number; train the supernet longer")
                found = torch.autograd.grad(loss, list(logits.values()), allow_unused=True, materialize_grads=True)
                for vector, gradient in zip(logits.values(), found, strict=True):
                    vector.grad = gradient
                architect.step()
                observe(step, float(loss.detach()))
                step += 1
    return Posterior(logits, one_shot.counts, temperature, tuple(without), options)
