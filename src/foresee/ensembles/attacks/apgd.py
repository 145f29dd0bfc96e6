"""Projected gradient steps that choose their own length: APGD on the cross entropy, and on a ratio of logits with targets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from foresee.ensembles.attacks.base import attack
from foresee.ensembles.attacks.margins import of_class
from foresee.ensembles.attacks.margins import targets as likeliest
from foresee.ensembles.attacks.victim import Victim, spread
from foresee.errors import UnsupportedError

CROCE = 'Croce and Hein, "Reliable evaluation of adversarial robustness with an ensemble of diverse attacks", ICML 2020'
#: weight of the new step against the last one, and the share of steps that have to help
MOMENTUM, HELPFUL = 0.75, 0.75
#: after these shares of all steps the first look at the step's length; how much sooner each next one; the soonest
FIRST, SOONER, SOONEST = 0.22, 0.03, 0.06


@attack("apgd_ce", norm="linf", paper=f"{CROCE}, Algorithm 1", cost="`steps` + 1 gradients")
def apgd_ce(victim: Victim, *, eps: float = 0.01, steps: int = 100) -> Tensor:
    """Auto-PGD on the cross entropy: see `ascend`.

    Args:
        victim: network, images, labels; only samples that are right.
        eps: the largest change of a pixel.
        steps: how many.

    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    >>> found = attacks["apgd_ce"](network, torch.rand(5, 1, 2, 2), torch.tensor([0, 1, 2, 0, 1]), eps=0.5, steps=10)
    >>> found.accuracy <= found.clean_accuracy
    True
    """
    loss = partial(F.cross_entropy, target=victim.labels, reduction="none")
    return ascend(victim, loss, eps, steps, "apgd_ce")[0]


@attack("apgd_t", norm="linf", paper=f"{CROCE}, Section 4.1", cost="`targets` · (`steps` + 1) gradients at most")
def apgd_t(victim: Victim, *, eps: float = 0.01, steps: int = 100, targets: int = 9) -> Tensor:
    """Auto-PGD on the targeted difference of logits ratio `-(z_y - z_t) / (z_(1) - (z_(3) + z_(4)) / 2)`, target by target.

    The targets t are the likeliest classes at the clean image, one after the other; a sample that is broken is left out
    of the next. z_(k) is the k-th largest logit: there have to be 4 classes.

    Args:
        victim: network, images, labels; only samples that are right.
        eps: the largest change of a pixel.
        steps: for each target.
        targets: how many, at most all other classes.

    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    >>> attacks["apgd_t"](network, torch.rand(9, 1, 2, 2), torch.arange(9) % 3)
    Traceback (most recent call last):
    foresee.errors.UnsupportedError: attack apgd_t: 3 classes, but its loss needs the 4 largest outputs
    """
    return each_target(
        victim,
        targets,
        lambda part, goals: ascend(part, lambda z: targeted_ratio(z, part.labels, goals), eps, steps, "apgd_t"),
    )


def ascend(
    victim: Victim, loss: Callable[[Tensor], Tensor], eps: float, steps: int, *use: str
) -> tuple[Tensor, Tensor]:
    """Algorithm 1 (APGD): images whose class is another one, the clean one where none was met; and which were turned.

        z = Π(x_k + η sign ∇f(x_k)),   x_{k+1} = Π(x_k + 0.75 (z - x_k) + 0.25 (x_k - x_{k-1}))

    η begins as 2ε. At checkpoints it is halved, and the walk goes on from the best point so far, for every sample whose loss
    rose in fewer than 75 % of the steps since the last one, or whose η was kept last time although the best loss has not
    changed since. The walk begins at random, at the ball's surface; `use` names the random numbers.
    """
    noise = 2 * victim.uniform(tuple(victim.images.shape[1:]), *use) - 1
    images = victim.inside(victim.images + eps * noise / spread(noise.flatten(1).abs().amax(1), noise), eps)
    slope, value, logits = victim.gradient(images, loss)
    turned = victim.fooled(logits)
    found = torch.where(spread(turned, images), images, victim.images)
    best, best_slope, best_value = images, slope, value
    length, last = torch.full_like(value, 2 * eps, dtype=images.dtype), images
    rises, halved, value_then = torch.zeros_like(value), torch.zeros_like(turned), value
    interval = since = max(int(FIRST * steps), 1)
    for step in range(steps):
        share = MOMENTUM if step else 1.0
        ahead = victim.inside(images + spread(length, images) * slope.sign(), eps)
        moved = victim.inside(images + share * (ahead - images) + (1 - share) * (images - last), eps)
        last, images, before = images, moved, value
        slope, value, logits = victim.gradient(images, loss)
        fooled = victim.fooled(logits)
        found, turned = torch.where(spread(fooled, images), images, found), turned | fooled
        better = value > best_value
        best, best_slope = (torch.where(spread(better, images), *one) for one in ((images, best), (slope, best_slope)))
        best_value = torch.where(better, value, best_value)
        rises += value > before
        since -= 1
        if since == 0:
            halved = (rises <= HELPFUL * interval) | (~halved & (value_then >= best_value))
            length = torch.where(halved, length / 2, length)
            images, slope = (torch.where(spread(halved, images), *one) for one in ((best, images), (best_slope, slope)))
            value_then, rises = best_value, torch.zeros_like(rises)
            interval = since = max(interval - max(int(SOONER * steps), 1), int(SOONEST * steps), 1)
    return found, turned


def each_target(victim: Victim, most: int, search: Callable[[Victim, Tensor], tuple[Tensor, Tensor]]) -> Tensor:
    """One target class after the other, the likeliest first, each for the samples that no other target has turned.

    `search(part, goals)` gives images and which of them are turned.
    """
    goals = likeliest(victim.logits(victim.images), victim.labels, most)
    found, open_ = victim.images.clone(), torch.arange(len(victim), device=victim.images.device)
    for place in range(goals.shape[1]):
        images, turned = search(victim.part(open_), goals[open_, place])
        found[open_[turned]] = images[turned]
        open_ = open_[~turned]
        if not len(open_):
            break
    return found


def targeted_ratio(logits: Tensor, labels: Tensor, goals: Tensor) -> Tensor:
    """`-(z_y - z_t) / (z_(1) - (z_(3) + z_(4)) / 2)`, (n,): how near the target is, whatever the scale of the outputs.

    >>> targeted_ratio(torch.tensor([[4.0, 2.0, 1.0, 0.0]]), torch.tensor([0]), torch.tensor([1]))
    tensor([-0.5714])
    """
    if logits.shape[1] < 4:
        raise UnsupportedError(f"attack apgd_t: {logits.shape[1]} classes, but its loss needs the 4 largest outputs")
    largest = logits.topk(4, dim=1).values
    scale = largest[:, 0] - (largest[:, 2] + largest[:, 3]) / 2
    return -(of_class(logits, labels) - of_class(logits, goals)) / (scale + 1e-12)
