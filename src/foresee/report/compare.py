"""Several runs on one page: what they asked, what they found, and what may be compared.

Values of different proxies, or of one proxy that looked at different data, have no common scale. Runs are therefore
grouped by their yardstick; each group has its own axes, and across groups only ranks are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from foresee.errors import InputError
from foresee.quantities import format_quantity
from foresee.report.asked import bounds, objectives_text, proxy_names
from foresee.report.curves import rank_correlation
from foresee.report.figures import COUNT_NAMES, Chart, Layer, scale_for, time_unit, value_label
from foresee.report.graphs import load_cells, palette
from foresee.report.html import Drawing, dotted, drawing, hover, pictures
from foresee.report.info import Info, Measure, summarise
from foresee.report.own import own_picture
from foresee.report.page import page
from foresee.report.words import short
from foresee.runs.record import Objective, Record
from foresee.statistics import front

#: series colours of the page; further runs start over
COLOURS = 8
#: settings that decide what a value means, beside the proxy itself; a cost depends on the first ones alone
NETWORK = ("inputs", "outputs", "task")
YARDSTICK = (*NETWORK, "data", "batch_size", "repeats", "proxy_settings")


@dataclass(frozen=True)
class Member:
    """One run of a comparison."""

    name: str
    number: int
    info: Info
    record: Record

    @property
    def role(self) -> str:
        """Colour of the run in every chart."""
        return f"series-{self.number % COLOURS}"

    @property
    def proxies(self) -> tuple[str, ...]:
        """What looked at the candidates."""
        return proxy_names(self.record)

    @property
    def follows(self) -> str:
        """What the run followed, in words."""
        return objectives_text(Objective(one.name, one.direction) for one in self.info.objectives)


@dataclass(frozen=True)
class Group:
    """Runs whose values can be compared: one proxy, looking at the same thing."""

    label: str
    measure: Measure
    members: tuple[Member, ...]

    @property
    def best(self) -> Member | None:
        """The run that found the greatest merit; the first one wins a tie."""
        scored = [m for m in self.members if m.info.best is not None]
        return max(scored, key=lambda m: m.info.entries[0].merit, default=None)


@dataclass(frozen=True)
class Difference:
    """A setting in which runs differ: its text in each run (None: not set), and which differ from the first run."""

    key: str
    values: tuple[str | None, ...]

    @property
    def changed(self) -> tuple[bool, ...]:
        """For each run, whether it differs from the first."""
        return tuple(value != self.values[0] for value in self.values)


@dataclass(frozen=True)
class Agreement:
    """How two runs rank the architectures that both have scored; `correlation` is Spearman's."""

    first: str
    second: str
    shared: int
    correlation: float | None


@dataclass(frozen=True)
class Comparison:
    """All that a comparison shows. `standings[i][j]` is the rank of run i's best in run j, None where j never saw it."""

    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    settings: tuple[Difference, ...]
    environment: tuple[Difference, ...]
    standings: tuple[tuple[int | None, ...], ...]
    agreements: tuple[Agreement, ...]

    @property
    def pursuits(self) -> Mapping[str, tuple[Member, ...]]:
        """The runs by what they followed, in words; empty where they agree.

        Of runs with one objective each, the yardsticks say it already.
        """
        found: dict[str, list[Member]] = {}
        for member in self.members:
            found.setdefault(member.follows, []).append(member)
        told = len(found) == 1 or all(len(m.info.objectives) == 1 for m in self.members)
        return {} if told else {follows: tuple(members) for follows, members in found.items()}


def compare(records: Mapping[str, Record]) -> str:
    """The comparison of runs, by name, as HTML text."""
    info = put_together(records)
    cells = [load_cells(m.record.settings, [e.architecture for e in m.info.entries[:1]]) for m in info.members]
    operations = palette(graph for one in cells for graphs in one.graphs.values() for graph in graphs)
    drawn = [
        {
            "member": member,
            "entry": member.info.best,
            "picture": next(iter(pictures(one, member.info.entries[:1], f"run{member.number}-", operations)), None)
            or own_picture(member.record, member.info),
            "reason": one.reason,
        }
        for member, one in zip(info.members, cells, strict=True)
    ]
    charts = [(group, group_charts(group, i)) for i, group in enumerate(info.groups)]
    dots = dotted(one for _, drawings in charts for one in drawings)
    return page(
        "compare.html",
        title="Comparison of " + ", ".join(records),
        info=info,
        charts=charts,
        drawn=drawn,
        operations=operations,
        hover={
            f"{m.number}:{key}": [*words, f"{m.name}, candidate"]
            for m in info.members
            for key, words in hover(
                m.info.entries, {e.id for e in m.info.entries if f"{m.number}:{e.id}" in dots}
            ).items()
        },
    )


def put_together(records: Mapping[str, Record]) -> Comparison:
    """The plain values of a comparison."""
    if len(records) < 2:
        raise InputError(f"a comparison needs at least two runs, {len(records)} given")
    members = tuple(Member(name, i, summarise(r), r) for i, (name, r) in enumerate(records.items()))
    groups: dict[tuple[str, ...], list[Member]] = {}
    for member in members:
        groups.setdefault(_yardstick(member), []).append(member)
    return Comparison(
        members=members,
        groups=tuple(Group(_label(of[0]), of[0].info.measure, tuple(of)) for of in groups.values()),
        settings=differences([dict(m.info.settings) for m in members]),
        environment=differences([dict(m.info.environment) for m in members]),
        standings=tuple(tuple(_standing(a, b) for b in members) for a in members),
        agreements=tuple(_agreement(a, b) for a, b in combinations(members, 2)),
    )


def differences(flat: Sequence[Mapping[str, str]]) -> tuple[Difference, ...]:
    """Settings that are not the same everywhere, in the order in which they appear.

    >>> differences([{"seed": "1", "data": "digits"}, {"seed": "2", "data": "digits"}])
    (Difference(key='seed', values=('1', '2')),)
    """
    keys = dict.fromkeys(key for one in flat for key in one)
    found = (Difference(key, tuple(one.get(key) for one in flat)) for key in keys)
    return tuple(one for one in found if any(one.changed))


# -- charts ---------------------------------------------------------------------------------------------------------------
def group_charts(group: Group, number: int) -> list[Drawing]:
    """Best-so-far curves by candidate and by time, and value against each count with the front of all runs."""
    if group.best is None:
        return []
    drawings = [
        drawing("Best so far, by candidate", _curves(group, f"group{number}-candidates", by_time=False)),
        drawing("Best so far, by time", _curves(group, f"group{number}-time", by_time=True)),
    ]
    counts = dict.fromkeys(t.count for m in group.members for t in m.info.tradeoffs if t.against.cost)
    return drawings + [_clouds(group, count, f"group{number}-{count}") for count in counts]


def _curves(group: Group, name: str, *, by_time: bool) -> Chart:
    progress = [(m, m.info.by_seconds if by_time else m.info.by_candidate) for m in group.members]
    longest = max((p.times[-1] for _, p in progress if p.times), default=0.0)
    factor, unit = time_unit(longest) if by_time else (1.0, "candidate")
    layers = tuple(
        Layer("line", m.role, tuple(x / factor for x, _ in p.best), tuple(y for _, y in p.best), m.name)
        for m, p in progress
        if p.best
    )
    ends = "; ".join(f"{layer.label} ends at {short(layer.y[-1])}" for layer in layers)
    values = [y for layer in layers for y in layer.y]
    return Chart(
        name, f"Best {group.measure.name} so far of each run: {ends}", unit, value_label(group.measure),
        "plain" if by_time else "whole", layers, scale_for(values, group.measure),
    )  # fmt: skip


def _clouds(group: Group, count: str, name: str) -> Drawing:
    """Every run's candidates in its colour, the front of all of them, and who holds it."""
    points = [
        (m, entry.id, entry.counts[count], entry.value, entry.merit)
        for m in group.members
        for entry in m.info.entries
        if count in entry.counts
    ]
    best = front([(p[2], p[4]) for p in points], ("lower", "higher"), distinct=True)
    chosen = [points[i] for i in best]
    layers = [
        Layer(
            "dots", m.role, tuple(float(p[2]) for p in mine), tuple(p[3] for p in mine), m.name,
            tuple(f"{m.number}:{p[1]}" for p in mine),
        )
        for m in group.members
        if (mine := [p for p in points if p[0] is m])
    ]  # fmt: skip
    several = len(group.members) > 1
    line = "front of all runs" if several else "Pareto front"
    layers.append(Layer("line", "ink", tuple(float(p[2]) for p in chosen), tuple(p[3] for p in chosen), line))
    label = COUNT_NAMES.get(count, count)
    holders = ", ".join(f"{sum(p[0] is m for p in chosen)} by {m.name}" for m in group.members)
    limits = {bounds(count, m.info.limits)[1] for m in group.members}
    chart = Chart(
        name, f"{group.measure.name} against {label} for all runs; {len(chosen)} on the front: {holders}", label,
        value_label(group.measure), "quantity", tuple(layers), scale_for([p[3] for p in points], group.measure),
        tuple((end, f"limit {format_quantity(end)}") for end in sorted(e for e in limits if e is not None)),
    )  # fmt: skip
    return drawing(f"Against {label}", chart, f"{len(chosen)} on the front of all runs: {holders}." if several else "")


# -- what may be compared -------------------------------------------------------------------------------------------------
def _yardstick(member: Member) -> tuple[str, ...]:
    settings = member.record.settings
    what = [member.info.measure.name, member.info.measure.direction]
    for key in NETWORK if member.info.measure.cost else YARDSTICK:
        value = settings.get(key)
        if key == "proxy_settings" and isinstance(value, Mapping) and not member.info.measure.combined:
            value = value.get(member.info.measure.name)
        what.append(repr(value or None))
    return (*what, repr(member.record.environment.get("task")))


def _label(member: Member) -> str:
    data = member.record.settings.get("data")
    return (
        f"{member.info.measure.name} on {data}" if data and not member.info.measure.cost else member.info.measure.name
    )


def _standing(first: Member, second: Member) -> int | None:
    best = first.info.best
    if best is None or first.record.settings.get("space") != second.record.settings.get("space"):
        return None
    return next((e.rank for e in second.info.entries if e.identity == best.identity), None)


def _agreement(first: Member, second: Member) -> Agreement:
    same_space = first.record.settings.get("space") == second.record.settings.get("space")
    a, b = ({e.identity: e.merit for e in reversed(m.info.entries)} for m in (first, second))
    both = [identity for identity in a if same_space and identity in b]
    return Agreement(first.name, second.name, len(both), rank_correlation([a[i] for i in both], [b[i] for i in both]))
