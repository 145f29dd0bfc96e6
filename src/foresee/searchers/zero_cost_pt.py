"""Zero-Cost-PT: operations are chosen by what a proxy says of the one-shot network without them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch

from foresee.checks import whole
from foresee.errors import UnknownNameError
from foresee.proxies.base import Score
from foresee.searchers.base import searchers
from foresee.searchers.problem import Problem
from foresee.searchers.supernet import Decision, Settling, Weights, no_score
from foresee.seeds import derive, generator
from foresee.task import MOST

ORDERS = (
    *("random", "order", "reverse"),
    *("global_op_greedy", "global_op_once", "global_edge_greedy", "global_edge_once"),
)
#: mixture weights to begin with are the softmax of so many times standard normal draws
SPREAD = 1e-3


@searchers.register("zero_cost_pt")
class ZeroCostPT(Settling):
    """Operation scoring with any proxy (Xiang et al. 2023): perturb a one-shot network at initialisation, edge by edge.

    All operations of all edges are in one network, mixed by the softmax of 0.001 N(0, 1); it is never trained. An edge is
    decided by one new batch: for each operation its weight is set to 0 (the others stay as they are) and the perturbed
    network is scored. The operation whose removal gives the *worst* score stays, with weight 1. Then the next edge. An
    operation without a score is passed over.

    So `pool_size` candidates are made, with the same network weights and other mixtures and orders. Of each the
    discrete network is scored on `validation` batches, the same for all; the greatest sum is proposed first.

    Where nodes read fewer inputs than they could, that is decided after all operations, node by node, in the order of the
    nodes, the output last: of all inputs (weight 1 each) one at a time is left out, and those stay whose removal gives the
    worst scores. In DARTS two edges of each node stay, with their operations; `none` is not an option there. In
    NAS-Bench-1Shot1 as many inputs stay as the space says (the released code mixes up nodes and their visiting order here
    in two places; that is not repeated).

    Orders of the edges: `random` (drawn for every candidate), `order` (as the space lists them), `reverse`. The global ones
    score all operations of all undecided edges. `global_op_greedy` decides the edge with the worst score of all, then
    scores all again; `global_edge_greedy` the edge whose scores are worst on average. `global_op_once` and
    `global_edge_once` do so once, and decide the edges in that order.

    The released code scores in evaluation mode, where batch norms that keep no running statistics take those of the batch.
    Proxies here take those of the batch in any mode, so it is the same.

    Args:
        proxy: by what; the first of the run where it is empty.
        order: of the edges: random, order, reverse, global_op_greedy, global_op_once, global_edge_greedy, global_edge_once.
        pool_size: candidates that are made.
        validation: batches by which the best of them is chosen; 0: the first is the best.
        channels: width of the one-shot network; None: the space's.
        cells: its cells, where the space counts them so (a stage in nasbench201).
        layers: its cells, where the space calls them so (darts).
        variant: its form, where the space has several; None: `reference` in nasbench201.
    """

    name = "zero_cost_pt"
    summary = "operation scoring: keeps on each edge the operation that a proxy misses most"
    source = "Xiang et al. 2023 (Zero-Cost-PT); as in Dextr's DARTS search (Asthana et al. 2025, Section 4.2, Table 9)"
    cost = "pool_size x (scores of the one-shot network, one for each option, + validation scores of networks)"
    step_name = "decisions"
    published: ClassVar[Mapping[str, str]] = {
        "proxy": "naswot (Zero-Cost-PT); dextr, zico, meco (Dextr, Table 2)",
        "order": "random",
        "pool_size": "10",
        "validation": "100",
        "channels": "16 (Dextr, Table 9)",
        "cells": "5 in nasbench201, 9 in 1Shot1",
        "layers": "8 (Dextr, Table 9)",
        "variant": "batch norms without scale",
    }

    def __init__(
        self,
        problem: Problem,
        *,
        proxy: str = "",
        order: str = "random",
        pool_size: int = 10,
        validation: int = 100,
        channels: int | None = None,
        cells: int | None = None,
        layers: int | None = None,
        variant: str | None = None,
    ) -> None:
        whole("zero_cost_pt.pool_size =", pool_size, most=MOST)
        whole("zero_cost_pt.validation =", validation, 0, most=MOST)
        if order not in ORDERS:
            raise UnknownNameError("zero_cost_pt.order", str(order), ORDERS)
        chosen = problem.scorer.proxy(proxy or problem.scorer.settings.proxies[0])
        self.proxy, self._sign = chosen.full_name, 1.0 if chosen.direction == "higher" else -1.0
        super().__init__(problem, channels=channels, cells=cells, layers=layers, variant=variant)
        self.order, self.pool_size = order, pool_size
        self.validation = validation if pool_size > 1 else 0
        self._by_name = {one.name: one for one in self.plan.decisions}
        self._surveyed = order.endswith("_once")
        #: for each candidate: what was decided so far, in order, and its edges in the order of a survey
        self._kept: list[dict[str, list[int]]] = [{} for _ in range(pool_size)]
        self._orders: dict[int, list[str]] = {}
        self._sums: dict[str, list[float]] = {}

    # -- steps --------------------------------------------------------------------------------------------------------
    @property
    def _each(self) -> int:
        """Steps for one candidate."""
        return self._surveyed + len(self.plan.decisions)

    def steps_before(self, candidate: int) -> int:
        """All decisions for all of the pool, then the batches of the validation."""
        return self.pool_size * self._each + self.validation

    def step(self, number: int) -> Mapping[str, Any]:
        """One decision: the score without each option, and what is kept; or one batch of the validation."""
        candidate = number // self._each
        if candidate >= self.pool_size:
            return self._validate(derive(self.problem.seed, "validation", number - self.pool_size * self._each))
        seed, weights = derive(self.problem.seed, "decision", number), self._weights(candidate)
        if self._surveyed and candidate not in self._orders:
            surveyed = {one.name: self._scores(one, weights, seed) for one in self.plan.operations}
            return {"candidate": candidate, "order": sorted(surveyed, key=lambda name: self._rank(surveyed[name]))}
        found = {one.name: self._scores(one, weights, seed) for one in self._due(candidate)}
        name = min(found, key=lambda one: self._rank(found[one])) if len(found) > 1 else next(iter(found))
        decision, scores = self._by_name[name], found[name]
        values = {option: one.value for option, one in zip(decision.options, scores, strict=True)}
        kept = [decision.options[place] for place in most_missed(scores, decision.keep)]
        return {"candidate": candidate, "decision": name, "scores": values, "kept": kept}

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Settle a decision, remember an order, or add the scores of a batch."""
        if "order" in outcome:
            self._orders[outcome["candidate"]] = list(outcome["order"])
        elif "decision" in outcome:
            options = self._by_name[outcome["decision"]].options
            self._kept[outcome["candidate"]][outcome["decision"]] = [options.index(one) for one in outcome["kept"]]
        else:
            for text, value in outcome["scores"].items():
                if value is not None:
                    self._sums.setdefault(text, []).append(self._sign * value)

    # -- one candidate ------------------------------------------------------------------------------------------------
    def _weights(self, candidate: int) -> Weights:
        """The mixture of a candidate with all that was decided so far."""
        drawn = self.network.logits(SPREAD, generator(self.problem.seed, "mixture", candidate))
        weights = self.plan.opened({name: torch.softmax(vector, -1) for name, vector in drawn.items()})
        for name, kept in self._kept[candidate].items():
            weights = self._by_name[name].settled(weights, kept)
        return weights

    def _due(self, candidate: int) -> Sequence[Decision]:
        """What is scored for the next decision: one edge, or all undecided ones where the best of all is looked for."""
        kept = self._kept[candidate]
        operations = [one for one in self.plan.operations if one.name not in kept]
        if not operations:
            return [next(one for one in self.plan.inputs if one.name not in kept)]
        if self.order.endswith("_greedy"):
            return operations
        order = [one.name for one in self.plan.operations]
        if self.order == "random":
            self.problem.stream("order", candidate).shuffle(order)
        elif self.order == "reverse":
            order.reverse()
        order = self._orders.get(candidate, order)
        return [self._by_name[next(name for name in order if name not in kept)]]

    def _scores(self, decision: Decision, weights: Weights, seed: int) -> list[Score]:
        """The score of the network without each option."""
        found: list[Score] = []
        for option in range(len(decision.options)):
            self.network.mix(decision.without(weights, option))
            found += self.problem.scores_of(self.network, [self.proxy], seed).values()
        if not any(one.ok for one in found):
            raise no_score(self, found[0])
        return found

    def _rank(self, scores: Sequence[Score]) -> float:
        """How soon an edge is decided: by its worst score, or by their average."""
        merits = [one.merit for one in scores if one.ok]
        return statistics.fmean(merits) if "_edge_" in self.order else min(merits)

    # -- the pool -----------------------------------------------------------------------------------------------------
    @property
    def _pool(self) -> dict[str, Any]:
        """The candidates by their texts, in the order in which they were made."""
        made = [self.network.derive(self._weights(candidate)) for candidate in range(self.pool_size)]
        return {str(one): one for one in made}

    def _validate(self, seed: int) -> Mapping[str, Any]:
        """The score of each candidate's own network on one batch, by the weights it has in the one-shot network."""
        found = {
            text: self.problem.scores_of(self.network.inherit(one), [self.proxy], seed)[self.proxy]
            for text, one in self._pool.items()
        }
        if not any(one.ok for one in found.values()):
            raise no_score(self, next(iter(found.values())))
        return {"scores": {text: one.value for text, one in found.items()}}

    @property
    def found(self) -> Sequence[Any]:
        """The pool, the best by its mean over the batches first; one without any score comes last."""
        pool = self._pool
        means = {text: statistics.fmean(self._sums[text]) for text in pool if text in self._sums}
        return [pool[text] for text in sorted(pool, key=lambda text: -means.get(text, float("-inf")))]

    def state(self) -> dict[str, Any]:
        """As the base, with what was kept for every candidate and the sums of the validation."""
        return {**super().state(), "kept": self._kept, "sums": self._sums}


def most_missed(scores: Sequence[Score], keep: int) -> list[int]:
    """The options whose removal gives the worst scores, the worst first; those without a score come last.

    >>> most_missed([Score("", 3.0), Score("", None, "nan"), Score("", 1.0)], 2)
    [2, 0]
    """
    return sorted(range(len(scores)), key=lambda place: (not scores[place].ok, scores[place].merit))[:keep]
