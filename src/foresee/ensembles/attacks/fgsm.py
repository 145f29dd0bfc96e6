"""One step along the signs of the gradient."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from foresee.ensembles.attacks.base import attack
from foresee.ensembles.attacks.victim import Victim

EXPLAINING = 'Goodfellow, Shlens, Szegedy, "Explaining and harnessing adversarial examples", ICLR 2015, Section 4'


@attack("fgsm", norm="linf", paper=EXPLAINING, cost="1 gradient", spares=False)
def fgsm(victim: Victim, *, eps: float = 0.01) -> Tensor:
    """Fast gradient sign method: `x' = clip(x + ε sign ∇ₓ L(x, y))`, L the cross entropy.

    Every sample is changed, also one that the network gets wrong by itself.

    Args:
        victim: network, images, labels.
        eps: the largest change of a pixel; the thesis' 0.01.

    >>> import torch
    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(2, 2, bias=False))
    >>> _ = network[1].weight.data.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    >>> found = attacks["fgsm"](network, torch.tensor([[[[0.52, 0.5]]]]), torch.tensor([0]), eps=0.02)
    >>> found.images.flatten(), found.accuracy
    (tensor([0.5000, 0.5200]), 0.0)
    """
    slope, _, _ = victim.gradient(victim.images, lambda z: F.cross_entropy(z, victim.labels, reduction="none"))
    return victim.inside(victim.images + eps * slope.sign(), eps)
