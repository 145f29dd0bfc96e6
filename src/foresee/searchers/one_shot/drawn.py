"""Searchers that train paths of the one-shot network, and judge drawn architectures by the shared weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch

from foresee.searchers.one_shot.base import OneShotSearcher
from foresee.searchers.problem import Problem
from foresee.seeds import generator

#: draws that are judged in one step
TOGETHER = 25
#: draws for one within the limits, after which it is taken as it is
TRIES = 50


class Drawn(OneShotSearcher):
    """Base of searchers that end by judging draws: each on the same batches of the validation half, with the shared weights.

    After the epochs come steps of another kind: `draws` architectures within the limits are drawn and judged, and the best
    `again` of them once more on all of the validation half. After each epoch a few are judged too, so that a run says what
    its answer would be by then.

    Args:
        draws: architectures that are judged in the end.
        looks: validation batches that each is judged by.
        again: how many of the best are judged once more by the whole half; 0: none.
        followed: architectures that are judged after each epoch, by one batch; 0: none.
    """

    settings: ClassVar[tuple[str, ...]] = ("draws", "looks", "again", "followed")
    draws: int = 100
    looks: int = 1
    again: int = 0
    followed: int = 10

    def __init__(self, problem: Problem, **said: Any) -> None:
        super().__init__(problem, **said)
        self.check_whole("draws", "looks")
        self.check_whole("again", "followed", least=0)

    def draw(self, numbers: torch.Generator) -> Any:
        """An architecture, by what was learned so far."""
        raise NotImplementedError

    # -- judging --------------------------------------------------------------------------------------------------------
    def judge(self, architectures: Sequence[Any], looks: int) -> dict[str, Any]:
        """Texts, shares of right answers and losses of architectures, on the first so many validation batches."""
        found: dict[str, Any] = {"architectures": [], "accuracy": [], "loss": []}
        batches = [self.validation(number) for number in range(looks)]
        with torch.no_grad():
            for architecture in architectures:
                self.network.select(architecture)
                seen = [self.judged(batch) for batch in batches]
                found["architectures"].append(str(architecture))
                found["accuracy"].append(sum(right for _, right in seen) / looks)
                found["loss"].append(sum(float(loss) for loss, _ in seen) / looks)
        return found

    def drawn(self, *use: int | str) -> Any:
        """A draw for one use, within the limits where one is soon found."""
        numbers = generator(self.problem.seed, self.name, "draw", *use)
        for _ in range(TRIES):
            architecture = self.draw(numbers)
            if not self.gate.miss(architecture):
                break
        return architecture

    def outcome(self, number: int) -> Mapping[str, Any]:
        """The best of a few."""
        if not self.followed:
            return {}
        few = self.judge([self.drawn("epoch", number, place) for place in range(self.followed)], 1)
        best = ranked(few)[0]
        return {"architecture": few["architectures"][best], "accuracy": few["accuracy"][best]}

    # -- steps ----------------------------------------------------------------------------------------------------------
    def steps_before(self, candidate: int) -> int:
        """Epochs, then draws, then the best of them again."""
        return self.epochs + self._judgings + bool(self.again)

    @property
    def _judgings(self) -> int:
        return -(-self.draws // TOGETHER)

    def step_place(self, number: int) -> tuple[str, int, int]:
        """Draws are counted by themselves."""
        if number < self.epochs:
            return "epochs", number + 1, self.epochs
        return "judging", number - self.epochs + 1, self.steps_before(0) - self.epochs

    def work(self, number: int) -> Mapping[str, Any]:
        """An epoch, some draws, or the best of all draws again."""
        place = number - self.epochs
        if place < 0:
            return super().work(number)
        if place < self._judgings:
            some = range(TOGETHER * place, min(self.draws, TOGETHER * (place + 1)))
            return self.judge([self.drawn("end", one) for one in some], self.looks)
        best = [self.space.parse(text) for text in self._ranked_draws()[: self.again]]
        return self.judge(best, self.halves.validation_steps)

    # -- the answer -----------------------------------------------------------------------------------------------------
    def answers(self) -> Iterator[Any]:
        """Those that were judged again, then the others, the best first."""
        last = self._outcomes[-1] if self.again else {"architectures": []}
        texts = [last["architectures"][place] for place in ranked(last)] if self.again else []
        return map(self.space.parse, dict.fromkeys([*texts, *self._ranked_draws()]))

    def _ranked_draws(self) -> list[str]:
        """The texts of all draws, each once, the best first."""
        parts = self._outcomes[self.epochs : self.epochs + self._judgings]
        whole = {key: [one for part in parts for one in part[key]] for key in ("architectures", "accuracy", "loss")}
        return list(dict.fromkeys(whole["architectures"][place] for place in ranked(whole)))


def ranked(judged: Mapping[str, Sequence[Any]]) -> list[int]:
    """The places of what was judged, the best first: by accuracy, then by loss, then as they were drawn.

    >>> ranked({"accuracy": [0.5, 0.75, 0.75], "loss": [1.0, 0.9, 0.8]})
    [2, 1, 0]
    """
    places = range(len(judged["accuracy"]))
    return sorted(places, key=lambda place: (-judged["accuracy"][place], judged["loss"][place], place))
