"""Four attacks in a row, each on what withstood those before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from foresee.ensembles.attacks.apgd import CROCE, apgd_ce, apgd_t
from foresee.ensembles.attacks.base import attack
from foresee.ensembles.attacks.fab import fab_t
from foresee.ensembles.attacks.square import square
from foresee.ensembles.attacks.victim import Victim
from foresee.errors import UnknownNameError, UnsupportedError
from foresee.registry import tidy

#: the standard order
PARTS: dict[str, Callable[..., Tensor]] = {"apgd_ce": apgd_ce, "apgd_t": apgd_t, "fab_t": fab_t, "square": square}


@attack(
    "autoattack",
    norm="linf",
    paper=f"{CROCE}, Section 6",
    cost="2 · `targets` · `steps` gradients, `queries`",
)
def autoattack(
    victim: Victim,
    *,
    eps: float = 0.01,
    parts: str | Sequence[str] = tuple(PARTS),
    steps: int = 100,
    targets: int = 9,
    queries: int = 5000,
) -> Tensor:
    """AutoAttack in its standard version: APGD on the cross entropy, APGD with targets, FAB with targets, Square.

    Each part runs on the samples that are still right, so a sample is robust only if no part breaks it; `by` says which did.
    Images that withstand all are handed back as they were.

    Args:
        victim: network, images (n, channels, height, width), labels; only samples that are right.
        eps: the largest change of a pixel: the thesis' 0.01 as for the other attacks (it does not say; AutoAttack has no
            usual value).
        parts: which, in which order; one text with commas will do.
        steps: of APGD and of FAB.
        targets: of APGD and of FAB, at most all other classes.
        queries: of Square.

    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> _ = torch.manual_seed(0)
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 4))
    >>> images, labels = torch.rand(8, 1, 2, 2), torch.arange(8) % 4
    >>> found = attacks["autoattack"](network, images, labels, eps=0.3, steps=10, queries=20)
    >>> found.accuracy <= attacks["apgd_ce"](network, images, labels, eps=0.3, steps=10).accuracy
    True
    """
    order = [tidy(name) for name in (parts.split(",") if isinstance(parts, str) else parts)]
    for name in order:
        if name not in PARTS:
            raise UnknownNameError("part of autoattack", name, PARTS)
    settings: Mapping[str, Mapping[str, int]] = {
        "apgd_ce": {"steps": steps},
        "apgd_t": {"steps": steps, "targets": targets},
        "fab_t": {"steps": steps, "targets": targets},
        "square": {"queries": queries},
    }
    found, right = victim.images.clone(), torch.arange(len(victim), device=victim.images.device)
    for name in order:
        part = victim.part(right)
        try:
            images = PARTS[name](part, eps=eps, **settings[name])
        except UnsupportedError as error:
            others = ",".join(one for one in order if one != name)
            raise UnsupportedError(f"{error}; without it: autoattack with parts={others}") from error
        turned = part.fooled(part.logits(images))
        found[right[turned]] = images[turned]
        for row in part.rows[turned.cpu()].tolist():
            victim.ledger.by[row] = name
        right = right[~turned]
        if not len(right):
            break
    return found
