"""The report of a bench: which proxies foresee the table's numbers, how surely, and where each of them errs.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path

from foresee.benchmarks.agreement import Agreement, between
from foresee.benchmarks.benches import BASELINES, Bench
from foresee.quantities import format_quantity
from foresee.report.asked import flatten
from foresee.report.commands import sets, shown_path
from foresee.report.figures import Chart, Layer, scale_for, value_axis, value_label
from foresee.report.html import Drawing, drawing
from foresee.report.info import Measure
from foresee.report.intervals import Axis, in_words
from foresee.report.page import page, report_in
from foresee.report.words import number, shortened
from foresee.runs.folder import write_whole
from foresee.statistics import Correlations, Estimate

#: architectures whose numbers the page tells under the pointer
TOLD = 3000
#: reasons shown for each proxy
REASONS = 5


@dataclass(frozen=True)
class Row:
    """One proxy of the table: its correlations, and Spearman's over the single repeats from least to greatest."""

    name: str
    baseline: bool
    found: Correlations
    repeats: tuple[float, ...]
    seconds: float

    @property
    def last(self) -> Estimate:
        """Spearman's with the failures in the last places."""
        return (self.found.with_failures or self.found).spearman


@dataclass(frozen=True)
class BenchInfo:
    """All that the page says.

    `rows` come best first by Spearman. `proxy` and `baseline` are the best of either kind, where one has a correlation.
    `axis` is that of the bars. `problems` are proxy, how many scores, and the reason.
    """

    title: str
    target: str
    n: int
    rows: tuple[Row, ...]
    proxy: Row | None
    baseline: Row | None
    axis: Axis
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    problems: tuple[tuple[str, int, str], ...]
    agreement: Agreement
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    command: str

    @property
    def verdict(self) -> str:
        """How the best proxy stands against the best baseline, by their intervals."""
        if self.proxy is None or self.baseline is None:
            return ""
        ours, theirs = self.proxy.found.spearman, self.baseline.found.spearman
        name, other = self.proxy.name, self.baseline.name
        if ours.value <= theirs.value:
            return f"No proxy orders this sample better than {other} does, with {theirs}."
        if ours.low > theirs.high:
            return f"{name} orders this sample better than any baseline: {other}, the best of them, has {theirs}."
        return f"{other}, the best baseline, has {theirs}: the intervals overlap, so {name} is not surely better."


def tell(bench: Bench) -> BenchInfo:
    """The plain values of the page."""
    settings = bench.settings
    rows = sorted(
        (
            Row(name, name in BASELINES, found, tuple(sorted(bench.by_repeat[name])), bench.seconds[name])
            for name, found in bench.correlations.items()
        ),
        key=lambda row: -math.inf if math.isnan(row.found.spearman.value) else row.found.spearman.value,
        reverse=True,
    )
    known = [row for row in rows if not math.isnan(row.found.spearman.value)]
    shape = " × ".join(map(str, settings.task.inputs))
    return BenchInfo(
        title=f"{settings.space} · {settings.target}",
        target=settings.target,
        n=len(bench.texts),
        rows=tuple(rows),
        proxy=next((row for row in known if not row.baseline), None),
        baseline=next((row for row in known if row.baseline), None),
        axis=Axis.around(row.found.spearman for row in known),
        facts=(
            ("Table", Path(settings.table).name),
            ("Target", f"{settings.target} ({bench.direction} is better)"),
            ("Sample", f"{len(bench.texts):,} of {bench.of:,} architectures, seed {settings.scoring.seed}"),
            ("Repeats", f"{settings.scoring.repeats}"),
            ("Networks", f"{settings.space}, {shape} → {settings.task.outputs} outputs"),
            ("Looked at", bench.looked_at),
        ),
        notes=bench.notes,
        problems=tuple(
            (name, count, reason)
            for name, matrix in bench.matrices.items()
            for reason, count in matrix.reasons.most_common(REASONS)
        ),
        agreement=between({name: matrix.merit for name, matrix in bench.matrices.items()}),
        settings=flatten(settings.to_json()),
        environment=flatten(bench.environment),
        command=command(bench),
    )


def render(bench: Bench) -> str:
    """The report as HTML text."""
    info = tell(bench)
    return page(
        "bench.html",
        title=info.title,
        info=info,
        scatters=[scatter(bench, row, index) for index, row in enumerate(info.rows) if row.found.n],
        hover=_hover(bench),
    )


def write(bench: Bench, folder: str | Path | None = None) -> Path:
    """Write `report.html` into the bench's folder (or another), whole or not at all."""
    return write_whole(report_in(folder or bench.folder, "bench"), render(bench))


def command(bench: Bench) -> str:
    """The line that does it again; empty where data or space were handed over in Python."""
    settings, look, task = bench.settings, bench.settings.scoring, bench.settings.task
    if look.data.startswith("given:") or not settings.table:
        return ""
    words = ["foresee", "bench", settings.space, "--table", settings.table, "--target", settings.target]
    words += [word for name in look.proxies if name not in BASELINES for word in ("--proxy", name)]
    words += ["--sample", str(settings.sample or 0), "--seed", str(look.seed), "--repeats", str(look.repeats)]
    words += ["--data", look.data, "--input", "x".join(map(str, task.inputs)), "--outputs", str(task.outputs)]
    words += [] if look.batch_size is None else ["--batch-size", str(look.batch_size)]
    words += [] if look.threads == 1 else ["--threads", str(look.threads)]
    words += [] if look.device == "cpu" else ["--device", look.device]
    words += [] if settings.bootstrap == 1000 else ["--bootstrap", str(settings.bootstrap)]
    words += sets({"space": settings.space_settings, **look.proxy_settings})
    words += ["--out", shown_path(bench.folder) if bench.folder else "runs/bench"]
    return shlex.join(words)


# -- pictures -------------------------------------------------------------------------------------------------------------
def scatter(bench: Bench, row: Row, index: int) -> Drawing:
    """Value against the table's number, one dot for each architecture; far worse ones on either side are left out."""
    matrix = bench.matrices[row.name]
    values, truth = matrix.values.mean(axis=1).tolist(), bench.truth.tolist()
    target = Measure(bench.settings.target, bench.direction)
    bounds = scale_for(truth, target)
    valid = [i for i, value in enumerate(values) if math.isfinite(value)]
    shown = [i for i in valid if bounds.holds(truth[i])]
    points, measure, scale = value_axis([values[i] for i in shown], Measure(row.name, matrix.direction))
    chart = Chart(
        name=f"proxy{index}",
        text=f"{row.name} against {target.name} for {len(shown)} architectures; Spearman {row.found.spearman}",
        x_label=f"{target.name} ({bench.direction} is better)",
        y_label=value_label(measure),
        x_unit="quantity",
        layers=(
            Layer("dots", "dot" if row.baseline else "best", tuple(truth[i] for i in shown), points, "", tuple(shown)),
        ),
        scale=scale,
    )
    note = f"Spearman {in_words(row.found.spearman)}, Kendall {in_words(row.found.kendall)}."
    cut, failed = len(valid) - len(shown), len(values) - len(valid)
    note += f" {cut} far worse in the table {'is' if cut == 1 else 'are'} left out." if cut else ""
    note += f" {failed} without a value." if failed else ""
    return drawing(row.name + (" (baseline)" if row.baseline else ""), chart, note)


def _hover(bench: Bench) -> dict[str, list[str]]:
    """By place in the sample: the architecture, its number and its values."""
    names = list(bench.matrices)
    means = {name: bench.matrices[name].values.mean(axis=1) for name in names}
    told = {}
    for index, (text, truth) in enumerate(zip(bench.texts[:TOLD], bench.truth[:TOLD], strict=True)):
        values = [f"{name} {_value(name, float(means[name][index]))}" for name in names if name != "random"]
        line = " · ".join([f"{bench.settings.target} {number(float(truth))}", *values])
        told[str(index)] = [shortened(text), line, "Architecture"]
    return told


def _value(name: str, value: float) -> str:
    return format_quantity(value) if name in ("params", "macs") and math.isfinite(value) else number(value)
