"""What a report says, as plain values: computed from a record, before any picture is drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from foresee.report.asked import asked, bounds, flatten, proxy_names, read_limits, whole
from foresee.report.curves import improvements, rank_correlation
from foresee.report.outcomes import OUTCOMES, Problem, outcome, problems, steps_in_words
from foresee.runs.finals import Finals
from foresee.runs.record import CandidateRow, Record, ScoreRow
from foresee.runs.values import known_as
from foresee.runs.working import working_time
from foresee.statistics import front


@dataclass(frozen=True)
class Measure:
    """A number by which candidates are compared, and which way is better.

    It is what the search followed, a proxy or a cost (params), shown with its own value; where no single proxy did (a
    combination), it is the merit that the searcher was told.
    """

    name: str
    direction: str = "higher"
    combined: bool = False
    cost: bool = False

    @property
    def sign(self) -> float:
        """1 where more is better, otherwise -1: value times sign is the merit."""
        return 1.0 if self.direction == "higher" else -1.0


@dataclass(frozen=True)
class Entry:
    """A scored candidate: its rank (1 is the best), what it scored, what it costs, when it was found.

    `value` is that of the first objective; `objectives` holds all of them, in their order.
    """

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
    objectives: Mapping[str, float]

    def spread(self, measure: Measure) -> float | None:
        """How much the value varied over the draws; None where there was one draw, or it is a cost."""
        row = None if measure.cost else self.scores.get(measure.name)
        return None if row is None or row.value is None else row.spread


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
    """Value against a count or a further objective, the limits on it, and the front of the two: the ids nothing beats.

    Of candidates that are equal in both, the front names the first. `correlation` is Spearman's between the two over the
    scored candidates, None where it does not exist.
    """

    against: Measure
    ids: tuple[int, ...]
    costs: tuple[float, ...]
    values: tuple[float, ...]
    front: tuple[int, ...]
    least: float | None
    most: float | None
    correlation: float | None

    @property
    def count(self) -> str:
        """What the value is held against, by name."""
        return self.against.name


@dataclass(frozen=True)
class Info:
    """All that a report of one run shows.

    `objectives` is what the run followed, the first of them `measure`; `front` are the ids that no other beats in all of
    them, empty where there is one, `knee` the one of them at its knee, and `filled` how much of its box the front had filled
    after each candidate; `tradeoffs` begin with the first objective against the others where there are several.
    """

    title: str
    status: str
    created: float
    measure: Measure
    objectives: tuple[Measure, ...]
    front: tuple[int, ...]
    others: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]
    steps: str
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
    finals: Finals | None = None
    chosen: int | None = None
    knee: int | None = None
    filled: tuple[tuple[int, float], ...] = ()

    @property
    def best(self) -> Entry | None:
        """The best candidate: the first of the finals, or of the search, or whom its searcher chose; None of nothing."""
        return next(iter(self.leading), None)

    @cached_property
    def leading(self) -> tuple[Entry, ...]:
        """All entries, the best one first, the others by rank."""
        first = self.finals.ranked[0].candidate if self.finals else self.chosen
        return tuple(sorted(self.entries, key=lambda entry: (entry.id != first, entry.rank)))

    @property
    def counts(self) -> tuple[str, ...]:
        """What is known of the cost of candidates, beside the costs that are objectives."""
        sought = {one.name for one in self.objectives if one.cost}
        return tuple(name for name in _count_names(self.entries) if name not in sought)


def summarise(record: Record) -> Info:
    """Everything there is to say about a record; works for empty, running, interrupted and failed runs."""
    objectives = followed(record)
    measure = objectives[0]
    clock = working_time(record.candidates)
    ranked = sorted((c for c in record.candidates if outcome(c) == "scored"), key=lambda c: (-_merit(c), c.id))
    entries = tuple(_entry(rank, c, objectives, clock) for rank, c in enumerate(ranked, 1))
    in_order = sorted(entries, key=lambda e: e.id)
    tally = Counter(outcome(c) for c in record.candidates)
    limits = read_limits(record.settings)
    return Info(
        title=record.title,
        status=record.status,
        created=record.created,
        measure=measure,
        objectives=objectives,
        front=tuple(c.id for c in record.front if outcome(c) == "scored") if len(objectives) > 1 else (),
        others=tuple(name for name in proxy_names(record) if name not in {o.name for o in objectives if not o.cost}),
        asked=asked(record, limits),
        steps=steps_in_words(record),
        wanted=whole(record.settings.get("evaluations")),
        total=len(record.candidates),
        outcomes={name: tally[name] for name in OUTCOMES if tally[name]},
        seconds=max(clock.values(), default=0.0),
        entries=entries,
        by_candidate=_progress("candidates", in_order, [float(e.id) for e in in_order], measure),
        by_seconds=_by_seconds(in_order, measure),
        tradeoffs=tuple(tradeoff(in_order, one, measure, limits) for one in _worth_a_figure(entries, objectives)),
        problems=problems(record.candidates),
        limits=limits,
        exhausted=any(event.kind == "exhausted" for event in record.events),
        settings=flatten(record.settings),
        environment=flatten(record.environment),
        finals=record.finals,
        chosen=record.chosen,
        knee=record.knee.id if len(objectives) > 1 and record.knee else None,
        filled=record.filled if len(objectives) > 1 else (),
    )


# -- candidates -----------------------------------------------------------------------------------------------------------
def followed(record: Record) -> tuple[Measure, ...]:
    """What the run followed, the one that ranks first: its objectives; the steering proxy where it names none."""
    if not record.objectives:
        return (_guessed(record),)
    counted = {name for c in record.candidates for name in c.counts}
    return tuple(
        # a proxy may have the name of a cost, but not with less as the better
        Measure(one.name, one.direction, cost=one.direction == "lower" and one.name in counted)
        for one in record.objectives
    )


def steering(record: Record) -> Measure:
    """What ranks the candidates: the first of what the run followed."""
    return followed(record)[0]


def _guessed(record: Record) -> Measure:
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


# -- curves and fronts ----------------------------------------------------------------------------------------------------
def tradeoff(
    entries: Sequence[Entry], against: Measure, measure: Measure, limits: Mapping[str, Mapping[str, float]]
) -> Tradeoff:
    """Value against a count or another objective for the entries that have it."""
    name = against.name
    known = [(e, e.counts[name] if against.cost else e.objectives[name]) for e in entries if _has(e, against)]
    costs = [float(cost) for _, cost in known]
    values = [e.value for e, _ in known]
    best = front([(cost, e.merit) for e, cost in known], (against.direction, "higher"), distinct=True)
    least, most = bounds(name, limits) if against.cost else (None, None)
    return Tradeoff(
        against=against,
        ids=tuple(e.id for e, _ in known),
        costs=tuple(costs),
        values=tuple(values),
        front=tuple(known[i][0].id for i in best),
        least=least,
        most=most,
        correlation=rank_correlation(values, costs),
    )


def _has(entry: Entry, against: Measure) -> bool:
    return against.name in entry.counts if against.cost else math.isfinite(entry.objectives.get(against.name, math.nan))


def _worth_a_figure(entries: Sequence[Entry], objectives: Sequence[Measure]) -> list[Measure]:
    """What the value is held against: the other objectives, then the costs."""
    costs = [Measure(name, "lower", cost=True) for name in _count_names(entries)]
    found = [*objectives[1:], *costs] if entries else []
    return [one for one in dict.fromkeys(found) if one != objectives[0]]


# -- small things ---------------------------------------------------------------------------------------------------------
def _entry(rank: int, c: CandidateRow, objectives: Sequence[Measure], clock: Mapping[int, float]) -> Entry:
    merit = _merit(c)
    known = {one.name: c.objectives[one.name] for one in objectives if one.name in c.objectives}
    return Entry(
        rank, c.id, c.architecture, known_as(c.identity), merit * objectives[0].sign, merit, c.counts, c.seconds,
        clock.get(c.id, math.nan), c.parent, c.scores, known,
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
