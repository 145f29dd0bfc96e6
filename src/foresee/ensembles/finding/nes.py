"""NES (Zaidi et al., 2020): a pool of trained networks, and a greedy choice from it by validation likelihood.

The pool is as large as the training budget of a NESBS ensemble allows (its supernet's epochs and its members'), unless its
size is said.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from foresee.ensembles.finding.members import Member, numbered
from foresee.ensembles.finding.samplers import Chosen, Sampler, samplers
from foresee.ensembles.finding.workshop import Common
from foresee.ensembles.measures import nll
from foresee.ensembles.selecting import forward_selection
from foresee.runs.events import Event
from foresee.seeds import stream
from foresee.spaces.base import Space
from foresee.spaces.darts.space import DARTS
from foresee.spaces.find import get


def drawn(common: Common, count: int) -> list[Member]:
    """So many uniform draws from the space: the pool that NES-RS trains, and where NES-RE begins."""
    seed = common.settings.seed
    rows = [common.space.sample(stream(seed, "pool", number)) for number in range(count)]
    return numbered(map(common.candidate, rows))


def greedy(common: Common, pool: list[Member], size: int) -> tuple[list[int], float]:
    """The places of the chosen, and the loss of their ensemble on validation data; all of them are trained."""
    said, labels = common.members.pool(pool), common.labels
    places = forward_selection(said, labels, size)
    return places, float(nll(said[places].double().mean(0), labels))


class Pooled(Sampler):
    """Base of both: a pool is trained, then chosen from."""

    needs_pool = True

    def choose(self, common: Common) -> Chosen:
        """The greedy choice, of which all were trained."""
        pool = self.pool(common)
        places, loss = greedy(common, pool, self.settings.size)
        return Chosen(tuple(pool[place] for place in places), loss, (loss,), (len(pool),), tuple(pool))

    @abstractmethod
    def pool(self, common: Common) -> list[Member]:
        """All trained."""

    def trained(self, common: Common, members: list[Member]) -> list[Member]:
        """The members, each trained."""
        total = self.settings.pool_size
        for place, one in enumerate(members):
            common.members.train(one)
            common.tell(Event("pooled", place + 1, total, place, {"name": f"pool {place + 1} of {total}"}))
        return members


@samplers.register("nes_rs")
class RandomPool(Pooled):
    """NES-RS: the pool is drawn uniformly."""

    summary = "NES-RS: a pool of uniformly drawn networks is trained, members are chosen from it greedily"

    def pool(self, common: Common) -> list[Member]:
        """Uniform draws."""
        return self.trained(common, drawn(common, self.settings.pool_size))


@samplers.register("nes_rs:inherited")
class InheritedPool(Sampler):
    """NES-RS as Figure 5.3 has it: the pool is judged by inherited weights, as many networks as T ensembles have."""

    summary = (
        "NES-RS by inherited weights: a pool of uniform draws is looked at, members are chosen greedily and trained"
    )
    needs_supernet = True

    def choose(self, common: Common) -> Chosen:
        """The greedy choice among T times `size` draws."""
        said = self.settings
        estimates, rows = common.estimates(), []
        for turn in range(said.iterations):  # those that uniform sampling draws
            rows += [common.space.sample(stream(said.seed, "uniform", turn, number)) for number in range(said.size)]
        pool = {str(one): one for one in rows}
        rows = list(pool.values())
        places = forward_selection(estimates.together(rows), estimates.labels, min(said.size, len(rows)))
        chosen = [rows[place] for place in places]
        loss = estimates.loss(chosen)
        return Chosen(tuple(numbered(map(common.candidate, chosen))), loss, (loss,), (estimates.evaluated,), (), {})


@samplers.register("nes_re")
class EvolvedPool(Pooled):
    """NES-RE: a population whose oldest makes place for a mutant of a member of its best ensemble, as long as it trains."""

    summary = "NES-RE: the pool is evolved, each new network a mutant of a member of the population's best ensemble"

    @property
    def beginning(self) -> int:
        """How many there are before any mutant: the population."""
        total = self.settings.pool_size
        return min(total, self.settings.population or max(self.settings.size, total // 2))

    def pool(self, common: Common) -> list[Member]:
        """First uniform draws, then mutants; what is chosen from is all of them."""
        said, total, begin = self.settings, self.settings.pool_size, self.beginning
        pool = self.trained(common, drawn(common, begin))
        space = mutating(common.space)
        while len(pool) < total:
            rng = stream(said.seed, "nes_re", len(pool))
            population = pool[-begin:]  # the oldest have made place
            places, _ = greedy(common, population, min(said.size, begin))
            parent = population[rng.choice(places)].candidate.architecture
            child = common.candidate(space.mutate(parent, rng))
            pool = numbered([*(one.candidate for one in pool), child])
            self.trained(common, pool[-1:])
        return pool


def mutating(space: Space[Any]) -> Space[Any]:
    """The space with the published mutation, where it has one.

    >>> mutating(get("darts", channels=4)).mutation
    'published_nes'
    """
    if not isinstance(space, DARTS):
        return space
    return get(space.reference, **{**space.settings(), "mutation": "published_nes"})
