"""Successive halving: many are looked at cheaply, few of them dearly."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.proxies import proxies
from foresee.searchers.base import Result, Searcher, searchers
from foresee.searchers.gate import Gate, Proposal
from foresee.searchers.problem import MEASURED, Problem
from foresee.searchers.promising import Promising
from foresee.seeds import derive
from foresee.task import MOST

#: draws of the model in vain, after which it is drawn at random
PATIENCE = 50


@dataclass(frozen=True)
class Level:
    """A way to look: by what was measured with less effort, or by a proxy under so many seeds."""

    name: str
    measured: bool = False
    seeds: int = 0

    def merits(self, problem: Problem, architectures: Sequence[Any]) -> list[float | None]:
        """What it says of architectures, more is better; by several seeds the mean. None where it says nothing."""
        if self.measured:
            return problem.measured(architectures, self.name)
        if not self.seeds:
            return _merits(problem, architectures, self.name, problem.seed)
        seeds = [derive(problem.seed, "level", number) % 2**31 for number in range(self.seeds)]
        looks = [_merits(problem, architectures, self.name, seed) for seed in seeds]
        return [None if None in one else math.fsum(map(float, one)) / len(one) for one in zip(*looks, strict=True)]


def _merits(problem: Problem, architectures: Sequence[Any], proxy: str, seed: int) -> list[float | None]:
    found = [next(iter(one.values())) for one in problem.scores(architectures, [proxy], seed)]
    return [score.merit if score.ok else None for score in found]


@dataclass(frozen=True)
class Round:
    """One bracket of Hyperband: the level it begins on, and how many are looked at on each from there, candidates last."""

    level: int
    many: tuple[int, ...]

    @property
    def steps(self) -> int:
        """How many levels it looks on before there are candidates."""
        return len(self.many) - 1


def rounds(levels: int, eta: int) -> list[Round]:
    """The rounds for so many levels below the dearest, the widest first (Li et al. 2018, Algorithm 1).

    >>> [(one.level, one.many) for one in rounds(2, 3)]
    [(0, (9, 3, 1)), (1, (5, 1)), (2, (3,))]
    """
    found = []
    for below in range(levels, -1, -1):
        first = math.ceil((levels + 1) / (below + 1) * eta**below)
        found.append(Round(levels - below, tuple(max(1, first // eta**rung) for rung in range(below + 1))))
    return found


@searchers.register("successive_halving")
class SuccessiveHalving(Searcher):
    """Look at many architectures cheaply, at the best of them more dearly, and propose the few that are left (BOHB).

    A round of Hyperband looks at n architectures on a cheap level, keeps the best n / eta for the next level, and so on; what
    is left is proposed, and the run evaluates it. The first round begins on the cheapest level, the next one level higher,
    the last with candidates at once; then they begin anew. As in BOHB those that a round begins with are drawn by a model of
    the better and the other architectures seen so far (`promising`), on the dearest level that has seen enough; but for a
    random share. For a space that is not made of independent choices there is no such model, and this is Hyperband.

    A level is the name of what was measured with less effort (see `Levels`), or of a proxy. Where none are named they are

    * what was measured with less effort, where the run follows `measured` and there is such;
    * else, where the run follows `measured`, the proxies of the run in their order;
    * else the proxy that the run follows, under 1 and under `eta` other seeds: there is nothing much cheaper than a proxy,
      but more looks tell more.

    Args:
        levels: names of levels, the cheapest first.
        eta: one of so many is kept from level to level.
        at_random: share of those that a round begins with that is drawn at random.
    """

    name = "successive_halving"
    summary = "BOHB: looks at many cheaply, at the best of them dearly, and learns where to look"
    source = "BOHB (Falkner et al. 2018), Algorithms 1 and 2; Hyperband (Li et al. 2018), Algorithm 1"
    cost = "one look per architecture and level, one score per candidate"
    step_name = "levels"
    published: ClassVar[Mapping[str, str]] = {
        "levels": "epochs of training (Falkner et al. 2018)",
        "eta": "3 (Falkner et al. 2018)",
        "at_random": "0.33 (Falkner et al. 2018); 0 in NAS-Bench-201's baseline",
    }

    def __init__(self, problem: Problem, *, levels: Sequence[str] = (), eta: int = 3, at_random: float = 0.33) -> None:
        super().__init__(problem)
        whole("successive_halving.eta =", eta, 2, most=MOST)
        if isinstance(at_random, bool) or not isinstance(at_random, int | float) or not 0 <= at_random <= 1:
            raise InputError(f"successive_halving.at_random = {at_random!r}: expected a share from 0 to 1")
        self.eta, self.at_random = eta, at_random
        self.levels = [self._level(name) for name in self._names(levels)] or self._usual()
        self.rounds = rounds(len(self.levels), eta)
        #: on each level, the dearest last, what was seen: by identity, the architecture and its merit
        self._seen: list[dict[str, tuple[Any, float]]] = [{} for _ in range(len(self.levels) + 1)]
        self._left: list[Any] = []

    # -- levels -------------------------------------------------------------------------------------------------------
    def _names(self, levels: Sequence[str]) -> Iterable[str]:
        if isinstance(levels, str):
            return (levels,)
        if not isinstance(levels, Sequence) or not all(isinstance(name, str) for name in levels):
            raise InputError(f"successive_halving.levels = {levels!r}: expected a list of names")
        return levels

    def _level(self, name: str) -> Level:
        if name in self.problem.levels:
            return Level(name, measured=True)
        if name.partition(":")[0] not in proxies:
            raise UnknownNameError("level", name, [*self.problem.levels, *proxies])
        return Level(self.problem.scorer.proxy(name).full_name)

    def _usual(self) -> list[Level]:
        objective = self.problem.objectives[0]
        if objective.name == MEASURED:
            cheaper = [Level(name, measured=True) for name in self.problem.levels]
            return cheaper or [Level(name) for name in self.problem.scorer.proxies]
        if self.problem.is_cost(objective):
            raise InputError(
                f"searcher {self.name}: {objective.name} is known at once, there is nothing cheaper to look at first"
            )
        return [Level(objective.name, seeds=1), Level(objective.name, seeds=self.eta)]

    # -- rounds -------------------------------------------------------------------------------------------------------
    def _place(self, candidate: int) -> tuple[Round, int, int]:
        """The round of a candidate, the first candidate of that round, and the steps up to its end."""
        cycle = sum(one.many[-1] for one in self.rounds)
        done = candidate // cycle
        at, steps = done * cycle, done * sum(one.steps for one in self.rounds)
        for one in self.rounds:
            steps += one.steps
            if candidate < at + one.many[-1]:
                return one, at, steps
            at += one.many[-1]
        raise AssertionError("a candidate is in one of the rounds")

    def _rung(self, number: int) -> tuple[Round, int]:
        """The round of a step, and which level of it it is."""
        number %= sum(one.steps for one in self.rounds)
        for one in self.rounds:
            if number < one.steps:
                return one, number
            number -= one.steps
        raise AssertionError("a step is in one of the rounds")

    def told_before(self, candidate: int) -> int:
        """A round waits for the one before it."""
        return self._place(candidate)[1]

    def steps_before(self, candidate: int) -> int:
        """A round's looks come before its candidates."""
        return self._place(candidate)[2]

    def phase(self, candidate: int) -> str:
        """The round, by where it began."""
        level = self._place(candidate)[0].level
        return f"from {self.levels[level].name}" if level < len(self.levels) else "at once"

    def step(self, number: int) -> Mapping[str, Any]:
        """Look on one level: at new architectures where the round begins, else at the best of the level before."""
        current, rung = self._rung(number)
        many = current.many[rung]
        architectures = self._left[:many] if rung else self._drawn(many, number)
        level = self.levels[current.level + rung]
        merits = level.merits(self.problem, architectures) if architectures else []
        return {"level": level.name, "architectures": [str(one) for one in architectures], "merits": merits}

    def _drawn(self, many: int, number: int) -> list[Any]:
        """So many that nobody has looked at yet; fewer where there are no more."""
        gate = Gate(self.problem, partial(self.problem.stream, "level", number))
        gate.seen = self.gate.seen.union(*self._seen)
        drawn = (gate.draw(self._draw) for _ in range(many))
        return [one.architecture for one in drawn if one is not None]

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Remember what was seen; the best come first in what goes on."""
        current, rung = self._rung(number)
        found = [self.space.parse(text) for text in outcome["architectures"]]
        pairs = [(one, merit) for one, merit in zip(found, outcome["merits"], strict=True) if merit is not None]
        pairs.sort(key=lambda pair: -pair[1])
        for one, merit in pairs:
            self._remember(current.level + rung, one, merit)
        self._left = [one for one, _ in pairs]

    # -- candidates ---------------------------------------------------------------------------------------------------
    def ask(self, count: int = 1) -> list[Proposal]:
        """What is left of the round; where it begins with candidates, or too few are left, new draws."""
        proposals = []
        for _ in range(count):
            current, first, _ = self._place(self.gate.asked)
            place = self.gate.asked - first
            left = self._left[place : place + 1] if current.steps else []
            proposal = (self.gate.admit(left[0]) if left else None) or self.gate.draw(self._draw)
            if proposal is None:
                break
            proposals.append(proposal)
        return proposals

    def tell(self, results: Iterable[Result]) -> None:
        """Results are what was seen on the dearest level."""
        for result in results:
            if result.merit is not None:
                self._remember(-1, result.architecture, result.merit)

    def _draw(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """By the model, or at random."""
        model = None if attempt >= PATIENCE or rng.random() < self.at_random else self._model
        return (self.space.sample(rng) if model is None else model.draw(rng)), None

    @cached_property
    def _model(self) -> Promising | None:
        """The model of the dearest level that has seen enough; None while there is none, or where there can be none."""
        enough = [seen for seen in self._seen if self.space.choices and len(seen) >= Promising.needed(self.space)]
        return Promising(self.space, *zip(*enough[-1].values(), strict=True)) if enough else None

    def _remember(self, level: int, architecture: Any, merit: float) -> None:
        self._seen[level][str(self.gate.identity(architecture))] = (architecture, merit)
        self.__dict__.pop("_model", None)

    def state(self) -> dict[str, Any]:
        """As the base, with what was seen on each level and what goes on."""
        seen = [[(identity, merit) for identity, (_, merit) in level.items()] for level in self._seen]
        return {**super().state(), "levels": seen, "left": [str(one) for one in self._left]}
