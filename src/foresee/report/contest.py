"""The report of a contest: who comes nearest to the table's best, after how many evaluations, in what time, how surely.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from foresee.benchmarks.contest import Contest
from foresee.benchmarks.contest import compare as run_contest
from foresee.benchmarks.contest.result import Curve, Standing, in_words
from foresee.report.asked import flatten, limit_text, read_limits
from foresee.report.commands import sets, shown_path
from foresee.report.compare import COLOURS
from foresee.report.figures import Chart, Layer, Scale, save_png, time_unit
from foresee.report.html import Drawing, drawing
from foresee.report.intervals import Axis
from foresee.report.page import page, report_in
from foresee.runs.folder import write_whole
from foresee.statistics import Estimate

#: the picture beside the page
PICTURE = "regret.png"
#: from such a ratio of the largest to the least on, an axis is logarithmic
RATIO = 8.0
#: of a logarithmic axis, bands end this far below the least mean
BELOW = 3.0

P = ParamSpec("P")


@dataclass(frozen=True)
class Row:
    """One searcher of the table: its place in the colours, and how it did."""

    number: int
    standing: Standing
    follows: str
    picks: tuple[tuple[int, str, str, bool], ...]

    @property
    def role(self) -> str:
        """Its colour."""
        return f"series-{self.number % COLOURS}"

    @property
    def judged(self) -> str:
        """Mean and spread of the judged numbers."""
        return in_words(self.standing.judged.value, self.standing.spread).replace("-", "−")


@dataclass(frozen=True)
class ContestInfo:
    """All that the page says. `rows` come best first; `axis` is that of the bars."""

    title: str
    judge: str
    rows: tuple[Row, ...]
    best: float
    architecture: str
    axis: Axis
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    problems: tuple[tuple[str, int, str], ...]
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    command: str

    @property
    def first(self) -> Row | None:
        """Who comes nearest to the best; None where the table holds nobody's pick."""
        return self.rows[0] if self.rows and not math.isnan(self.rows[0].standing.regret.value) else None

    @property
    def verdict(self) -> str:
        """Who is not surely behind, by the intervals."""
        if self.first is None:
            return ""
        ours = self.first.standing.regret
        if math.isnan(ours.high):
            return "One run of each says nothing about luck: ask for several seeds."
        rivals = [row for row in self.rows[1:] if not math.isnan(row.standing.regret.value)]
        near = [row.standing.label for row in rivals if not row.standing.regret.low > ours.high]
        if not rivals:
            return ""
        if not near:
            return f"It is surely ahead: the interval of {rivals[0].standing.label}, the next, lies above its own."
        if len(near) == 1:
            return f"The interval of {near[0]} overlaps with its own: it is not surely behind."
        return (
            f"The intervals of {', '.join(near[:-1])} and {near[-1]} overlap with its own: they are not surely behind."
        )


def tell(contest: Contest) -> ContestInfo:
    """The plain values of the page."""
    asked, truth, look = contest.settings, contest.truth, contest.settings.scoring
    numbers = {label: number for number, label in enumerate(contest.runs)}
    rows = tuple(
        Row(numbers[label], one, " + ".join(one.entry.follows), _picks(contest, label))
        for label, one in contest.standings.items()
    )
    limits = read_limits({"limits": asked.limits})
    within = ", ".join(limit_text(name, limit) for name, limit in limits.items())
    shape = " × ".join(map(str, look.inputs or ()))
    facts = {
        "Table": Path(asked.table).name,
        "Judged by": f"{asked.judge} ({truth.direction} is better)",
        "Seen": f"{asked.target}, by those who follow measured" if asked.target else "nothing of the table",
        "Best of the table": f"{truth.best:g} of {truth.feasible:,} architectures, median {truth.median:g}",
        "Limits": within and f"{within}: {truth.feasible:,} of {truth.of:,} meet them",
        "Runs": f"{asked.seeds} of each, seeds {look.seed} to {look.seed + asked.seeds - 1}",
        "Budget": f"{asked.budget:,} evaluations",
        "Networks": f"{asked.space}, {shape} → {look.outputs} outputs, looking at {look.data}",
    }
    return ContestInfo(
        title=f"{asked.space} · {asked.judge}",
        judge=asked.judge,
        rows=rows,
        best=truth.best,
        architecture=truth.architecture,
        axis=_axis([row.standing.regret for row in rows]),
        facts=tuple((label, text) for label, text in facts.items() if text),
        notes=contest.notes,
        problems=tuple(contest.reasons),
        settings=flatten(asked.to_json()),
        environment=flatten(contest.environment),
        command=command(contest),
    )


def _picks(contest: Contest, label: str) -> tuple[tuple[int, str, str, bool], ...]:
    """By seed: what was picked, its number, and whether it is the best of the table."""
    found = []
    for one in contest.runs[label]:
        pick = one.pick
        if pick is None:
            found.append((one.seed, "", "no pick", False))
        elif pick.judged is None:
            found.append((one.seed, pick.architecture, "not in the table", False))
        else:
            found.append((one.seed, pick.architecture, f"{pick.judged:g}", pick.judged == contest.truth.best))
    return tuple(found)


def _axis(regrets: Sequence[Estimate]) -> Axis:
    """From 0 to a little beyond the largest mean; an interval that goes on is cut there."""
    means = [one.value for one in regrets if math.isfinite(one.value)]
    ends = [one.high for one in regrets if math.isfinite(one.high)]
    most = max(means, default=0.0)
    return Axis(0.0, max(min(max(ends, default=most), 2 * most), most) or 1.0)


def render(contest: Contest) -> str:
    """The report as HTML text."""
    info = tell(contest)
    return page("contest.html", title=info.title, info=info, charts=charts(contest))


def write(contest: Contest, folder: str | Path | None = None) -> Path:
    """Write `report.html` and its first picture into the contest's folder (or another), each whole or not at all."""
    path = report_in(folder or contest.folder, "comparison")
    drawn = charts(contest)
    if drawn:
        save_png(drawn[0].chart, path.with_name(PICTURE))
    return write_whole(path, render(contest))


def command(contest: Contest) -> str:
    """The line that does it again; empty where data or table were handed over in Python."""
    asked, look = contest.settings, contest.settings.scoring
    plain = all(side in ("max", "min") for sides in asked.limits.values() for side in sides)
    if look.data.startswith("given:") or not asked.table or not plain:
        return ""
    words = ["foresee", "compare", asked.space, "--table", asked.table, "--searchers", ",".join(asked.searchers)]
    words += ["--judge", asked.judge, *(["--target", asked.target] if asked.target else [])]
    words += ["--seeds", str(asked.seeds), "--budget", str(asked.budget), "--seed", str(look.seed)]
    words += [word for name in look.proxies for word in ("--proxy", name)]
    words += ["--data", look.data, "--input", "x".join(map(str, look.inputs or ())), "--outputs", str(look.outputs)]
    words += [
        word
        for name, sides in asked.limits.items()
        for side, bound in sides.items()
        for word in (f"--{side}-{name}", str(bound))
    ]
    words += [] if look.batch_size is None else ["--batch-size", str(look.batch_size)]
    words += [] if look.repeats == 1 else ["--repeats", str(look.repeats)]
    words += [] if look.threads == 1 else ["--threads", str(look.threads)]
    words += [] if look.device == "cpu" else ["--device", look.device]
    words += sets({"space": asked.space_settings, **look.proxy_settings})
    words += ["--out", shown_path(contest.folder) if contest.folder else "runs/compare"]
    return shlex.join(words)


# -- pictures -------------------------------------------------------------------------------------------------------------
def charts(contest: Contest) -> list[Drawing]:
    """Regret over evaluations and over time, with bands; none where the table holds nobody's pick."""
    spent = {label: contest.over_evaluations(label) for label in contest.runs}
    passed = {label: contest.over_time(label) for label in contest.runs}
    if not any(math.isfinite(one.value) for curve in spent.values() for one in curve.regret):
        return []
    longest = max((curve.at[-1] for curve in passed.values() if curve.at), default=0.0)
    factor, unit = time_unit(longest)
    scaled = {label: Curve(tuple(x / factor for x in curve.at), curve.regret) for label, curve in passed.items()}
    starts = [curve.at[0] for curve in scaled.values() if curve.at]
    wide = min(starts, default=0.0) > 0 and max(c.at[-1] for c in scaled.values() if c.at) / min(starts) > RATIO
    bands = "The bands are 95 % intervals over seeds."
    return [
        drawing(
            "Over evaluations",
            _chart("evaluations", spent, "evaluations", contest.settings.judge),
            f"{bands} Who ends before the budget keeps the pick.",
        ),
        drawing(
            f"Over {unit} of work",
            _chart("time", scaled, unit, contest.settings.judge, x_log=wide),
            "Steps of a searcher (a pool, a gradient search) are in its time; looking into the table is not training.",
        ),
    ]


def _chart(name: str, curves: dict[str, Curve], unit: str, judge: str, *, x_log: bool = False) -> Chart:
    means = [one.value for curve in curves.values() for one in curve.regret if math.isfinite(one.value)]
    log = min(means) > 0 and max(means) / min(means) > RATIO
    floor = min(means) / BELOW if log else 0.0
    ceiling = max(means)
    layers: list[Layer] = []
    for number, (label, curve) in enumerate(curves.items()):
        known = [(x, one) for x, one in zip(curve.at, curve.regret, strict=True) if math.isfinite(one.value)]
        if not known:
            continue
        role, x = f"series-{number % COLOURS}", tuple(at for at, _ in known)
        ends = [(one.low, one.high) if math.isfinite(one.low) else (one.value, one.value) for _, one in known]
        low, high = tuple(max(end, floor) for end, _ in ends), tuple(max(end, floor) for _, end in ends)
        layers.append(Layer("band", role, x, low, "", to=high))
        layers.append(Layer("line", role, x, tuple(max(one.value, floor) for _, one in known), label))
    ended = "; ".join(f"{layer.label} ends at {layer.y[-1]:.3g}" for layer in layers if layer.kind == "line")
    return Chart(
        name, f"Mean regret of {judge} over {unit}: {ended}", unit, f"regret of {judge}",
        "plain" if unit != "evaluations" else "whole", tuple(layers),
        Scale(log=log, low=floor, high=1.15 * ceiling if ceiling else None), x_log=x_log,
    )  # fmt: skip


def reported(contending: Callable[P, Contest]) -> Callable[P, Contest]:
    """The same, writing `report.html` beside every contest that is kept."""

    @wraps(contending)
    def wrapped(*args: P.args, **given: P.kwargs) -> Contest:
        contest = contending(*args, **given)
        if contest.folder is not None:
            write(contest)
        return contest

    return wrapped


compare = reported(run_contest)
