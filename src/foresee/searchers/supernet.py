"""What is decided on a one-shot network: for searchers that take a network of all options apart, look by look.

A `Decision` keeps some of its options, mostly one. Removing an option sets its weight to zero and leaves the others as they
are. Two kinds of decisions come one after the other:

- *operations*: for every edge (every node, in NAS-Bench-1Shot1) which operation it keeps;
- *inputs*: where a node reads fewer than it could, which ones. Until then it reads all of them, each with weight 1.

Which choices there are, and which architecture the settled weights mean, the one-shot network says itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresee.errors import InfeasibleError, InputError, UnsupportedError
from foresee.proxies.base import Score
from foresee.searchers.base import Searcher
from foresee.searchers.gate import Proposal
from foresee.searchers.problem import Problem
from foresee.spaces.autoformer.space import AutoFormer
from foresee.spaces.base import Space
from foresee.spaces.darts.cells import KINDS, NODES
from foresee.spaces.darts.nasi import DARTSNASI
from foresee.spaces.darts.one_shot import DARTSOneShot
from foresee.spaces.mobile.space import Mobile
from foresee.spaces.nasbench1shot1.one_shot import ChoiceBlocks
from foresee.spaces.nasbench101.space import NASBench101
from foresee.spaces.nasrec.space import NASRec
from foresee.spaces.nats_size.space import NATSSize
from foresee.spaces.one_shot import Choice, OneShot
from foresee.task import Task

Weights = dict[str, Tensor]
#: by space, where its one-shot network has several forms: the one whose batch norms have neither scale nor running statistics
SEARCH_FORM: Mapping[str, Mapping[str, Any]] = {"nasbench201": {"variant": "reference"}}


@dataclass(frozen=True)
class Decision:
    """Which of some options stay.

    Args:
        name: what is decided.
        options: their names.
        places: for each option the choice and the place in its weights; None for all of them (an edge with its operation).
        keep: how many stay.

    >>> one = Decision("3.1", ("none", "skip"), (("3.1", 0), ("3.1", 1)))
    >>> weights = {"3.1": torch.tensor([0.4, 0.6])}
    >>> one.without(weights, 1)["3.1"].tolist() == [weights["3.1"][0].item(), 0.0], one.settled(weights, [1])["3.1"].tolist()
    (True, [0.0, 1.0])
    """

    name: str
    options: tuple[str, ...]
    places: tuple[tuple[str, int | None], ...]
    keep: int = 1

    def without(self, weights: Weights, option: int) -> Weights:
        """The weights with one option at zero and the others as they are."""
        return self._set(weights, option, 0.0)

    def settled(self, weights: Weights, kept: Collection[int]) -> Weights:
        """The weights when it is decided: 1 for what is kept, 0 for the rest."""
        for option, (_, place) in enumerate(self.places):
            if option not in kept:
                weights = self.without(weights, option)
            elif place is not None:  # an edge keeps the weights of its operation
                weights = self._set(weights, option, 1.0)
        return weights

    def _set(self, weights: Weights, option: int, value: float) -> Weights:
        choice, place = self.places[option]
        vector = weights[choice].clone()
        vector[slice(None) if place is None else place] = value
        return {**weights, choice: vector}


@dataclass(frozen=True)
class Plan:
    """All that is to be decided, in two stages; `inputs` in the order of the nodes, the output last."""

    operations: tuple[Decision, ...]
    inputs: tuple[Decision, ...] = ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Both stages."""
        return (*self.operations, *self.inputs)

    def opened(self, mixture: Mapping[str, Tensor]) -> Weights:
        """A mixture to begin with: as it is for the operations, 1 for every input."""
        read = {choice for one in self.inputs for choice, place in one.places if place is not None}
        return {
            name: torch.ones_like(vector) if name in read else vector.detach().clone()
            for name, vector in mixture.items()
        }


def plan_of(one_shot: OneShot[Any]) -> Plan:
    """What is decided on a one-shot network."""
    if isinstance(one_shot, DARTSOneShot):  # an architecture has no `none`: edges are left out in the second stage
        operations = (_pick(choice, first=1) for choice in one_shot.choices)
        nodes = [(kind, node) for kind in KINDS for node in NODES if node > 2]  # the first has its two edges anyway
        return Plan(tuple(operations), tuple(_edges(f"{kind}.{node}", node) for kind, node in nodes))
    if isinstance(one_shot, ChoiceBlocks):
        wiring = one_shot.wiring
        picks, reads = one_shot.choices[: wiring.nodes], one_shot.choices[wiring.nodes :]
        inputs = (
            _pick(choice, keep=wiring.reads[vertex - 1]) for choice, vertex in zip(reads, wiring.free, strict=True)
        )
        return Plan(tuple(map(_pick, picks)), tuple(inputs))
    return Plan(tuple(map(_pick, one_shot.choices)))


def _pick(choice: Choice, *, first: int = 0, keep: int = 1) -> Decision:
    places = tuple((choice.name, place) for place in range(first, len(choice.options)))
    return Decision(choice.name, choice.options[first:], places, keep)


def _edges(name: str, node: int) -> Decision:
    sources = tuple(map(str, range(node)))
    return Decision(name, sources, tuple((f"{name}.{source}", None) for source in sources), 2)


def why_not(space: type[Space[Any]]) -> str:
    """Why the options of a space cannot be taken apart, in words that follow its name; "" where they can."""
    if space.one_shot is Space.one_shot or issubclass(space, NASBench101):
        return "has no one-shot network"
    if issubclass(space, AutoFormer | Mobile | NASRec | NATSSize):
        return "chooses sizes or blocks that share their weights, not operations beside each other"
    if issubclass(space, DARTSNASI):
        return "keeps two operations and two inputs of a node, chosen apart (darts has a decision for each edge)"
    return ""


class Settling(Searcher):
    """Base of searchers that settle the decisions on a one-shot network and then propose what they settled on.

    A subclass does its steps and says in `found` which architectures came of them, the best first. They are proposed in that
    order. Where none of them meets the limits, one that does is looked for by mutations of them.

    Args:
        problem: as for every searcher.
        form: options of the one-shot network; None is as the space says.
    """

    evaluations = 1

    def __init__(self, problem: Problem, **form: Any) -> None:
        super().__init__(problem)
        self.network = self.one_shot(**form)
        self.plan = plan_of(self.network)
        self._looked_at = 0

    @classmethod
    def fits(cls, space: type[Space[Any]]) -> str:
        """Why a space cannot be searched so; "" where it can."""
        return why_not(space)

    def one_shot(self, task: Task | None = None, **form: Any) -> OneShot[Any]:
        """The one-shot network in its form for searches, with the options that are said; a wrong one is named."""
        said = {key: value for key, value in form.items() if value is not None}
        try:
            return self.problem.one_shot(task, **{**SEARCH_FORM.get(self.space.name, {}), **said})
        except TypeError as error:
            odd = str(error).partition("argument ")[2].strip("'") or str(error)
            raise InputError(
                f"searcher {self.name}: the one-shot network of {self.space.name} has no {odd}; leave it out"
            ) from error

    @property
    def found(self) -> Sequence[Any]:
        """The architectures that were settled on, the best first."""
        raise NotImplementedError

    def ask(self, count: int = 1) -> list[Proposal]:
        """The next ones that are new and meet the limits; of those that do not meet them a neighbour, where none does.

        Raises:
            InfeasibleError: there is none; the message names the nearest miss.
        """
        found, proposals = self.found, list[Proposal]()
        while len(proposals) < count and self._looked_at < len(found):
            proposal = self.gate.admit(found[self._looked_at])
            self._looked_at += 1
            if proposal is not None:
                proposals.append(proposal)
        if not self.gate.seen and self.gate.limits:
            near = self.gate.draw(lambda rng, attempt: (found[attempt % len(found)], None))
            proposals += [near] if near is not None else []
        if not self.gate.seen:
            raise InfeasibleError(f"searcher {self.name}: nothing was measured of {found[0]}, on which it settled")
        return proposals


def no_score(searcher: Searcher, score: Score) -> UnsupportedError:
    """What to say where a one-shot network, whatever is removed of it, cannot be scored."""
    return UnsupportedError(
        f"searcher {searcher.name}: proxy {score.proxy} has no score for the one-shot network of {searcher.space.name}: "
        f"{score.status} ({score.reason})"
    )
