"""The same attacks by adversarial-robustness-toolbox (ART), for comparison: `pip install 'foresee[attacks]'`.

Its Carlini-Wagner searches along lines instead of using Adam. Its AutoAttack is none of the published one and is not offered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from foresee.ensembles.attacks.base import attack
from foresee.ensembles.attacks.carlini_wagner import CARLINI
from foresee.ensembles.attacks.fgsm import EXPLAINING
from foresee.ensembles.attacks.pgd import MADRY
from foresee.ensembles.attacks.square import SQUARE
from foresee.ensembles.attacks.victim import Victim, answers
from foresee.extras import need


@attack("art:fgsm", norm="linf", paper=EXPLAINING, cost="1 gradient", spares=False)
def art_fgsm(victim: Victim, *, eps: float = 0.01) -> Tensor:
    """ART's fast gradient sign method; settings as in `fgsm`."""
    return by_art(victim, "FastGradientMethod", eps=eps)


@attack("art:pgd", norm="linf", paper=MADRY, cost="`steps` gradients", spares=False)
def art_pgd(victim: Victim, *, eps: float = 0.01, step: float = 0.008, steps: int = 40, random: bool = False) -> Tensor:
    """ART's projected gradient descent; settings as in `pgd`."""
    settings = {"eps": eps, "eps_step": step, "max_iter": steps, "num_random_init": int(random), "verbose": False}
    return by_art(victim, "ProjectedGradientDescentPyTorch", **settings)


@attack("art:cw", norm="l2", paper=CARLINI, cost="`searches` · `steps` gradients, and as many line searches")
def art_cw(
    victim: Victim,
    *,
    confidence: float = 0.0,
    first: float = 5.0,
    searches: int = 3,
    steps: int = 50,
    rate: float = 0.01,
) -> Tensor:
    """ART's Carlini-Wagner L2 attack; settings as in `cw`, but c grows without a bound."""
    settings = {"binary_search_steps": searches, "max_iter": steps, "learning_rate": rate, "verbose": False}
    return by_art(victim, "CarliniL2Method", confidence=confidence, initial_const=first, **settings)


@attack("art:square", norm="linf", paper=SQUARE, cost="`queries` queries at most", white_box=False)
def art_square(victim: Victim, *, eps: float = 0.01, queries: int = 5000, share: float = 0.8) -> Tensor:
    """ART's square attack; settings as in `square`. Its squares never cover the last row and column."""
    return by_art(victim, "SquareAttack", eps=eps, max_iter=queries, p_init=share, verbose=False)


class _Logits(nn.Module):
    """A network that gives its logits and nothing else."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        return answers(self.network, images)


def by_art(victim: Victim, name: str, **settings: Any) -> Tensor:
    """Images by an attack of ART's; what it spends is not counted, its random numbers are numpy's."""
    evasion, estimators = need("art.attacks.evasion"), need("art.estimators.classification")
    images = victim.images.cpu().numpy()
    network = _Logits(victim.network).eval()
    with torch.no_grad():
        classes = network(victim.images[:1]).shape[1]
    device = "gpu" if victim.images.is_cuda else "cpu"
    wrapped = estimators.PyTorchClassifier(
        *(network, nn.CrossEntropyLoss(), images.shape[1:], classes), clip_values=(0.0, 1.0), device_type=device
    )
    made = getattr(evasion, name)(wrapped, batch_size=len(images), **settings)
    with torch.enable_grad():
        found = made.generate(images, victim.labels.cpu().numpy())
    return torch.from_numpy(np.asarray(found, dtype=np.float32)).to(victim.images.device)
