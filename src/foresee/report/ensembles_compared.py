"""The report of samplers compared: who errs least and how surely, at which budget, how good members are and how they differ.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from foresee.ensembles.finding.compared import EnsembleComparison
from foresee.ensembles.finding.comparing import compare_ensembles as compare_quietly
from foresee.ensembles.finding.result import EnsembleRun
from foresee.errors import ForeseeError
from foresee.quantities import format_seconds
from foresee.report import ensemble as ensembles
from foresee.report.asked import flatten
from foresee.report.compare import COLOURS
from foresee.report.ensembles_pictures import charts, hover, map_of, tradeoff
from foresee.report.page import page, report_in
from foresee.report.words import times
from foresee.runs.environment import environment
from foresee.runs.folder import write_whole
from foresee.statistics import Estimate

P = ParamSpec("P")

#: measures of the table, after the error -> the head of the column, and by how much a value is multiplied
MEASURES = {
    "best": ("Best member %", 100.0),
    "ate": ("Mean member %", 100.0),
    "gain": ("Gain over the best", 100.0),
    "ppd": ("Disagreement %", 100.0),
    "nll": ("Log likelihood, negative", 1.0),
    "calibration_error": ("Calibration error", 1.0),
}
#: parts of a budget -> the head of the column
BUDGET = {
    "networks": "Networks trained",
    "epochs": "Epochs of these",
    "supernet_epochs": "Epochs of a supernet",
    "evaluations": "Looks by inherited weights",
    "scores": "Scores by a proxy",
}


@dataclass(frozen=True)
class Row:
    """A sampler of the table; `budget` has one text for each part of it and one for the time."""

    number: int
    label: str
    error: Estimate
    words: str
    difference: str
    reference: bool
    measures: tuple[tuple[str, float], ...]
    budget: tuple[str, ...]
    failed: int
    pages: tuple[tuple[int, str], ...]

    @property
    def role(self) -> str:
        """Its colour."""
        return f"series-{self.number % COLOURS}"


@dataclass(frozen=True)
class ComparedInfo:
    """All that the page says; `rows` come best first."""

    title: str
    headline: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    reference: str
    low: float
    high: float
    problems: tuple[tuple[str, int, str], ...]
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]


def tell(found: EnsembleComparison, runs: Sequence[tuple[str, int, EnsembleRun]] = ()) -> ComparedInfo:
    """The plain values of the page."""
    seeds = sorted({one.seed for one in found.rows})
    there = sorted((label for label in found.labels if found.of(label)), key=lambda one: found.mean(one).value)
    ends = [end for one in there for end in _ends(found.mean(one))]
    first = runs[0][2] if runs else None
    facts = [
        ("Samplers", str(len(found.labels))),
        ("Seeds", ", ".join(map(str, seeds))),
        ("Compared with", found.reference),
    ]
    if first is not None:
        said, data = first.settings, first.data
        facts = [
            ("Space", said.space),
            ("Data", ", ".join(f"{one['samples']:,} {key}" for key, one in data.items())),
            (
                "Members",
                f"{said.size}, by {said.member_recipe.name or 'a recipe'}, {times(said.member_recipe.epochs, 'epoch')} each",
            ),
            *facts,
        ]
    return ComparedInfo(
        title=f"{len(found.labels)} sampler{'s' if len(found.labels) > 1 else ''} of ensembles · {_seeds(seeds)}",
        headline=_headline(found, there),
        lead=_lead(found, there),
        facts=tuple(facts),
        rows=tuple(_row(found, label, {(a, b) for a, b, _ in runs}) for label in there),
        reference=found.reference,
        low=min(ends, default=0.0),
        high=max(ends, default=1.0),
        problems=tuple((one.label, one.seed, one.reason) for one in found.rows if not one.ok),
        settings=() if first is None else flatten(_alike(first)),
        environment=flatten(environment()),
    )


def _alike(run: EnsembleRun) -> dict[str, object]:
    return {
        key: value
        for key, value in run.settings.to_json().items()
        if value not in (None, {}, []) and key not in ("sampler", "seed")
    }


def _ends(one: Estimate) -> list[float]:
    return [end for end in (one.value, one.low, one.high) if math.isfinite(end)]


def _row(found: EnsembleComparison, label: str, there: set[tuple[str, int]]) -> Row:
    spent = found.spent(label)
    apart = "" if label == found.reference else percent(found.difference(label), signed=True)
    values = {key: times * found.mean(label, key).value for key, (_, times) in MEASURES.items()}
    return Row(
        number=found.labels.index(label),
        label=label,
        error=found.mean(label),
        words=percent(found.mean(label)),
        difference=apart,
        reference=label == found.reference,
        measures=tuple((f"{one:.4f}" if MEASURES[key][1] == 1 else f"{one:.2f}", one) for key, one in values.items()),
        budget=(*(f"{spent[key]:,.3g}" for key in BUDGET), format_seconds(spent["seconds"])),
        failed=sum(one.label == label and not one.ok for one in found.rows),
        pages=tuple(
            (one.seed, f"seed-{one.seed}/{folder_name(label)}/report.html")
            for one in found.of(label)
            if (label, one.seed) in there
        ),
    )


def folder_name(label: str) -> str:
    """The folder of a sampler's ensembles, below that of a seed."""
    return label.replace(":", "-").replace("/", "-")


def percent(one: Estimate, *, signed: bool = False) -> str:
    """A share in percent with its interval.

    >>> percent(Estimate(0.1234, 0.1, 0.15)), percent(Estimate(-0.01), signed=True)
    ('12.34 [10.00, 15.00]', '−1.00')
    """
    form = "{:+.2f}" if signed else "{:.2f}"
    words = form.format(100 * one.value)
    if math.isfinite(one.low):
        words += f" [{form.format(100 * one.low)}, {form.format(100 * one.high)}]"
    return words.replace("-", "−")


def _headline(found: EnsembleComparison, there: Sequence[str]) -> str:
    if not there:
        return "No ensemble could be measured"
    best = found.mean(there[0])
    return f"{there[0]} errs least on average: {100 * best.value:.2f} % of the test samples"


def _lead(found: EnsembleComparison, there: Sequence[str]) -> str:
    """Who surely errs less or more than the reference, by the interval of the paired difference."""
    groups: dict[str, list[str]] = {"surely better": [], "not surely different": [], "surely worse": []}
    for label in there:
        if label == found.reference:
            continue
        one = found.difference(label)
        sure = math.isfinite(one.low) and not one.low <= 0 <= one.high
        groups["not surely different" if not sure else "surely better" if one.high < 0 else "surely worse"].append(
            label
        )
    parts = [f"{', '.join(some)} {'is' if len(some) == 1 else 'are'} {how}" for how, some in groups.items() if some]
    words = f"Compared with {found.reference} under the same seeds: {'; '.join(parts)}." if parts else ""
    gains = [label for label in there if found.mean(label, "gain").value > 0]
    if there:
        words += f" The ensemble beats its best member, on average, with {', '.join(gains) or 'none of them'}."
    return words.strip()


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"


# -- the page -------------------------------------------------------------------------------------------------------------
def opened(folder: str | Path) -> EnsembleComparison:
    """A comparison as it is stored."""
    return EnsembleComparison.load(folder)


def runs_of(found: EnsembleComparison) -> list[tuple[str, int, EnsembleRun]]:
    """Labels, seeds and ensembles that are on disk; those that are not are left out."""
    made = []
    for one in found.rows if found.folder is not None else ():
        try:
            made.append((one.label, one.seed, found.run(one.label, one.seed)))
        except ForeseeError:  # failed, or moved away
            continue
    return made


def render(found: EnsembleComparison) -> str:
    """The report as HTML text."""
    runs = runs_of(found)
    info = tell(found, runs)
    return page(
        "ensembles.html",
        title=info.title,
        info=info,
        measures=[head for head, _ in MEASURES.values()],
        budget=[*BUDGET.values(), "Time"],
        charts=[*charts(found), *tradeoff(found)],
        map=map_of(found, runs),
        hover=hover(found),
    )


def write(found: EnsembleComparison, folder: str | Path | None = None) -> Path:
    """Write `report.html` into the folder of the comparison (or another), and a page for each of its ensembles."""
    for _, _, run in runs_of(found):
        ensembles.write(run, members=False)
    return write_whole(report_in(folder or found.folder, "comparison"), render(found))


def reported(comparing: Callable[P, EnsembleComparison]) -> Callable[P, EnsembleComparison]:
    """The same, writing `report.html` beside every comparison that is kept."""

    @wraps(comparing)
    def wrapped(*args: P.args, **given: P.kwargs) -> EnsembleComparison:
        found = comparing(*args, **given)
        if found.folder is not None:
            write(found)
        return found

    return wrapped


compare_ensembles = reported(compare_quietly)
