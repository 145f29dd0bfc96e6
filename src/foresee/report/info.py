"""What a report says, as plain values: computed from a record, before any picture is drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from foresee.report.asked import asked, bounds, flatten, proxy_names, read_limits, whole
from foresee.report.curves import improvements, rank_correlation
from foresee.runs.record import CandidateRow, Record, ScoreRow
from foresee.statistics import front

#: more time than this (seconds) without scoring is a pause of the run, not work
PAUSE = 60.0
#: outcomes of a candidate in the order in which they are shown
OUTCOMES = ("scored", "no score", "failed", "waiting")


@dataclass(frozen=True)
class Measure:
    """The number by which candidates are compared, and which way is better.

    It is the proxy that steered the search, shown with its own value; where no single proxy did (a combination), it is
    the merit that the searcher was told.
    """

    name: str
    direction: str = "higher"
    combined: bool = False

    @property
    def sign(self) -> float:
        """1 where more is better, otherwise -1: value times sign is the merit."""
        return 1.0 if self.direction == "higher" else -1.0


@dataclass(frozen=True)
class Entry:
    """A scored candidate: its rank (1 is the best), what it scored, what it costs, when it was found."""

    rank: int
    id: int
    architecture: str
    identity: str
    value: float
    merit: float
    counts: Mapping[str, float]
    seconds: float
    elapsed: float
    parent: int | None
    scores: Mapping[str, ScoreRow]


@dataclass(frozen=True)
class Progress:
    """Value of each scored candidate over one kind of time, and the candidates that improved on all before them."""

    unit: str
    ids: tuple[int, ...]
    times: tuple[float, ...]
    values: tuple[float, ...]
    improved: tuple[int, ...]

    @property
    def best(self) -> tuple[tuple[float, float], ...]:
        """Corners of the best-so-far line: (time, value) of each improvement, then the end of the run."""
        corners = [(self.times[i], self.values[i]) for i in self.improved]
        if corners and self.times[-1] > corners[-1][0]:
            corners.append((self.times[-1], corners[-1][1]))
        return tuple(corners)


@dataclass(frozen=True)
class Tradeoff:
    """Value against one count, the limits on it, and the front: the ids that nothing cheaper equals or beats.

    `correlation` is Spearman's between value and count over the scored candidates, None where it does not exist.
    """

    count: str
    ids: tuple[int, ...]
    costs: tuple[float, ...]
    values: tuple[float, ...]
    front: tuple[int, ...]
    least: float | None
    most: float | None
    correlation: float | None


@dataclass(frozen=True)
class Problem:
    """One reason why candidates have no score: how many it hit, and the first of them."""

    what: str
    reason: str
    count: int
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Info:
    """All that a report of one run shows."""

    title: str
    status: str
    created: float
    measure: Measure
    others: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]
    wanted: int | None
    total: int
    outcomes: Mapping[str, int]
    seconds: float
    entries: tuple[Entry, ...]
    by_candidate: Progress
    by_seconds: Progress
    tradeoffs: tuple[Tradeoff, ...]
    problems: tuple[Problem, ...]
    limits: Mapping[str, Mapping[str, float]]
    exhausted: bool
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]

    @property
    def best(self) -> Entry | None:
        """The best candidate, None where nothing was scored."""
        return self.entries[0] if self.entries else None


def summarise(record: Record) -> Info:
    """Everything there is to say about a record; works for empty, running, interrupted and failed runs."""
    measure = steering(record)
    clock = working_time(record.candidates)
    ranked = sorted((c for c in record.candidates if outcome(c) == "scored"), key=lambda c: (-_merit(c), c.id))
    entries = tuple(_entry(rank, c, measure, clock) for rank, c in enumerate(ranked, 1))
    in_order = sorted(entries, key=lambda e: e.id)
    tally = Counter(outcome(c) for c in record.candidates)
    limits = read_limits(record.settings)
    return Info(
        title=record.title,
        status=record.status,
        created=record.created,
        measure=measure,
        others=tuple(name for name in proxy_names(record) if name != measure.name),
        asked=asked(record, limits),
        wanted=whole(record.settings.get("evaluations")),
        total=len(record.candidates),
        outcomes={name: tally[name] for name in OUTCOMES if tally[name]},
        seconds=max(clock.values(), default=0.0),
        entries=entries,
        by_candidate=_progress("candidates", in_order, [float(e.id) for e in in_order], measure),
        by_seconds=_by_seconds(in_order, measure),
        tradeoffs=tuple(tradeoff(in_order, name, measure, limits) for name in _count_names(entries)),
        problems=problems(record.candidates),
        limits=limits,
        exhausted=any(event.kind == "exhausted" for event in record.events),
        settings=flatten(record.settings),
        environment=flatten(record.environment),
    )


# -- candidates -----------------------------------------------------------------------------------------------------------
def outcome(candidate: CandidateRow) -> str:
    """One of `OUTCOMES`: a candidate counts as scored only with a finite merit."""
    if candidate.status == "failed":
        return "failed"
    if candidate.merit is not None and math.isfinite(candidate.merit):
        return "scored"
    return "waiting" if candidate.status == "asked" else "no score"


def steering(record: Record) -> Measure:
    """The proxy whose value, turned so that more is better, is the merit of every scored candidate."""
    scored = [c for c in record.candidates if outcome(c) == "scored"]
    names = proxy_names(record)
    for name in names:
        rows = [c.scores.get(name) for c in scored]
        found = [row for row in rows if row is not None and row.value is not None]
        if len(found) < len(rows) or not found:
            continue
        measure = Measure(name, found[0].direction)
        if all(math.isclose(_value(row) * measure.sign, _merit(c)) for row, c in zip(found, scored, strict=True)):
            return measure
    if names and not scored:  # nothing to compare with yet: by custom the first proxy steers
        return Measure(names[0])
    return Measure("merit", combined=len(names) > 1)


def working_time(candidates: Iterable[CandidateRow]) -> dict[int, float]:
    """Seconds of work after which each candidate was finished, by id.

    Wall-clock time from the first start, less the pauses of a run that was stopped and resumed: between two finishes
    there is the time of scoring and little else. Candidates without times are left out.
    """
    timed = sorted((c.finished, c.id, c) for c in candidates if 0 < c.started <= c.finished)
    before = min((c.started for _, _, c in timed), default=0.0)
    clock: dict[int, float] = {}
    worked = 0.0
    for finished, name, c in timed:
        step = finished - before
        worked += step if step <= c.seconds + PAUSE else c.seconds
        clock[name], before = worked, finished
    return clock


def problems(candidates: Iterable[CandidateRow]) -> tuple[Problem, ...]:
    """Reasons for missing scores, the most frequent first. A proxy that failed beside one that worked is named too."""
    hit: dict[tuple[str, str], list[int]] = {}
    for c in candidates:
        bad = [(f"{row.proxy}: {row.status}", row.reason) for row in c.scores.values() if row.status != "ok"]
        if outcome(c) in ("failed", "no score") and not bad:
            bad.append((outcome(c), c.reason))
        for key in bad:
            hit.setdefault(key, []).append(c.id)
    found = (Problem(what, reason, len(ids), tuple(ids[:5])) for (what, reason), ids in hit.items())
    return tuple(sorted(found, key=lambda p: (-p.count, p.ids)))


# -- curves and fronts ----------------------------------------------------------------------------------------------------
def tradeoff(
    entries: Sequence[Entry], count: str, measure: Measure, limits: Mapping[str, Mapping[str, float]]
) -> Tradeoff:
    """Value against `count` for the entries that have it."""
    known = [e for e in entries if count in e.counts]
    costs = [e.counts[count] for e in known]
    values = [e.value for e in known]
    best = front([(e.counts[count], e.merit) for e in known], ("lower", "higher"), distinct=True)
    least, most = bounds(count, limits)
    return Tradeoff(
        count=count,
        ids=tuple(e.id for e in known),
        costs=tuple(costs),
        values=tuple(values),
        front=tuple(known[i].id for i in best),
        least=least,
        most=most,
        correlation=rank_correlation(values, costs),
    )


# -- small things ---------------------------------------------------------------------------------------------------------
def _entry(rank: int, c: CandidateRow, measure: Measure, clock: Mapping[int, float]) -> Entry:
    merit = _merit(c)
    return Entry(
        rank, c.id, c.architecture, c.identity, merit * measure.sign, merit, c.counts, c.seconds,
        clock.get(c.id, math.nan), c.parent, c.scores,
    )  # fmt: skip


def _progress(unit: str, entries: Sequence[Entry], times: Sequence[float], measure: Measure) -> Progress:
    values = tuple(e.value for e in entries)
    return Progress(unit, tuple(e.id for e in entries), tuple(times), values, improvements(values, measure.sign))


def _by_seconds(entries: Sequence[Entry], measure: Measure) -> Progress:
    """Over seconds of work, in order of finishing; over summed scoring times where the clock times are missing."""
    if all(math.isfinite(e.elapsed) for e in entries):
        done = sorted(entries, key=lambda e: (e.elapsed, e.id))
        return _progress("seconds", done, [e.elapsed for e in done], measure)
    total, times = 0.0, []
    for e in entries:
        total += e.seconds
        times.append(total)
    return _progress("seconds", entries, times, measure)


def _count_names(entries: Sequence[Entry]) -> list[str]:
    """Counts worth a figure: params and MACs first."""
    known = {name for e in entries for name in e.counts}
    return [name for name in ("params", "macs") if name in known] + sorted(known - {"params", "macs"})


def _merit(candidate: CandidateRow) -> float:
    assert candidate.merit is not None
    return candidate.merit


def _value(row: ScoreRow) -> float:
    assert row.value is not None
    return row.value
