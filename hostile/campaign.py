"""The loop of a campaign: cases of all kinds, several at a time, until the time is over.

The kind that has had the least time so far comes next, so that cheap kinds try many cases and costly ones are not starved.
Which cases fit into the time depends on the machine; what each of them does, does not.
"""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hostile.cases import Attempt, Case, Outcome
from hostile.failures import Failures
from hostile.kind import Kind


@dataclass
class Tally:
    """What became of the cases of one kind."""

    kind: Kind
    tried: int = 0
    broken: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    next_number: int = 0
    #: what broke, by what was raised without its numbers, with the first case of each
    reasons: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> bool:
        """Count an outcome; whether it broke in a way that is new."""
        self.tried += 1
        self.seconds += outcome.seconds
        self.longest = max(self.longest, outcome.seconds)
        if outcome.held:
            return False
        self.broken += 1
        reason = alike(outcome.last_line)
        self.reasons[reason] += 1
        self.first.setdefault(reason, outcome.case.name)
        return self.reasons[reason] == 1

    def line(self) -> str:
        """The summary of a kind in a line."""
        return (
            f"{self.kind.name:<10} {self.tried:>7} {self.tried - self.broken:>7} {self.broken:>7} {self.seconds:>8.0f}"
        )


HEADING = f"{'kind':<10} {'cases':>7} {'held':>7} {'broken':>7} {'seconds':>8}"


def run(
    kinds: Sequence[Kind],
    *,
    seconds: float,
    seed: int,
    failures: Failures,
    say: Callable[[str], None] = print,
    workers: int = 2,
    most: int | None = None,
) -> list[Tally]:
    """Try cases of these kinds for so long, `workers` at a time; at most so many of each kind, where `most` says so.

    No case is begun that would end, as the longest of its kind so far, after the time is over. Ctrl-C ends it early, with
    the tallies so far.
    """
    tallies = [Tally(kind) for kind in kinds]
    running: list[tuple[Tally, Attempt]] = []
    deadline = time.monotonic() + seconds
    try:
        while True:
            left = deadline - time.monotonic()
            while len(running) < workers and (tally := _next(tallies, running, left, most)):
                running.append((tally, Attempt(Case(tally.kind, seed, tally.next_number))))
                tally.next_number += 1
            if not running:
                return tallies
            for pair in list(running):
                if outcome := pair[1].outcome():
                    running.remove(pair)
                    _settle(pair[0], outcome, failures, say)
            time.sleep(0.005)
    except KeyboardInterrupt:
        say("stopped; so far:")
        for _, attempt in running:
            attempt.end()
            shutil.rmtree(attempt.folder, ignore_errors=True)
        return tallies


def _next(
    tallies: Sequence[Tally], running: Sequence[tuple[Tally, Attempt]], left: float, most: int | None
) -> Tally | None:
    """Whose turn it is: the kind with the least time, what its running cases took so far among it."""
    now = time.monotonic()

    def spent(tally: Tally) -> float:
        return tally.seconds + sum(now - attempt.started for own, attempt in running if own is tally)

    open_ones = [
        tally
        for tally in tallies
        if tally.longest < left and left > 0 and (most is None or tally.next_number < most)
    ]  # fmt: skip
    return min(open_ones, key=lambda tally: (spent(tally), tally.next_number), default=None)


def _settle(tally: Tally, outcome: Outcome, failures: Failures, say: Callable[[str], None]) -> None:
    new = tally.add(outcome)
    if not outcome.held:
        script = failures.keep(outcome, whole=new)
        if new:
            say(f"broken: {outcome.case.name}: {outcome.last_line}\n        repeat it: python {script}")
    shutil.rmtree(outcome.folder, ignore_errors=True)


def alike(line: str) -> str:
    """A failure without what differs from case to case, so that one mistake is told once."""
    line = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "'...'", line)
    return re.sub(r"\S*/\S+", "PATH", re.sub(r"-?\d[\d.e+]*", "N", line))[:120]


def summary(tallies: Sequence[Tally]) -> str:
    """A line for each kind and one for all, then what broke, each mistake once."""
    total = Tally(Kind("all", "", lambda rng, folder: None))
    for tally in tallies:
        total.tried, total.broken = total.tried + tally.tried, total.broken + tally.broken
        total.seconds += tally.seconds
    lines = [HEADING, *(tally.line() for tally in tallies), total.line()]
    for tally in tallies:
        for reason, count in tally.reasons.most_common():
            lines.append(f"{tally.kind.name}: {count} x {reason} (first: {tally.first[reason]})")
    return "\n".join(lines)


def table(tallies: Sequence[Tally]) -> str:
    """The same as a table for the docs, with the promises."""
    lines = ["| kind | promise | cases | held | broken | seconds |", "|---|---|---:|---:|---:|---:|"]
    for one in tallies:
        numbers = f"{one.tried:,} | {one.tried - one.broken:,} | {one.broken:,} | {one.seconds:,.0f}"
        lines.append(f"| {one.kind.name} | {one.kind.promise} | {numbers} |")
    return "\n".join(lines) + "\n"
