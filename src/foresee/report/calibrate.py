"""The report of a calibration: whether the trainings paid, how far to trust the predictions, and what to train next.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports. The
untrained score stands beside the predictions in every picture and table, and is in none of them mixed with anything.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks.calibrated import CalibratedTable
from foresee.benchmarks.calibration import Skill
from foresee.benchmarks.rank_model import Array, Indices
from foresee.report.asked import flatten
from foresee.report.commands import sets, shown_path
from foresee.report.figures import Chart, Layer, Scale, scale_for, value_axis, value_label
from foresee.report.html import Drawing, drawing
from foresee.report.info import Measure
from foresee.report.intervals import Axis
from foresee.report.page import page, report_in
from foresee.report.words import number, shortened
from foresee.runs.folder import write_whole
from foresee.statistics import Estimate

#: predictions in the table of the page
NEXT = 20
#: intervals are drawn for so many points at most, and so many points are told under the pointer
BARS, TOLD = 120, 3000


@dataclass(frozen=True)
class Row:
    """One measure of skill: on which architectures, by which statistic, and the three numbers."""

    on: str
    n: int
    statistic: str
    model: Estimate
    untrained: Estimate
    gain: Estimate
    covered: Estimate


@dataclass(frozen=True)
class CalibrationInfo:
    """All that the page says. `could` counts the foreseen whose interval reaches above `best`, the best that was trained."""

    title: str
    headline: str
    target: str
    untrained: str
    best: float
    could: int
    foreseen: int
    coverage: float
    guaranteed: float
    facts: tuple[tuple[str, str], ...]
    verdicts: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    axis: Axis
    next: tuple[dict[str, Any], ...]
    problems: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    command: str


def tell(found: CalibratedTable) -> CalibrationInfo:
    """The plain values of the page."""
    model, rows = found.calibration, found.rows()
    higher = found.target.direction == "higher"
    best = float(model.values.max() if higher else model.values.min())
    measured = _measured(found)
    skills = tuple(
        Row(on, skill.n, name, skill.model[name], skill.untrained[name], skill.gain[name], skill.covered)
        for on, skill in measured
        for name in ("spearman", "kendall")
    )
    reads = [name for name in model.proxies if name not in model.constant]
    return CalibrationInfo(
        title=f"{found.space or 'own architectures'} · {found.target.name}",
        headline=headline(max((skill for _, skill in measured), key=lambda skill: skill.n)),
        target=found.target.name,
        untrained=found.untrained,
        best=best,
        could=sum((row["high"] > best) if higher else (row["low"] < best) for row in rows),
        foreseen=len(rows),
        coverage=model.coverage,
        guaranteed=model.guaranteed,
        facts=(
            ("Table", Path(str(found.settings["table"])).name or "handed over"),
            ("Target", f"{found.target.name} ({found.target.direction} is better)"),
            ("Trained", f"{len(model.trained):,} architectures, seed {model.seed}"),
            ("Foreseen", f"{len(rows):,} architectures: {found.settings['foreseen']}"),
            ("The model reads", ", ".join(reads) + (f" and {found.parts} kinds of parts" if found.parts else "")),
            ("Beside it", f"{found.untrained}, fitted to nothing"),
        ),
        verdicts=tuple((on, skill.verdict) for on, skill in measured),
        rows=skills,
        axis=Axis.around(one for row in skills for one in (row.model, row.untrained)),
        next=tuple(rows[:NEXT]),
        problems=tuple(_problems(found)),
        settings=flatten({key: value for key, value in found.settings.items() if value not in (None, {}, "")}),
        environment=flatten(found.environment),
        command=command(found),
    )


def headline(skill: Skill) -> str:
    """Whether the trainings paid, in a sentence."""
    gain = skill.gain.get("spearman")
    if gain is None or not math.isfinite(gain.low):
        return "Whether the trainings paid cannot be told"
    if skill.better:
        return "The trainings paid: the model orders better than the untrained score"
    if gain.high < 0:
        return "The trainings did not pay: the untrained score orders better"
    return "The trainings have not paid yet: the model is not surely better than the untrained score"


def render(found: CalibratedTable) -> str:
    """The report as HTML text."""
    info = tell(found)
    return page(
        "calibrate.html",
        title=info.title,
        info=info,
        pictures=pictures(found),
        hover=_hover(found),
    )


def write(found: CalibratedTable, folder: str | Path | None = None) -> Path:
    """Write `report.html` into the calibration's folder (or another), whole or not at all."""
    return write_whole(report_in(folder or found.folder, "calibration"), render(found))


def command(found: CalibratedTable) -> str:
    """The line that does it again; empty where data, table or a list of architectures were handed over."""
    asked = found.settings
    if str(asked["data"]).startswith("given:") or not asked["table"] or asked["foreseen"] == "a list":
        return ""
    line = ["foresee", "calibrate", *([asked["space"]] if asked["space"] else [])]
    line += ["--table", asked["table"], "--target", asked["target"], "--trained", asked["trained"]]
    line += [word for name in asked["proxies"] for word in ("--proxy", name)] + ["--untrained", asked["untrained"]]
    line += [] if asked["sample"] is None else ["--sample", asked["sample"]]
    line += [] if asked["parts"] else ["--no-parts"]
    line += ["--coverage", f"{asked['coverage']:g}", "--seed", asked["seed"], "--data", asked["data"]]
    if found.task is not None and found.reasons:
        line += ["--input", "x".join(map(str, found.task.inputs)), "--outputs", found.task.outputs]
    line += ["--batch-size", asked["batch_size"]] if "batch_size" in asked else []
    line += [] if asked["bootstrap"] == 1000 else ["--bootstrap", asked["bootstrap"]]
    line += [] if asked.get("device", "cpu") == "cpu" else ["--device", asked["device"]]
    line += sets({"space": asked["space_settings"], **asked.get("proxy_settings", {})})
    line += ["--out", shown_path(found.folder) if found.folder else "runs/calibrate"]
    return shlex.join(map(str, line))


def _measured(found: CalibratedTable) -> list[tuple[str, Skill]]:
    pairs = [("held out while fitting", found.calibration.skill)]
    return pairs if found.check is None else [*pairs, ("foreseen, and known to the table", found.check)]


def _problems(found: CalibratedTable) -> list[str]:
    """What the proxies could not say, a sentence each."""
    model, lines = found.calibration, []
    for name, failed in model.failed.items():
        meaning = "so it says nothing" if name in model.constant else "which it ranks last"
        reason = next(iter(found.reasons.get(name, {})), "")
        share = f"{failed:,} of {len(found.texts):,}"
        lines.append(f"{name} failed on {share}, {meaning}: {reason}" if reason else f"{name} is not known of {share}")
    same = [name for name in model.constant if name not in model.failed]
    return lines + [f"{name} is the same for all architectures, so it says nothing" for name in same]


# -- pictures -------------------------------------------------------------------------------------------------------------
def pictures(found: CalibratedTable) -> list[Drawing]:
    """Predicted against measured, and beside it the untrained score: on what was held out, and on what the table knows."""
    model = found.calibration
    made = _pair(found, "held", "held out", model.values, model.held_out, model.untrained_of_trained, model.trained)
    truth = found.truth[model.rest]
    known = np.flatnonzero(np.isfinite(truth))
    if len(known) >= 2:
        ends = np.array([model.predicted, model.low, model.high])[:, known]
        beside = None if model.untrained is None else model.untrained[known]
        made += _pair(found, "check", "foreseen", truth[known], ends, beside, model.rest[known])
    return made


def _pair(
    found: CalibratedTable, name: str, which: str, truth: Array, ends: Array, beside: Array | None, places: Indices
) -> list[Drawing]:
    target = Measure(found.target.name, found.target.direction)
    bounds = scale_for(truth.tolist(), target)
    shown = np.flatnonzero([bounds.holds(value) for value in truth.tolist()])
    cut = len(truth) - len(shown)
    left = f" {cut} far worse {'is' if cut == 1 else 'are'} left out." if cut else ""
    pictures = [_predicted(found, name, which, truth[shown], ends[:, shown], places[shown], left)]
    if beside is not None:
        pictures.append(_beside(found, name, which, truth[shown], beside[shown], places[shown], left))
    return pictures


def _predicted(
    found: CalibratedTable, name: str, which: str, truth: Array, ends: Array, places: Indices, left: str
) -> Drawing:
    """Predicted over measured. A perfect model lies on the line; an interval that misses the line has missed the truth."""
    predicted, low, high = ends
    inside = (low <= truth) & (truth <= high)
    reach = float(np.ptp(truth)) or 1.0
    bottom = min(float(truth.min()), float(predicted.min())) - 0.25 * reach
    top = max(float(truth.max()), float(predicted.max())) + 0.25 * reach
    corners = (float(truth.min()), float(truth.max()))
    layers = [Layer("straight", "muted", corners, corners, "as measured")]
    for role, label, those in (("best", "interval holds it", inside), ("limit", "interval misses it", ~inside)):
        x = tuple(truth[those].tolist())
        if not x:
            continue
        if len(truth) <= BARS:
            feet, heads = np.clip(low[those], bottom, top), np.clip(high[those], bottom, top)
            layers.append(Layer("bars", role, x, tuple(feet.tolist()), "", to=tuple(heads.tolist())))
        layers.append(Layer("dots", role, x, tuple(predicted[those].tolist()), label, tuple(places[those].tolist())))
    chart = Chart(
        name=f"{name}-predicted",
        text=f"predicted against measured {found.target.name} of {len(truth)} architectures that were {which}",
        x_label=f"{found.target.name}, measured",
        y_label=f"{found.target.name}, predicted",
        x_unit="quantity",
        layers=tuple(layers),
        scale=Scale(False, bottom, top),
    )
    asked = f"{100 * found.calibration.coverage:g} % asked"
    note = f"{int(inside.sum()):,} of {len(truth):,} intervals hold what was measured ({asked}).{left}"
    return drawing(f"Model, {which}", chart, note)


def _beside(
    found: CalibratedTable, name: str, which: str, truth: Array, merits: Array, places: Indices, left: str
) -> Drawing:
    """The untrained score over the same architectures, in its own unit."""
    valid = np.isfinite(merits)
    points, measure, scale = value_axis(
        merits[valid].tolist(), Measure(found.untrained.removeprefix("table:"), "higher")
    )
    chart = Chart(
        name=f"{name}-untrained",
        text=f"untrained score {found.untrained} against measured {found.target.name} of {len(points)} architectures",
        x_label=f"{found.target.name}, measured",
        y_label=value_label(measure),
        x_unit="quantity",
        layers=(Layer("dots", "dot", tuple(truth[valid].tolist()), points, "", tuple(places[valid].tolist())),),
        scale=scale,
    )
    failed = len(truth) - len(points)
    note = "Fitted to nothing: no accuracy has touched it." + left + (f" {failed} without a value." if failed else "")
    return drawing(f"Untrained {found.untrained}, {which}", chart, note)


def _hover(found: CalibratedTable) -> dict[str, list[str]]:
    """By place: the architecture and its numbers."""
    model = found.calibration
    lines: dict[int, list[str]] = {}
    foreseen = zip(model.rest.tolist(), model.predicted, model.low, model.high, strict=True)
    held = zip(model.trained.tolist(), *model.held_out, strict=True)
    for place, mean, low, high in [*held, *_known(foreseen, found.truth)][:TOLD]:
        measured = f"measured {number(float(found.truth[place]))}"
        text = found.texts[place]
        line = f"{measured} · predicted {mean:.4g}, interval {low:.4g} to {high:.4g}"
        lines[place] = [shortened(text), line, "Architecture"]
    return {str(place): line for place, line in lines.items()}


def _known(rows: Any, truth: Array) -> Sequence[tuple[Any, ...]]:
    return [row for row in rows if np.isfinite(truth[row[0]])]
