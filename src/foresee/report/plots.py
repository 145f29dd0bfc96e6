"""Results as matplotlib figures, for notebooks: `run.plot()`, `bench.plot()`, `ranking.plot()`, of a calibration, a contest.

The charts are those of the reports. Nothing is written, matplotlib's settings are left as they are, and pyplot, which keeps
every figure it makes, is not asked. A figure shows itself in a notebook, on white, whatever the page's colours are.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from foresee.benchmarks.benches import Bench
from foresee.benchmarks.calibrated import CalibratedTable
from foresee.benchmarks.contest import Contest
from foresee.errors import InputError, UnknownNameError
from foresee.quantities import format_quantity
from foresee.report.bench import scatter, tell
from foresee.report.calibrate import pictures
from foresee.report.contest import charts
from foresee.report.figures import (
    ROLES,
    SIZE,
    Chart,
    draw,
    head,
    printable,
    progress_chart,
    scale_for,
    style,
    tradeoff_chart,
    value_label,
)
from foresee.report.info import Measure, summarise
from foresee.scoring.ranking import Ranking
from foresee.searchers.run import Run

#: dots to the inch of a figure in a notebook
DPI = 110
#: panels beside one another
ABREAST = 4


class Picture(Figure):
    """A matplotlib figure that a notebook shows also where pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with style(ROLES):
            self.savefig(buffer, format="png", facecolor=ROLES["surface"])
        return buffer.getvalue()


def of_run(run: Run) -> Figure:
    """The score over the candidates with the best so far, and against the first cost, with the front."""
    info = summarise(run.record)
    if not info.entries:
        raise InputError("no candidate of this run has a score: there is nothing to plot")
    charts = [progress_chart("by-candidate", info.by_candidate, info.measure)]
    for one in info.tradeoffs[:1]:
        several = len(info.objectives) > 1 and one.against == info.objectives[1]
        charts.append(tradeoff_chart("tradeoff", one, info.measure, info.front if several else None))
    return _charts(charts)


def of_bench(bench: Bench, proxy: str | None = None) -> Figure:
    """The rank correlations of all proxies with their intervals, and the values of one (the best) against the truth."""
    info = tell(bench)
    rows = {row.name: row for row in info.rows}
    if proxy is not None and proxy not in rows:
        raise UnknownNameError("proxy of this bench", proxy, rows)
    chosen = rows[proxy] if proxy is not None else info.proxy or info.rows[0]
    with style(ROLES):
        made, (left, right) = _panels(1, 2, SIZE[0], max(SIZE[1], 40.0 + 22 * len(rows)))
        found = [row.found.spearman for row in info.rows]
        names = [f"{row.name} (baseline)" if row.baseline else row.name for row in info.rows]
        roles = ["dot" if row.baseline else "best" for row in info.rows]
        ends = [(one.low, one.high) for one in found]
        values = [one.value for one in found]
        missing = {place: "undefined" for place, value in enumerate(values) if math.isnan(value)}
        _rows(left, f"Spearman with {info.target}, n = {info.n}", names, values, ends, roles, missing)
        left.axvline(0, color=ROLES["muted"], linewidth=0.8, zorder=1)
        left.set_xlim(info.axis.low, info.axis.high)
        draw(right, scatter(bench, chosen, 0).chart)
    return made


def of_calibration(found: CalibratedTable) -> Figure:
    """Predicted against measured values, and beside them the untrained score: of what was held out, and of what is known."""
    return _charts([picture.chart for picture in pictures(found)])


def of_contest(contest: Contest) -> Figure:
    """Mean regret over evaluations and over time, with bands."""
    drawn = charts(contest)
    if not drawn:
        raise InputError("the table holds no pick of this comparison: there is nothing to plot")
    return _charts([one.chart for one in drawn])


def of_ranking(ranking: Ranking) -> Figure:
    """The scores of the networks, best on top: a panel for each proxy, those that vote first."""
    names = [*ranking.votes, *ranking.baselines]
    across = min(len(names), ABREAST)
    down = math.ceil(len(names) / across)
    with style(ROLES):
        width = SIZE[0] if across == 1 else 0.55 * SIZE[0]
        made, panels = _panels(down, across, width, 60.0 + 22 * len(ranking), sharey=True)
        for axes, name in zip(panels, names, strict=False):
            scores = [row.scores[name] for row in ranking]
            measure = Measure(name, scores[0].direction)
            values = [math.nan if one.value is None else one.value for one in scores]
            spreads = [one.spread or 0.0 for one in scores]
            ends = [(value - spread, value + spread) for value, spread in zip(values, spreads, strict=True)]
            roles = ["best" if name in ranking.votes else "dot"] * len(scores)
            title = value_label(measure) if name in ranking.votes else f"{name} (baseline)"
            missing = {place: one.status for place, one in enumerate(scores) if one.value is None}
            _rows(axes, title, list(ranking.order), values, ends, roles, missing)
            if scale_for([value for value in values if math.isfinite(value)], measure).log:
                axes.set_xscale("log")
                axes.xaxis.set_major_locator(LogLocator(numticks=4))
                axes.xaxis.set_minor_formatter(NullFormatter())
        for axes in panels[len(names) :]:
            axes.remove()
    return made


# -- panels ---------------------------------------------------------------------------------------------------------------
def _charts(charts: Sequence[Chart]) -> Figure:
    """Charts of the reports, two beside one another."""
    across = min(len(charts), 2)
    with style(ROLES):
        made, panels = _panels(math.ceil(len(charts) / across), across, *SIZE)
        for axes, chart in zip(panels, charts, strict=False):
            draw(axes, chart)
        for axes in panels[len(charts) :]:
            axes.remove()
    return made


def _panels(down: int, across: int, width: float, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure of axes, each so many points wide and high; call it in our `style`."""
    size = (width * across / 72, height * down / 72)
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    made = Picture(figsize=size, dpi=DPI, layout=layout, facecolor=ROLES["surface"])
    return made, list(made.subplots(down, across, squeeze=False, **options).flat)


def _rows(
    axes: Axes,
    title: str,
    names: Sequence[str],
    values: Sequence[float],
    ends: Sequence[tuple[float, float]],
    roles: Sequence[str],
    missing: Mapping[int, str] | None = None,
) -> None:
    """A dot for each name, the first on top, with its interval; a word in the place of a dot that is missing."""
    for place, (value, (low, high), role) in enumerate(zip(values, ends, roles, strict=True)):
        if math.isfinite(value):
            axes.plot([value], [place], "o", color=ROLES[role], ms=6, mew=0, zorder=3)
        if math.isfinite(low) and math.isfinite(high) and low < high:
            axes.hlines(place, low, high, color=ROLES[role], linewidth=2.2, alpha=0.45, zorder=2)
    for place, word in (missing or {}).items():
        axes.annotate(
            printable(word), (0.5, place), xycoords=("axes fraction", "data"), ha="center", va="center",
            color=ROLES["limit"], fontsize=9,
        )  # fmt: skip
    axes.set_yticks(range(len(names)), [printable(_short(name)) for name in names], parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(_number))
    axes.grid(axis="x", color=ROLES["grid"], linewidth=0.8)
    axes.margins(x=0.12)
    head(axes, title)
    axes.tick_params(axis="y", labelcolor=ROLES["ink"])


def _number(value: float, _: Any) -> str:
    return format_quantity(value) if abs(value) >= 1e4 else f"{value:g}".replace("-", "−")


def _short(name: str) -> str:
    return name if len(name) <= 32 else f"{name[:31]}…"
