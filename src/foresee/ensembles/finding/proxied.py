r"""A posterior without any training: from a proxy's scores of networks at initialisation, instead of a supernet's losses.

Ours, not the thesis'. Some architectures are drawn uniformly and scored; the scores are replaced by normal quantiles z of
their ranks, so that no proxy's scale matters. With `z(A) = sum of what its options add` (ridge regression), the
distribution that maximises

    beta E_{A ~ p} [ z(A) ] - KL[ p || uniform ]

is exactly that whose logits are beta times what each option adds: Eq. 5.4 with a proxy in the place of the likelihood. Beta
is the setting `sharpness`: where an additive model explains the scores, draws lie about beta standard deviations above the
mean.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from foresee.data import Data
from foresee.ensembles.finding.best_response import posterior_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.posterior import Posterior
from foresee.errors import InputError
from foresee.proxies.base import get as get_proxy
from foresee.scoring.scorer import Job, Scorer
from foresee.scoring.settings import ScoringSettings
from foresee.seeds import derive, stream
from foresee.spaces.one_shot import OneShot
from foresee.statistics import ranks_of

#: weights of the squares of what options add, beside the mean square of what is not explained: the best of these is taken
RIDGES = tuple(10.0**power for power in range(-4, 3))


class Proxied:
    """Scores by the proxy that the settings name in place of a posterior, each architecture once.

    Args:
        settings: `posterior` (the proxy), how many are drawn, how sharp, seed, device.
        data: what the proxy looks at.
    """

    def __init__(self, settings: EnsembleSettings, data: Data) -> None:
        self.settings, self.data = settings, data
        self._known: dict[str, float] = {}

    @cached_property
    def _scorer(self) -> Scorer:
        said = self.settings
        seed = derive(said.seed, "proxy") % 2**31
        wanted, there = get_proxy(said.posterior).needs.batch, self.data.epoch_samples
        few = there if there < wanted else None  # of data that has no whole batch, all of it
        how = ScoringSettings(proxies=(said.posterior,), seed=seed, device=said.device, batch_size=few)
        made = Scorer(said.found_space, how, data=self.data, formulas=True)
        made.check()
        return made

    @property
    def scored(self) -> int:
        """How many architectures were looked at."""
        return len(self._known)

    @property
    def known(self) -> dict[str, float | None]:
        """Merits by text, None where there is none: plain values."""
        return {text: one if math.isfinite(one) else None for text, one in self._known.items()}

    def restore(self, known: Mapping[str, float | None]) -> None:
        """Take in what was scored before."""
        self._known = {text: -math.inf if one is None else one for text, one in known.items()} | self._known

    def merit(self, architecture: Any) -> float:
        """Of one architecture, more is better; minus infinity where it has no score."""
        text = str(architecture)
        if text not in self._known:
            name = next(iter(self._scorer.proxies))
            found = self._scorer(Job((text,), (name,), self._scorer.settings.seed))[0]
            self._known[text] = found.scores[0].merit if found.scores else -math.inf
        return self._known[text]

    def loss(self, architectures: Collection[Any]) -> float:
        """What stands in for the validation loss of an ensemble: minus the mean of its members' merits."""
        worst = min((one for one in self._known.values() if math.isfinite(one)), default=0.0)
        found = [self.merit(one) for one in architectures]
        return -sum(one if math.isfinite(one) else worst for one in found) / len(found)

    def posterior(self, one_shot: OneShot[Any], without: Collection[str] = ()) -> Posterior:
        """The posterior over the choices of a one-shot network, which need not be trained."""
        space, said = self.settings.found_space, self.settings
        drawn = [space.sample(stream(said.seed, "proxied", number)) for number in range(said.proxy_samples)]
        merits = torch.tensor([self.merit(one) for one in drawn], dtype=torch.float64)
        if int(merits.isfinite().sum()) < 2:
            raise InputError(
                f"ensemble: {said.posterior} has no score for the networks of {space.name}; name another proxy"
            )
        paths = [one_shot.path(one) for one in drawn]
        sizes = [len(choice.options) for choice in one_shot.choices]
        rows = torch.stack([torch.cat([path[choice.name] for choice in one_shot.choices]) for path in paths])
        added = torch.split(said.sharpness * adds(rows.double(), normal_scores(merits)), sizes)
        logits = {choice.name: part for choice, part in zip(one_shot.choices, added, strict=True)}
        return posterior_of(one_shot, logits, without)


def normal_scores(merits: Tensor) -> Tensor:
    """Quantiles of a normal distribution in the order of the merits, equal ones alike; what has none comes last.

    >>> [round(float(one), 2) for one in normal_scores(torch.tensor([3.0, -torch.inf, 5.0]).double())]
    [0.0, -0.97, 0.97]
    """
    ranks = torch.as_tensor(ranks_of(merits.numpy()))
    found: Tensor = torch.special.ndtri((ranks - 0.5) / len(merits))
    return found


def adds(rows: Tensor, values: Tensor) -> Tensor:
    """What each column adds to the values: ridge regression of (n,) on (n, columns), centred.

    The ridge is that of a few which foretells values best that were left out one by one: of many columns and few rows, or of
    scores that are no sum, little is believed.

    >>> rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]).double()
    >>> first, second = adds(rows, torch.tensor([1.0, -1.0, 1.0, -1.0]).double()).tolist()
    >>> round(first - second, 1)
    2.0
    """
    left, sizes, right = torch.linalg.svd(rows - rows.mean(0), full_matrices=False)
    wanted = values - values.mean()
    best: tuple[float, Tensor] | None = None
    for ridge in RIDGES:
        kept = sizes.square() / (sizes.square() + ridge * len(rows))
        seen = (left.square() * kept).sum(1) + 1 / len(rows)  # how much each value foretells itself, the mean among it
        missed = ((wanted - left @ (kept * (left.T @ wanted))) / (1 - seen).clamp(min=1e-6)).square().mean()
        if best is None or float(missed) < best[0]:
            shrunk = sizes / (sizes.square() + ridge * len(rows))
            best = float(missed), right.T @ (shrunk * (left.T @ wanted))
    assert best is not None
    return best[1]
