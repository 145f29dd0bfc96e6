"""The report of an ensemble: how good it and its members are, which samples each knows, what it cost, and its cells drawn.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from foresee.ensembles.finding import EnsembleRun
from foresee.ensembles.finding import ensemble as find_quietly
from foresee.ensembles.finding.result import MEMBERS
from foresee.ensembles.finding.samplers import samplers
from foresee.ensembles.measures import Measures
from foresee.quantities import format_seconds
from foresee.report import defence as defences
from foresee.report import training
from foresee.report.asked import flatten
from foresee.report.ensemble_lines import lines
from foresee.report.ensemble_pictures import calibrations, cells, hover, predictions_map, tried
from foresee.report.page import page, report_in
from foresee.report.predictions import Predictions, strip
from foresee.report.words import times
from foresee.runs.environment import environment
from foresee.runs.folder import is_there, write_whole
from foresee.training.keeping import REPORT, TRAINING

P = ParamSpec("P")


@dataclass(frozen=True)
class Row:
    """A member of the table: its errors as shares, and the folder of its page, "" where there is none."""

    number: int
    architecture: str
    val: float
    test: float
    best: bool
    page: str


@dataclass(frozen=True)
class EnsembleInfo:
    """All that the page says."""

    title: str
    headline: str
    lead: str
    how: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    val: Measures
    test: Measures
    estimated: Measures | None
    counts: tuple[tuple[int, int, int], ...]
    budget: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]


def tell(run: EnsembleRun, found: Predictions) -> EnsembleInfo:
    """The plain values of the page."""
    said, val, test = run.settings, run.measures["val"], run.measures["test"]
    recipe = said.member_recipe
    return EnsembleInfo(
        title=f"{said.space} · {said.sampler} · {len(test.members)} members",
        headline=_headline(test),
        lead=_lead(run, test),
        how=_summary(said.sampler),
        facts=(
            ("Space", said.space),
            ("Sampler", said.sampler),
            ("Data", ", ".join(f"{one['samples']:,} {key}" for key, one in run.data.items())),
            (
                "Members",
                f"{len(test.members)}, by {recipe.name or 'a recipe of your own'}, {times(recipe.epochs, 'epoch')} each",
            ),
            ("Averaged", said.average),
            ("Seed", str(said.seed)),
        ),
        rows=_rows(run),
        val=val,
        test=test,
        estimated=run.measures.get("estimated"),
        counts=tuple(found.counts),
        budget=budget(run.budget),
        settings=flatten({key: value for key, value in said.to_json().items() if value not in (None, {}, [])}),
        environment=flatten(environment()),
    )


def _summary(sampler: str) -> str:
    name = sampler.partition(":")[0]
    return samplers[name].summary if name in samplers else ""


def _headline(test: Measures) -> str:
    words = f"{100 * test.error:.2f} % wrong on test data"
    if len(test.members) == 1:
        return words
    return (
        f"{words}, where its best member has {100 * min(test.members):.2f} % and the mean member {100 * test.ate:.2f} %"
    )


def _lead(run: EnsembleRun, test: Measures) -> str:
    words = [
        f"Two members answer differently for {100 * test.ppd:.1f} % of the samples",
        f"the negative log likelihood is {test.nll:.4f}",
        f"its confidence is off by {100 * test.calibration_error:.1f} points on average",
    ]
    if test.gain < 0:
        words.append("its best member alone would have been better, which nobody could know before the test")
    many = len(run.selected.get("tried") or ())
    chosen = f" It was the best of {many} by estimated validation loss." if many > 1 else ""
    return f"{'; '.join(words)}.{chosen}"


def _rows(run: EnsembleRun) -> tuple[Row, ...]:
    val, test = run.measures["val"].members, run.measures["test"].members
    texts = [*run.architectures, *["the same network, dropping other paths"] * (len(test) - len(run.architectures))]
    return tuple(
        Row(place, text, one, other, other == min(test), _page(run.folder, place))
        for place, (text, one, other) in enumerate(zip(texts, val, test, strict=True))
    )


def _page(folder: Path | None, place: int) -> str:
    there = folder is not None and is_there(folder / MEMBERS / str(place) / REPORT)
    return f"{MEMBERS}/{place}/{REPORT}" if there else ""


def budget(spent: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What was spent, in words; nothing is left out because it is zero."""
    seconds = spent.get("seconds") or {}
    parts = ", ".join(f"{key} {format_seconds(value)}" for key, value in seconds.items())
    shared = spent.get("shared")
    return (
        ("Networks trained", f"{spent['networks']:,}, {spent['epochs']:,} epochs in all"),
        ("Epochs of a supernet", f"{spent['supernet_epochs']:,}"),
        ("Epochs of the posterior", f"{spent['posterior_epochs']:,}"),
        ("Looks by inherited weights", f"{spent['evaluations']:,}"),
        ("Scores by a proxy", f"{spent['scores']:,}"),
        *([("Trained before, for others", f"{shared:,}")] if shared else []),
        ("Time", f"{format_seconds(sum(seconds.values()))}" + (f" ({parts})" if parts else "")),
    )


# -- the page -------------------------------------------------------------------------------------------------------------
def render(run: EnsembleRun) -> str:
    """The report as HTML text."""
    found = Predictions.of(run.probabilities, run.labels, run.settings.average)
    info = tell(run, found)
    names = [f"member {place}" for place in range(len(found))]
    drawn, operations = cells(run)
    kept = None if run.folder is None else defences.beside(run.folder)
    return page(
        "ensemble.html",
        title=info.title,
        info=info,
        charts=tried(run),
        map=predictions_map(found),
        disagreement=found.disagreement.tolist() if 1 < len(found) <= 12 else [],
        strip=strip(found, names),
        calibration=calibrations(found),
        drawn=drawn,
        operations=operations,
        shields_rows=() if kept is None else defences.shields(kept.defence),
        lines=lines(run),
        hover=hover(run, found),
    )


def write(run: EnsembleRun, folder: str | Path | None = None, *, members: bool = True) -> Path:
    """Write `report.html` into the folder of the ensemble (or another), whole or not at all, and pages of its members."""
    count = len(run.architectures) if members and run.folder is not None else 0
    there = [Path(run.folder or "") / MEMBERS / str(place) for place in range(count)]
    for own in there:
        if is_there(own / TRAINING) and not is_there(own / REPORT):
            training.save(training.opened(own), own / REPORT)
    return write_whole(report_in(folder or run.folder, "ensemble"), render(run))


def reported(finding: Callable[P, EnsembleRun]) -> Callable[P, EnsembleRun]:
    """The same, writing `report.html` beside every ensemble that is kept."""

    @wraps(finding)
    def wrapped(*args: P.args, **given: P.kwargs) -> EnsembleRun:
        run = finding(*args, **given)
        if run.folder is not None:
            write(run)
        return run

    return wrapped


ensemble = reported(find_quietly)
