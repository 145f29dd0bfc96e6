"""Many steps along the signs of the gradient, each back into the ball."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from foresee.ensembles.attacks.base import attack
from foresee.ensembles.attacks.victim import Victim

MADRY = 'Madry et al., "Towards deep learning models resistant to adversarial attacks", ICLR 2018, Section 2.1'


@attack("pgd", norm="linf", paper=MADRY, cost="`steps` gradients", spares=False)
def pgd(victim: Victim, *, eps: float = 0.01, step: float = 0.008, steps: int = 40, random: bool = False) -> Tensor:
    """Projected gradient descent: `x ← Π(x + α sign ∇ₓ L(x, y))`, L the cross entropy.

    Π leads back into the ball of radius ε and into [0, 1]. The last iterate counts. Every sample is changed, also one
    that the network gets wrong by itself.

    Args:
        victim: network, images, labels.
        eps: the largest change of a pixel. With `step` and `steps` those of the thesis; its step of nearly ε makes it flip
            between the corners of the ball.
        step: α.
        steps: how many.
        random: whether to begin at a random place in the ball, as Madry et al. do, instead of the image.

    >>> import torch
    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    >>> found = attacks["pgd"](network, torch.rand(5, 1, 2, 2), torch.tensor([0, 1, 2, 0, 1]), steps=3, random=True)
    >>> bool((found.linf <= 0.01 + 1e-6).all()), found.gradients.tolist()
    (True, [3, 3, 3, 3, 3])
    """
    images = victim.images
    if random:
        noise = 2 * victim.uniform(tuple(images.shape[1:]), "pgd") - 1
        images = victim.inside(images + eps * noise, eps)
    for _ in range(steps):
        slope, _, _ = victim.gradient(images, lambda z: F.cross_entropy(z, victim.labels, reduction="none"))
        images = victim.inside(images + step * slope.sign(), eps)
    return images
