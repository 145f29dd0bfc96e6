"""The smallest change in Euclidean length, by an optimiser in a space without bounds."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from foresee.ensembles.attacks.base import attack
from foresee.ensembles.attacks.margins import margin
from foresee.ensembles.attacks.victim import Victim, spread
from foresee.errors import InputError

CARLINI = 'Carlini and Wagner, "Towards evaluating the robustness of neural networks", S&P 2017, Sections V and VI'
#: pixels of exactly 0 or 1 would lie at infinity
_WITHIN = 0.999999


@attack("cw", norm="l2", paper=CARLINI, cost="`searches` · `steps` gradients")
def cw(
    victim: Victim,
    *,
    confidence: float = 0.0,
    low: float = 1e-3,
    high: float = 10.0,
    first: float | None = None,
    searches: int = 3,
    steps: int = 50,
    rate: float = 0.01,
) -> Tensor:
    """Carlini and Wagner's L2 attack: minimise `‖x' - x‖² + c max(z_y - max_{i≠y} z_i + κ, 0)`.

    The variable is w in `x' = (tanh w + 1) / 2`, so x' stays in [0, 1]. Adam takes the steps. The constant c is searched
    for each sample: where c led to a change of class a smaller one is tried, else a larger one, always halving the
    interval from `low` to `high`; as long as `high` is infinite, c grows tenfold instead, as in the authors' code. The
    nearest image of another class that was met counts. It is not bounded.

    Args:
        victim: network, images, labels; only samples that are right.
        confidence: κ, by how much the other class has to win.
        low: the smallest c; with `high`, `searches`, `steps` and `rate` those of the thesis.
        high: the largest c, or infinity.
        first: the c to begin with; None: the middle, or `low` where there is no middle. The thesis does not say.
        searches: values of c that are tried.
        steps: of Adam, for each c.
        rate: Adam's, with β = (0.9, 0.999).

    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(2, 2, bias=False))
    >>> _ = network[1].weight.data.copy_(torch.tensor([[9.0, 0.0], [0.0, 9.0]]))
    >>> found = attacks["cw"](network, torch.tensor([[[[0.6, 0.5]]]]), torch.tensor([0]), searches=9)
    >>> round(0.1 / 2**0.5, 3), round(float(found.l2), 3)  # the distance to the other class, and what was found
    (0.071, 0.071)
    """
    if not (0 <= low < high and rate > 0 and confidence >= 0):
        raise InputError(f"attack cw: low {low}, high {high}, rate {rate}: expected 0 <= low < high and a rate above 0")
    clean, labels = victim.images, victim.labels
    centre = ((2 * clean - 1) * _WITHIN).atanh()
    around = (centre.tanh() + 1) / 2
    begun = first if first is not None else (low + high) / 2 if math.isfinite(high) else low
    c = torch.full((len(victim),), begun, dtype=torch.float64, device=clean.device)
    least, most = torch.full_like(c, low), torch.full_like(c, high)
    best, nearest = clean.clone(), torch.full_like(c, torch.inf, dtype=clean.dtype)
    for _ in range(searches):
        w = centre.clone()
        adam = torch.optim.Adam([w], lr=rate, betas=(0.9, 0.999))
        turned = torch.zeros_like(labels, dtype=torch.bool)
        weight = spread(c.to(clean.dtype), clean)
        for _ in range(steps):
            images = (w.tanh() + 1) / 2
            slope, _, logits = victim.gradient(images, lambda z: (margin(z, labels) + confidence).clamp(min=0))
            won = margin(logits, labels) <= -confidence if confidence > 0 else victim.fooled(logits)
            length = (images - clean).flatten(1).norm(dim=1)
            closer = won & (length < nearest)
            best = torch.where(spread(closer, best), images, best)
            nearest = torch.where(closer, length, nearest)
            turned |= won
            w.grad = (2 * (images - around) + weight * slope) * (1 - w.tanh() ** 2) / 2
            adam.step()
        most, least = torch.where(turned, c, most), torch.where(turned, least, c)
        c = torch.where(most.isinf(), 10 * c, (least + most) / 2)
    return best
