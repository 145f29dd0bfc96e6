"""All that decides which ensemble is found and how its members are trained; where it is kept is no part of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from foresee.ensembles.ensemble import AVERAGES
from foresee.ensembles.posterior import BATCH, EPOCHS, LR
from foresee.errors import InputError, UnknownNameError, shown
from foresee.references import is_code
from foresee.registry import tidy
from foresee.settings import Kind, Settings, name, needed, setting, sizes, table, whole
from foresee.spaces.base import Space
from foresee.spaces.find import get
from foresee.supernets.recipes import usual_recipe
from foresee.task import MOST
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as recipe_of

#: how delta is chosen where it is not said
DELTAS_BY = ("grid", "bayes")
#: between which numbers (thesis, 5.3.4)
LOW, HIGH = -2.0, 1.0
#: where the posterior comes from, beside the name of a proxy
FITTED, BEST_RESPONSE = "fitted", "best_response"
#: samplers that draw from a posterior: behind their names may stand the proxy that it comes from
FROM_POSTERIOR = ("mc", "svgd_rd")
#: steps that the thesis fits a posterior in: 20 epochs of 15,000 samples, 128 at a time; and the largest rate for fewer
STEPS, FASTEST = 2340, 0.1
#: sizes that the networks of some spaces have, said for the supernet and for the members at once
SIZES = ("channels", "layers", "cells")


def _number(words: str, least: float = -math.inf, most: float = math.inf, *, open_: bool = False) -> Kind:
    def accepts(value: Any) -> bool:
        plain = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return plain and least <= value <= most and not (open_ and value in (least, most))

    return Kind(words, accepts)


@dataclass(frozen=True)
class EnsembleSettings(Settings):
    """What was asked.

    Args:
        space: registered name of the space that members come from.
        space_settings: of the members' networks.
        size: members of the ensemble.
        sampler: how they are chosen: `foresee.ensembles.finding.samplers` names them; `deep:DARTS_V2` says of which cell,
            `mc:naswot` is short for `mc` with the posterior of that proxy.
        seed: decides everything that is random.
        device: where supernet and members are trained.
        iterations: T, how many ensembles are drawn and judged by inherited weights (Algorithm 5.1).
        delta: of SVGD-RD, how much members are to differ; None: the T draws look at T values between -2 and 1.
        delta_by: which values these are: `grid` (evenly spaced) or `bayes` (Bayesian optimisation).
        temperature: tau of the posterior (Eq. 5.6).
        posterior: `fitted` after the supernet was trained (Eq. 5.4), `best_response` (updated while it is trained), or a
            proxy's name: training-free, no supernet is trained and ensembles are judged by the proxy too.
        posterior_epochs: of fitting it.
        posterior_batch: samples of a step.
        posterior_lr: rate of Adam; None: the thesis' 0.01, and where there are fewer steps than its 2,340, as much more as
            lets the logits go as far, at most 0.1.
        prior: weight of the divergence from uniform beside the mean cross-entropy; None: 1 / samples, the lower bound's own.
        proxy_samples: architectures that a posterior from a proxy is fitted to.
        sharpness: how many standard deviations of the proxy a draw of such a posterior is above the mean.
        channels: width of all networks, supernet and members; None: as the space and the recipe say.
        layers: depth of all networks, where the space has `layers` (DARTS).
        cells: depth of all networks, where the space has `cells` (NAS-Bench-201).
        supernet: other options of the one-shot network (`partial`, another `channels`).
        supernet_recipe: how it is trained; None: as the space's paper says.
        supernet_epochs: passes over the data; None: the recipe's.
        supernet_batch: samples of a step; None: the recipe's.
        recipe: how members are trained, all rivals' alike.
        epochs: of each member; None: the recipe's.
        batch: samples of a step; None: the recipe's.
        recipe_values: other values of the recipe.
        pool: networks that NES-RS and NES-RE train; None: as many as can be trained in the time of a supernet and of `size`
            members.
        population: of NES-RE; None: half of the pool.
        droppath: probability of MC DropPath.
        average: what is averaged: `probabilities` or `outputs`.
        inputs: shape that images are fitted to; None: the data's own.
        validation: share of the training data that is kept for the posterior, for selecting and for judging epochs.
        test: share of all data that is kept for the test, where the data has no such split.

    >>> EnsembleSettings("nasbench201", sampler="svgd-rd").sampler
    'svgd_rd'
    >>> EnsembleSettings("nasbench201", sampler="mc:naswot").posterior
    'naswot'
    >>> EnsembleSettings.from_json(EnsembleSettings("darts", size=2, delta=0.5).to_json()).delta
    0.5
    """

    space: str = needed(name())
    space_settings: Mapping[str, Any] = setting({}, table())
    size: int = setting(3, whole(1, 1000))
    sampler: str = setting("svgd_rd", name())
    seed: int = setting(0, whole(-(2**62), 2**62))
    device: str = setting("cpu", name("a device such as cpu or cuda"))
    iterations: int = setting(5, whole(1, MOST))
    delta: float | None = setting(None, _number("a number"))
    delta_by: str = setting("grid", name("grid or bayes"))
    temperature: float = setting(1.0, _number("a number above 0", 0.0, open_=True))
    posterior: str = setting(FITTED, name("fitted, best_response, or a proxy's name"))
    posterior_epochs: int = setting(EPOCHS, whole(1, MOST))
    posterior_batch: int = setting(BATCH, whole(1, MOST))
    posterior_lr: float | None = setting(None, _number("a number above 0", 0.0, open_=True))
    prior: float | None = setting(None, _number("a number from 0", 0.0))
    proxy_samples: int = setting(200, whole(2, MOST))
    sharpness: float = setting(2.0, _number("a number from 0", 0.0))
    channels: int | None = setting(None, whole(1, MOST))
    layers: int | None = setting(None, whole(1, MOST))
    cells: int | None = setting(None, whole(1, MOST))
    supernet: Mapping[str, Any] = setting({}, table())
    supernet_recipe: str | None = setting(None, name("a recipe's name or file"))
    supernet_epochs: int | None = setting(None, whole(1, MOST))
    supernet_batch: int | None = setting(None, whole(1, MOST))
    recipe: str = setting("fast", name("a recipe's name or file"))
    epochs: int | None = setting(None, whole(1, MOST))
    batch: int | None = setting(None, whole(1, MOST))
    recipe_values: Mapping[str, Any] = setting({}, table())
    pool: int | None = setting(None, whole(1, MOST))
    population: int | None = setting(None, whole(1, MOST))
    droppath: float = setting(0.01, _number("a probability below 1", 0.0, 1.0))
    average: str = setting("probabilities", name())
    inputs: tuple[int, ...] | None = setting(None, sizes())
    validation: float = setting(0.3, _number("a share between 0 and 1", 0.0, 1.0, open_=True))
    test: float = setting(0.2, _number("a share between 0 and 1", 0.0, 1.0, open_=True))

    def __post_init__(self) -> None:
        for key, kind in self.kinds().items():
            value = getattr(self, key)
            if value is not None and not kind.accepts(value):
                raise InputError(f"ensemble: {key} = {shown(value)}: expected {kind.words}")
        super().__post_init__()
        head, colon, cell = self.sampler.partition(":")
        object.__setattr__(self, "sampler", tidy(head) + colon + cell)
        object.__setattr__(self, "posterior", tidy(self.posterior))
        if colon and tidy(head) in FROM_POSTERIOR:
            if self.posterior not in (FITTED, tidy(cell)):
                raise InputError(f"ensemble: sampler {self.sampler}, and posterior {self.posterior}; say one of them")
            object.__setattr__(self, "sampler", tidy(head))
            object.__setattr__(self, "posterior", tidy(cell))
        for key, known in (("delta_by", DELTAS_BY), ("average", AVERAGES)):
            if getattr(self, key) not in known:
                raise UnknownNameError(key, getattr(self, key), known)
        if self.pool is not None and self.pool < self.size:
            raise InputError(f"ensemble: a pool of {self.pool} networks has no {self.size} members; say a larger pool")

    @property
    def training_free(self) -> bool:
        """Whether the posterior comes from a proxy, so that no supernet is trained."""
        return self.posterior not in (FITTED, BEST_RESPONSE)

    @cached_property
    def found_space(self) -> Space[Any]:
        """The space, with the members' sizes."""
        taken = get(self.space).defaults()
        said = {key: getattr(self, key) for key in SIZES if getattr(self, key) is not None}
        for key in said:
            if key not in taken:
                raise InputError(f"ensemble: networks of {self.space} have no {key}; leave it out")
        return get(self.space, **{**said, **self.space_settings})

    @property
    def own_space(self) -> str | None:
        """The place of its code, of a space that the person named so; None of a registered one. For files that name it."""
        return self.space if is_code(self.space) else None

    @cached_property
    def member_recipe(self) -> Recipe:
        """How members are trained; a size that is said here wins over the recipe's."""
        found = recipe_of(_path(self.recipe), **self.recipe_values)
        said = {key: value for key in ("epochs", "batch") if (value := getattr(self, key)) is not None}
        if any(getattr(self, key) is not None for key in SIZES):
            said |= {"channels": None, "layers": None}
        return found.but(**said)

    @cached_property
    def shared_recipe(self) -> Recipe:
        """How the supernet is trained."""
        found = recipe_of(_path(self.supernet_recipe or usual_recipe(self.found_space)))
        said = {"epochs": self.supernet_epochs, "batch": self.supernet_batch}
        return found.but(**{key: value for key, value in said.items() if value is not None})

    def posterior_rate(self, steps: int) -> float:
        """The rate of Adam for so many steps of a posterior.

        >>> asked = EnsembleSettings("darts")
        >>> asked.posterior_rate(5000), round(asked.posterior_rate(468), 3), asked.posterior_rate(3)
        (0.01, 0.05, 0.1)
        """
        if self.posterior_lr is not None:
            return self.posterior_lr
        return min(FASTEST, LR * max(1.0, STEPS / steps))

    @property
    def pool_size(self) -> int:
        """Networks of a pool: as said, or the members and as many more as the epochs of the supernet train."""
        if self.pool is not None:
            return self.pool
        return self.size + -(-self.shared_recipe.epochs // self.member_recipe.epochs)


def _path(recipe: str) -> str | Path:
    return Path(recipe) if recipe.endswith(".toml") else recipe
