"""The report of a judging: who is best, how surely, whether their probabilities come true, and the found network drawn.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from foresee.benchmarks.judging import Judged, Standing
from foresee.benchmarks.judging import judge as run_judging
from foresee.benchmarks.judging.result import MEASURES
from foresee.errors import ForeseeError
from foresee.quantities import format_quantity, format_seconds
from foresee.report.asked import flatten
from foresee.report.compare import COLOURS
from foresee.report.figures import Chart, Layer, Scale
from foresee.report.graphs import draw, palette
from foresee.report.html import Drawing, drawing
from foresee.report.page import page, report_in
from foresee.runs.folder import write_whole
from foresee.spaces.base import Graph
from foresee.spaces.candidate import Candidate
from foresee.statistics import Estimate

P = ParamSpec("P")


@dataclass(frozen=True)
class Row:
    """One contestant of the table: its place in the colours, and its numbers in words, one for each measure."""

    number: int
    standing: Standing
    means: tuple[tuple[str, float], ...]
    differences: tuple[str, ...]
    reference: bool

    @property
    def role(self) -> str:
        """Its colour."""
        return f"series-{self.number % COLOURS}"

    @property
    def size(self) -> str:
        """Its parameters."""
        return "–" if self.standing.parameters is None else format_quantity(self.standing.parameters)


@dataclass(frozen=True)
class JudgedInfo:
    """All that the page says; `rows` come best first."""

    title: str
    headline: str
    lead: str
    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    reference: str
    facts: tuple[tuple[str, str], ...]
    problems: tuple[tuple[str, int, int, str], ...]
    architectures: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]


def tell(judged: Judged) -> JudgedInfo:
    """The plain values of the page."""
    numbers = {one.label: place for place, one in enumerate(judged.contestants)}
    rows = tuple(
        Row(
            numbers[label],
            one,
            tuple((exact(one.means[key]), one.means[key].value) for key in judged.measures),
            tuple(exact(one.differences[key], signed=True) for key in judged.measures if key in one.differences),
            label == judged.reference,
        )
        for label, one in judged.standings.items()
    )
    data, recipe = judged.asked["data"], judged.asked["recipe"]
    seeds = sorted({one.seed for one in judged.verdicts})
    names = tuple(MEASURES[key][0] for key in judged.measures)
    facts = (
        ("Data", f"{data['name']}, {data['samples']:,} rows"),
        ("Folds", f"{data['folds']}, each the test once; {100 * data['validation']:g} % of the rest for validation"),
        ("Seeds", _seeds_text(seeds)),
        ("Recipe", str(recipe.get("name") or "of your own")),
        ("Compared with", judged.reference),
    )
    return JudgedInfo(
        title=f"{data['name']} · {len(judged.contestants)} judged",
        headline=_headline(judged, names[0]),
        lead=_lead(judged),
        measures=names,
        rows=rows,
        reference=judged.reference,
        facts=facts,
        problems=tuple(judged.reasons),
        architectures=tuple(
            (one.label, str(one.made.architecture)) for one in judged.contestants if isinstance(one.made, Candidate)
        ),
        settings=flatten({"recipe": recipe, "data": data, "seed": judged.asked["seed"]}),
        environment=flatten(judged.environment),
    )


def exact(estimate: Estimate, *, signed: bool = False) -> str:
    """Four digits and the interval: differences that matter are in the third.

    >>> exact(Estimate(0.78123, 0.7799, 0.7825)), exact(Estimate(-0.0012), signed=True)
    ('0.7812 [0.7799, 0.7825]', '−0.0012')
    """
    if math.isnan(estimate.value):
        return "–"
    form = "{:+.4f}" if signed else "{:.4f}"
    words = form.format(estimate.value)
    if not math.isnan(estimate.low):
        words += f" [{form.format(estimate.low)}, {form.format(estimate.high)}]"
    return words.replace("-", "−")


def _headline(judged: Judged, name: str) -> str:
    first = next(iter(judged.standings.values()))
    mean = first.means[judged.measures[0]]
    return "Nobody could be judged" if math.isnan(mean.value) else f"{first.label} is first: {name} {mean.value:.4f}"


def _lead(judged: Judged) -> str:
    """Who is surely better or worse than the reference, by the interval of the paired difference."""
    key = judged.measures[0]
    name, higher = MEASURES[key]
    better: list[str] = []
    worse: list[str] = []
    open_: list[str] = []
    for label, one in judged.standings.items():
        found = one.differences.get(key)
        if found is None or math.isnan(found.value):
            continue
        if math.isnan(found.low) or found.low <= 0 <= found.high:
            open_.append(label)
        else:
            (better if (found.low > 0) == higher else worse).append(label)
    parts = [
        f"{', '.join(some)} {'is' if len(some) == 1 else 'are'} {how}"
        for some, how in ((better, "surely better"), (open_, "not surely different"), (worse, "surely worse"))
        if some
    ]
    return (
        f"By {name}, compared with {judged.reference} on the same folds and seeds: {'; '.join(parts)}." if parts else ""
    )


# -- pictures -------------------------------------------------------------------------------------------------------------
def charts(judged: Judged) -> list[Drawing]:
    """Every trial as a dot, one column for each contestant; for each measure one chart."""
    made = []
    for key in judged.measures:
        name = MEASURES[key][0]
        layers: list[Layer] = []
        for place, one in enumerate(judged.contestants):
            values = judged.numbers(one.label, key)
            if not values:
                continue
            seeds = sorted({seed for _, seed in values})
            # dots of one seed stand above each other, so that a fold that is hard for all is seen in every column
            across = [1 + place + 0.12 * (seeds.index(seed) - (len(seeds) - 1) / 2) for _, seed in values]
            role, mean = f"series-{place % COLOURS}", judged.standings[one.label].means[key].value
            ids = tuple(f"{place}:{fold}:{seed}" for fold, seed in values)
            layers.append(Layer("dots", role, tuple(across), tuple(values.values()), one.label, ids))
            layers.append(Layer("straight", role, (place + 0.65, place + 1.35), (mean, mean), ""))
        if layers:
            ends = "; ".join(f"{label} {exact(one.means[key])}" for label, one in judged.standings.items())
            chart = Chart(
                f"trials-{key}", f"{name} of every trial: {ends}", "contestant", name, "whole", tuple(layers), Scale()
            )
            made.append(drawing(f"{name} of every trial", chart, "A dot is one training, a line the mean over folds."))
    return made


def calibrations(judged: Judged) -> list[Drawing]:
    """Observed against predicted, all trials of a contestant together."""
    layers = [Layer("straight", "muted", (0.0, 100.0), (0.0, 100.0), "as predicted")]
    for place, one in enumerate(judged.contestants):
        there = [bin_ for bin_ in judged.standings[one.label].calibration if bin_.count]
        if there:
            x = tuple(100 * bin_.confidence for bin_ in there)
            y = tuple(100 * bin_.accuracy for bin_ in there)
            layers.append(Layer("straight", f"series-{place % COLOURS}", x, y, one.label))
    if len(layers) == 1:
        return []
    answers = any(one.test.yes_or_no for one in judged.verdicts if one.test is not None)
    across, up = ("predicted yes in %", "observed yes in %") if answers else ("confidence in %", "right in %")
    errors = {label: one.calibration_error for label, one in judged.standings.items()}
    words = "; ".join(f"{label} {error:.4f}" for label, error in errors.items() if error is not None)
    chart = Chart(
        "calibration", f"Mean gap between predicted and observed: {words}", across, up, "plain", tuple(layers),
        Scale(low=0, high=102),
    )  # fmt: skip
    return [drawing("Calibration", chart, f"Mean gap: {words}.")]


def networks(judged: Judged) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The drawn networks of those that came from a space, and the colours of their operations."""
    graphs: dict[str, list[Graph]] = {}
    for one in judged.contestants:
        if isinstance(one.made, Candidate):
            try:
                graphs[one.label] = one.made.space.graph(one.made.architecture)
            except ForeseeError:  # a space that draws nothing
                continue
    colours = palette(graph for some in graphs.values() for graph in some)
    drawn = [
        {
            "label": label,
            "svgs": [
                draw(graph, colours, name=f"net{place}-{i}", title=f"{graph.title or 'network'} of {label}")
                for i, graph in enumerate(some)
            ],
        }
        for place, (label, some) in enumerate(graphs.items())
        if some
    ]
    return drawn, colours


def hover(judged: Judged) -> dict[str, list[str]]:
    """What the page says of the dot of a trial."""
    places = {one.label: place for place, one in enumerate(judged.contestants)}
    return {
        f"{places[one.contestant]}:{one.fold}:{one.seed}": [
            f"{one.contestant}, fold {one.fold + 1}, seed {one.seed}",
            str(one.test),
        ]
        for one in judged.verdicts
        if one.test is not None
    }


# -- the page -------------------------------------------------------------------------------------------------------------
def render(judged: Judged) -> str:
    """The report as HTML text."""
    info = tell(judged)
    drawn, operations = networks(judged)
    return page(
        "judged.html",
        title=info.title,
        info=info,
        charts=charts(judged),
        calibration=calibrations(judged),
        drawn=drawn,
        operations=operations,
        hover=hover(judged),
        times={row.standing.label: format_seconds(row.standing.seconds) for row in info.rows},
    )


def write(judged: Judged, folder: str | Path | None = None) -> Path:
    """Write `report.html` into the folder of the judging (or another), whole or not at all."""
    return write_whole(report_in(folder or judged.folder, "judging"), render(judged))


def reported(judging: Callable[P, Judged]) -> Callable[P, Judged]:
    """The same, writing `report.html` beside every judging that is kept."""

    @wraps(judging)
    def wrapped(*args: P.args, **given: P.kwargs) -> Judged:
        judged = judging(*args, **given)
        if judged.folder is not None:
            write(judged)
        return judged

    return wrapped


judge = reported(run_judging)


def _seeds_text(seeds: Sequence[int]) -> str:
    if not seeds:
        return "none"
    return f"{len(seeds)} on each fold, {seeds[0]}" + (f" to {seeds[-1]}" if len(seeds) > 1 else "")
