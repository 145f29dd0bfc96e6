r"""The best-response posterior: updated while the supernet is trained (thesis, 5.5.2); NESBS is compared with it.

Before each step of the weights, the logits take one step of Adam down the cross-entropy of a validation batch, without the
divergence from a prior (Xie et al., 2019b; Dong and Yang, 2019b); then the architecture that the step trains is drawn from
them. Likely architectures are trained more often, so that they become likelier: the Matthew effect.

The logits and what Adam remembers of them are buffers of the one-shot network: they are kept with its checkpoint, and a
killed training goes on exactly.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor

from foresee.data import Data
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.posterior import BETAS, DECAY, Posterior
from foresee.errors import InputError
from foresee.probes.outputs import logits_of
from foresee.seeds import derive, generator
from foresee.spaces.one_shot import OneShot, straight_through
from foresee.supernets.frozen import frozen
from foresee.supernets.supernet import Supernet
from foresee.training import losses

#: the buffer: rows are logits, and the first and second moments of Adam
NAME = "best_response"
EPS = 1e-8


class BestResponse:
    """Says which architecture a step trains, and learns which are good: a `Sampler` of supernets with a memory.

    Args:
        supernet: fresh; it gets a buffer.
        data: validation data, with labels.
        settings: seed, batch and rate.
        without: options that cannot be chosen.
    """

    def __init__(
        self, supernet: Supernet, data: Data, settings: EnsembleSettings, without: Collection[str] = ()
    ) -> None:
        self.data, self.without = data, tuple(without)
        self.seed = derive(settings.seed, "best response")
        self._size, self._lr = min(settings.posterior_batch, data.epoch_samples), settings.posterior_lr
        network = supernet.one_shot
        count = sum(len(choice.options) for choice in network.choices)
        network.register_buffer(NAME, torch.zeros(3, count, device=supernet.device))

    @property
    def facts(self) -> dict[str, Any]:
        """Its name."""
        return {"sampler": "best_response", "architecture_data": self.data.fingerprint, "architecture_lr": self._lr}

    def __call__(self, one_shot: OneShot[Any], step: int) -> None:
        """Update the logits, draw by them, select what was drawn."""
        state: Tensor = one_shot.get_buffer(NAME)
        updated = self._updated(one_shot, state.cpu().double(), step)
        state.copy_(updated)
        drawn = self._drawn(one_shot, _split(one_shot, updated[0]), "train", step)
        one_shot.mix({name: vector.float() for name, vector in drawn.items()})

    def _updated(self, one_shot: OneShot[Any], state: Tensor, step: int) -> Tensor:
        """One step of Adam, in float64."""
        logits = {name: one.clone().requires_grad_() for name, one in _split(one_shot, state[0]).items()}
        batch = self.data.batch(self._size, seed=self.seed, index=step)
        with frozen(one_shot):
            placed = batch.to(next(one_shot.parameters()).device)
            if placed.labels is None:
                raise InputError(f"posterior: {self.data.name} has no labels to explain")
            drawn = self._drawn(one_shot, logits, "architecture", step)
            outputs = logits_of(placed.call(one_shot.mix({name: one.float() for name, one in drawn.items()})))
            loss = losses.loss(outputs, placed.labels, losses.kind_of([placed.labels], outputs.shape[1]))
            found = torch.autograd.grad(loss, list(logits.values()), allow_unused=True, materialize_grads=True)
        slope = torch.cat([one.detach().double().cpu() for one in found]) + DECAY * state[0]
        first = BETAS[0] * state[1] + (1 - BETAS[0]) * slope
        second = BETAS[1] * state[2] + (1 - BETAS[1]) * slope.square()
        mean, square = first / (1 - BETAS[0] ** (step + 1)), second / (1 - BETAS[1] ** (step + 1))
        return torch.stack([state[0] - self._lr * mean / (square.sqrt() + EPS), first, second])

    def _drawn(self, one_shot: OneShot[Any], logits: dict[str, Tensor], use: str, step: int) -> dict[str, Tensor]:
        allowed = posterior_of(one_shot, logits, self.without).allowed
        masked = {name: torch.where(allowed[name], one, -torch.inf) for name, one in logits.items()}
        return straight_through(masked, generator=generator(self.seed, use, step), counts=one_shot.counts)

    @staticmethod
    def read(supernet: Supernet, without: Collection[str] = ()) -> Posterior:
        """The posterior that a supernet was trained with."""
        state: Tensor = supernet.one_shot.get_buffer(NAME)
        return posterior_of(supernet.one_shot, _split(supernet.one_shot, state[0].cpu().double()), without)


def _split(one_shot: OneShot[Any], flat: Tensor) -> dict[str, Tensor]:
    sizes = [len(choice.options) for choice in one_shot.choices]
    return {choice.name: part for choice, part in zip(one_shot.choices, torch.split(flat, sizes), strict=True)}


def posterior_of(one_shot: OneShot[Any], logits: dict[str, Tensor], without: Collection[str] = ()) -> Posterior:
    """A posterior over the choices of a one-shot network."""
    options = {choice.name: choice.options for choice in one_shot.choices}
    return Posterior(logits, dict(one_shot.counts), 1.0, tuple(without), options)
