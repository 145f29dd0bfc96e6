"""Between those who want scores and the engine that makes them: single architectures in, jobs out, single answers back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from foresee.runs.engines import Engine
from foresee.scoring.scorer import Job, Scored


@dataclass(frozen=True)
class Answer:
    """What came of one architecture that was handed in under a ticket, and how often it was tried."""

    ticket: int
    scored: Scored
    attempts: int = 1


class Desk:
    """Packs architectures into jobs of up to `together`, spread over the engine's workers, and unpacks what comes back.

    A job of several that dies with its worker is done again one by one: a network that kills takes no other with it. A
    ticket that is handed in is answered once, in any order.
    """

    def __init__(self, engine: Engine, together: int = 1) -> None:
        self._engine, self._together = engine, together
        self._waiting: list[tuple[int, Job]] = []
        self._out: dict[int, tuple[tuple[int, ...], Job]] = {}
        self._ready: deque[Answer] = deque()
        self._jobs = 0

    def submit(
        self, ticket: int, text: str, proxies: Iterable[str], seed: int, space_settings: Mapping[str, Any] | None = None
    ) -> None:
        """Hand in one architecture; `space_settings` are those that differ from the scorer's own."""
        self._waiting.append((ticket, Job((text,), tuple(proxies), seed, tuple((space_settings or {}).items()))))
        if self._together == 1:
            self._send()

    def wait(self) -> Answer:
        """Block until any architecture is answered."""
        self._send()
        while not self._ready:
            outcome = self._engine.wait()
            tickets, job = self._out.pop(outcome.job)
            if outcome.error is None:
                pairs = zip(tickets, outcome.value, strict=True)
                self._ready += [Answer(ticket, scored, outcome.attempts) for ticket, scored in pairs]
            elif len(tickets) == 1:
                self._ready.append(Answer(tickets[0], Scored(error=outcome.error), outcome.attempts))
            else:
                for ticket, text in zip(tickets, job.texts, strict=True):
                    self._give((ticket,), replace(job, texts=(text,)))
        return self._ready.popleft()

    def gather(
        self,
        texts: Iterable[str],
        proxies: Iterable[str],
        seed: int,
        space_settings: Mapping[str, Any] | None = None,
    ) -> list[Scored]:
        """Score some architectures now, in their order; answers of others that come meanwhile are kept for `wait`."""
        names = tuple(proxies)
        tickets = []
        for number, text in enumerate(texts):
            tickets.append(-1 - number)  # below all tickets that others hand in
            self.submit(tickets[-1], text, names, seed, space_settings)
        found: dict[int, Scored] = {}
        others: list[Answer] = []
        while len(found) < len(tickets):
            answer = self.wait()
            if answer.ticket < 0:
                found[answer.ticket] = answer.scored
            else:
                others.append(answer)
        self._ready.extendleft(reversed(others))
        return [found[ticket] for ticket in tickets]

    def _send(self) -> None:
        """Give what is waiting to the engine: alike ones together, no worker left idle for the sake of a larger job."""
        alike: dict[str, list[tuple[int, Job]]] = {}
        for ticket, job in self._waiting:
            alike.setdefault(repr(replace(job, texts=())), []).append((ticket, job))
        self._waiting.clear()
        for group in alike.values():
            size = max(1, min(self._together, -(-len(group) // self._engine.workers)))
            for start in range(0, len(group), size):
                some = group[start : start + size]
                texts = tuple(job.texts[0] for _, job in some)
                self._give(tuple(ticket for ticket, _ in some), replace(some[0][1], texts=texts))

    def _give(self, tickets: tuple[int, ...], job: Job) -> None:
        self._out[self._jobs] = tickets, job
        self._engine.submit(self._jobs, job)
        self._jobs += 1
