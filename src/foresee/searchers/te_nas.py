"""TE-NAS: a one-shot network is pruned by ranks of its kernel's condition number and of its number of linear regions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import torch

from foresee.batch import Batch
from foresee.checks import whole
from foresee.errors import UnsupportedError
from foresee.proxies.base import Score
from foresee.searchers.base import searchers
from foresee.searchers.problem import Problem
from foresee.searchers.supernet import Settling, Weights, no_score
from foresee.seeds import derive, generator
from foresee.spaces.one_shot import OneShot
from foresee.task import MOST, Task

#: by how a space's name begins, the fewest cells that hold all kinds of cells
SHALLOW: Mapping[str, Mapping[str, Any]] = {
    "nasbench201": {"cells": 1},
    "nasbench1shot1": {"cells": 3},
    "darts": {"layers": 3},
}
#: condition number and number of regions; None where there is none
Look = tuple[float | None, float | None]
#: side of the images that linear regions are counted on
CROP = 3
#: changes that are equal to so many digits share a rank
DIGITS = 3


@searchers.register("te_nas")
class TENAS(Settling):
    """Prune a one-shot network at initialisation, one option of every edge in each round (Chen et al. 2021, Algorithm 1).

    The options of an edge that are left weigh equally. For each of them the network is looked at without it: the condition
    number of its tangent kernel (a small one trains easily) and the number of linear regions of a very thin network (many
    express much). All options of a round are ranked by both changes relative to the network before the round: by how much
    the condition number falls, most first, and by how little the number of regions falls. Equal changes (to 3 digits) share a
    rank. Every edge loses the option of the least sum of ranks, whose removal hurts least. The rounds end when one is left.

    Where nodes read fewer inputs than they could (DARTS, NAS-Bench-1Shot1), a last round ranks these in the same way, and
    of each node the inputs stay whose removal hurts most. `none` is not an option in DARTS.

    Weights are drawn anew in every round and repeat, the same for all options of a round: normal with variance 2 / fan_in
    (the released code takes fan_out for the kernel). Regions are counted on crops of 3 x 3 of the images' first channel. An
    option without which the condition number cannot be found (a singular kernel) is not removed before others.

    TE-NAS' own kernel, of the summed logits, is for networks that end in a ReLU, as those of nasbench201 do. Others end in a
    batch norm: there logits summed over a batch do not depend on the weights, so that kernel is singular by construction,
    and the one of the true class (`ntk_cond:hnas`) is taken.

    Args:
        condition: by which proxy the kernel is judged, less is better; empty: `ntk_cond:tenas` or `ntk_cond:hnas`, as above.
        regions: by which the regions are counted, more is better.
        repeats: draws of weights and data that are averaged.
        batch: samples of the kernel.
        samples: crops that regions are counted on.
        channels: width of the kernel's network; the other has 1.
        cells: cells of both, where the space counts them so; None: as few as possible.
        layers: the same, where the space calls them so (darts).
    """

    name = "te_nas"
    summary = "prunes a one-shot network by ranks of kernel condition number and linear regions"
    source = "Chen et al. 2021 (TE-NAS), Algorithm 1"
    cost = "(options + ... + 2) x edges kernels of a small network, each a backward run per sample"
    step_name = "edges"
    published: ClassVar[Mapping[str, str]] = {
        "condition": "of the summed logits, as ntk_cond:tenas",
        "regions": "linear_regions",
        "repeats": "3",
        "batch": "72 in nasbench201, 14 to 24 in darts",
        "samples": "3 x 1000",
        "channels": "3 in nasbench201",
        "cells": "1 in nasbench201",
    }

    def __init__(
        self,
        problem: Problem,
        *,
        condition: str = "",
        regions: str = "linear_regions",
        repeats: int = 1,
        batch: int = 16,
        samples: int = 1000,
        channels: int = 3,
        cells: int | None = None,
        layers: int | None = None,
    ) -> None:
        for key, value, least in (("repeats", repeats, 1), ("batch", batch, 2), ("samples", samples, 2)):
            whole(f"te_nas.{key} =", value, least, most=MOST)
        if len(problem.task.inputs) != 3 or min(problem.task.inputs[1:]) < CROP:
            raise UnsupportedError(f"searcher te_nas looks at images of {CROP} x {CROP} pixels and more")
        depth = next((least for begin, least in SHALLOW.items() if problem.space.name.startswith(begin)), {})
        said = {key: value for key, value in (("cells", cells), ("layers", layers)) if value is not None}
        super().__init__(problem, channels=channels, **{**depth, **said})
        self.thin = self.one_shot(Task((1, CROP, CROP), problem.task.outputs), channels=1, **{**depth, **said})
        kernel = condition or ("ntk_cond:tenas" if self.space.name == "nasbench201" else "ntk_cond:hnas")
        self.condition, self.regions = (problem.scorer.proxy(name).full_name for name in (kernel, regions))
        self.repeats, self.batch, self.samples = repeats, batch, samples
        self._left = {one.name: list(range(len(one.options))) for one in self.plan.decisions}
        self._before: Look = (None, None)
        self._without: dict[tuple[str, int], Look] = {}
        # the round and the edge of every step: all edges in every round, those that have no option to lose left out
        operations, most = self.plan.operations, max(len(one.options) for one in self.plan.operations)
        rounds = [(number, one) for number in range(1, most) for one in operations if len(one.options) > number]
        self._steps = [*rounds, *((most, one) for one in self.plan.inputs)]

    # -- steps --------------------------------------------------------------------------------------------------------
    def steps_before(self, candidate: int) -> int:
        """Every edge in every round."""
        return len(self._steps)

    def step(self, number: int) -> Mapping[str, Any]:
        """Look at the network without each option of an edge; at the first edge of a round also with all of them."""
        (at, edge), weights = self._steps[number], self._weights()
        before = self._look(weights, at, needed=True) if self._first(number) else None
        without = {edge.options[one]: self._look(edge.without(weights, one), at) for one in self._left[edge.name]}
        return {"round": at, "edge": edge.name, "before": before, "without": without}

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Remember what was seen; at the last edge of a round each of its edges loses an option."""
        at, edge = self._steps[number]
        if outcome["before"] is not None:
            self._before, self._without = tuple(outcome["before"]), {}
        self._without |= {(edge.name, edge.options.index(one)): tuple(seen) for one, seen in outcome["without"].items()}
        if number + 1 < len(self._steps) and not self._first(number + 1):
            return
        sums = rank_sums(self._before, self._without)
        for one in (edge for when, edge in self._steps if when == at):
            left = self._left[one.name]
            lost = len(left) - one.keep if one in self.plan.inputs else 1
            self._left[one.name] = sorted(sorted(left, key=lambda option: sums[one.name, option])[lost:])

    def _first(self, number: int) -> bool:
        return number == 0 or self._steps[number][0] != self._steps[number - 1][0]

    # -- looking ------------------------------------------------------------------------------------------------------
    def _weights(self) -> Weights:
        """Equal weights for the operations that are left, 1 for every input."""
        weights = self.plan.opened(self.network.uniform())
        for one in self.plan.operations:
            left = self._left[one.name]
            weights = one.settled(weights, left)
            weights[one.name] = weights[one.name] / len(left)
        return weights

    def _look(self, weights: Weights, at: int, *, needed: bool = False) -> Look:
        """Condition number and regions of the network under these weights; None where there is none."""
        self.network.mix(weights)
        self.thin.mix(weights)
        kernels, regions = list[Score](), list[Score]()
        for repeat in range(self.repeats):
            seed = derive(self.problem.seed, "round", at, repeat)
            (images,), (many,) = self.problem.batches(1, self.batch, seed), self.problem.batches(1, self.samples, seed)
            kernels += self._score(self.network, self.condition, seed, images)
            regions += self._score(self.thin, self.regions, seed, crops(many, generator(seed, "crops")))
        if needed:  # all changes are relative to this look
            for scores in (kernels, regions):
                if not any(one.ok for one in scores):
                    raise no_score(self, scores[0])
        return _mean(kernels), _mean(regions)

    def _score(self, network: OneShot[Any], proxy: str, seed: int, batch: Batch) -> Iterable[Score]:
        return self.problem.scores_of(network, [proxy], seed, batches=[batch], initialise="he").values()

    @property
    def found(self) -> Sequence[Any]:
        """The one architecture that is left."""
        weights = self.plan.opened(self.network.uniform())
        for one in self.plan.decisions:
            weights = one.settled(weights, self._left[one.name])
        return [self.network.derive(weights)]

    def state(self) -> dict[str, Any]:
        """As the base, with the options that are left."""
        return {**super().state(), "left": self._left}


def crops(batch: Batch, draws: torch.Generator) -> Batch:
    """A crop of the first channel of each image, at a place that is drawn for it."""
    images = batch.parts[0][:, :1]
    rows, columns = (torch.randint(size - CROP + 1, (len(images),), generator=draws) for size in images.shape[2:])
    pairs = zip(images, rows.tolist(), columns.tolist(), strict=True)
    return Batch(torch.stack([image[:, row : row + CROP, column : column + CROP] for image, row, column in pairs]))


def rank_sums(before: Look, without: Mapping[Any, Look]) -> dict[Any, int]:
    """For each option the sum of its ranks by both changes, the least where removal hurts least.

    >>> rank_sums((10.0, 8.0), {"a": (5.0, 8.0), "b": (12.0, 7.0), "c": (5.0, 4.0)})
    {'a': 0, 'b': 2, 'c': 2}
    """
    kernels = _ranks({option: _growth(before[0], seen[0], math.inf) for option, seen in without.items()})
    regions = _ranks({option: -_growth(before[1], seen[1], -math.inf) for option, seen in without.items()})
    return {option: kernels[option] + regions[option] for option in without}


def _growth(before: float | None, after: float | None, worst: float) -> float:
    """By which share it grew; what cannot be found is the worst."""
    return round(after / before - 1.0, DIGITS) if before and after is not None else worst


def _ranks(values: Mapping[Any, float]) -> dict[Any, int]:
    """The place of each value among the different values, the least first."""
    places = {value: place for place, value in enumerate(sorted(set(values.values())))}
    return {option: places[value] for option, value in values.items()}


def _mean(scores: Sequence[Score]) -> float | None:
    values = [one.value for one in scores if one.value is not None]
    return statistics.fmean(values) if values else None
