"""Pictures of samplers compared: errors of every ensemble, a histogram of their members' errors, members against their
differences, and a map of what they predict (after Figure 5.4 of the thesis).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from foresee.ensembles.finding.compared import EnsembleComparison
from foresee.ensembles.finding.result import EnsembleRun
from foresee.report.compare import COLOURS
from foresee.report.figures import Chart, Layer, Scale
from foresee.report.html import Drawing, drawing
from foresee.report.predictions import differing, map_chart, placed
from foresee.report.words import shortened

#: bins of the histogram
BINS = 12


def _role(found: EnsembleComparison, label: str) -> str:
    return f"series-{found.labels.index(label) % COLOURS}"


def charts(found: EnsembleComparison) -> list[Drawing]:
    """Errors of every ensemble, one column for each sampler; and the histogram of their members' errors."""
    there = [label for label in found.labels if found.of(label)]
    return [*_errors(found, there), *histogram(found, there)]


def _errors(found: EnsembleComparison, there: Sequence[str]) -> list[Drawing]:
    layers: list[Layer] = []
    for place, label in enumerate(there, 1):
        rows = found.of(label)
        values = tuple(100 * one.value("error") for one in rows)
        spots = tuple(place + 0.1 * (number - (len(rows) - 1) / 2) for number in range(len(rows)))
        ids = tuple(_id(found, label, one.seed) for one in rows)
        mean, role = 100 * found.mean(label).value, _role(found, label)
        layers.append(Layer("dots", role, spots, values, label, ids))
        layers.append(Layer("straight", role, (place - 0.35, place + 0.35), (mean, mean), ""))
    if not layers:
        return []
    words = "; ".join(f"{label} {100 * found.mean(label).value:.2f} %" for label in there)
    chart = Chart("errors", f"test errors: {words}", "sampler", "test error in %", "whole", tuple(layers), Scale())
    return [drawing("Error of every ensemble", chart, "A dot is one seed, a line the mean.")]


def histogram(found: EnsembleComparison, there: Sequence[str]) -> list[Drawing]:
    """How many members of each sampler have which test error."""
    errors = {
        label: [100 * one for row in found.of(label) for one in row.measures["test"]["members"]] for label in there
    }
    every = [one for some in errors.values() for one in some]
    if len(every) < 2 or min(every) == max(every):
        return []
    edges = np.linspace(min(every), max(every), BINS + 1)
    layers = []
    for label, some in errors.items():
        counts, _ = np.histogram(some, edges)
        # a stepped line needs the last bin's right end too, and stands on the ground at both ends
        across = (edges[0], *edges.tolist())
        up = (0.0, *map(float, counts), 0.0)
        layers.append(Layer("line", _role(found, label), tuple(map(float, across)), up, label))
    words = "; ".join(f"{label} from {min(some):.2f} to {max(some):.2f} %" for label, some in errors.items())
    chart = Chart("histogram", f"errors of members: {words}", "test error of a member in %", "members", "score",
                  tuple(layers), Scale(low=0))  # fmt: skip
    return [drawing("Errors of the members", chart, "Members of all seeds: further left is better.")]


def tradeoff(found: EnsembleComparison) -> list[Drawing]:
    """Mean error of members against how often they differ: good ensembles have good members that differ."""
    layers = tuple(
        Layer(
            "dots",
            _role(found, label),
            tuple(100 * one.value("ppd") for one in found.of(label)),
            tuple(100 * one.value("ate") for one in found.of(label)),
            label,
            tuple(_id(found, label, one.seed) for one in found.of(label)),
        )
        for label in found.labels
        if found.of(label)
    )
    if not layers:
        return []
    words = "mean error of members against how often two of them answer differently, for each ensemble"
    chart = Chart("tradeoff", words, "disagreement in %", "mean error of members in %", "score", layers, Scale())
    return [drawing("Good members that differ", chart, "Lower and further right is better; both together are rare.")]


def map_of(found: EnsembleComparison, runs: Sequence[tuple[str, int, EnsembleRun]]) -> list[Drawing]:
    """Members of all samplers under the first seed, the closer the more often they answer alike."""
    first = [(label, run) for label, seed, run in runs if seed == runs[0][1]]
    labels = first[0][1].labels if first else torch.zeros(0)
    same = [(label, run) for label, run in first if torch.equal(run.labels, labels)]
    if sum(len(run.probabilities) for _, run in same) < 3:
        return []
    answers = [run.probabilities.argmax(-1) for _, run in same]
    places = placed(differing(torch.cat(answers)))
    groups, start = [], 0
    for (label, _), some in zip(same, answers, strict=True):
        ids = [f"p{found.labels.index(label)}:{number}" for number in range(len(some))]
        groups.append((label, places[start : start + len(some)], ids))
        start += len(some)
    roles = [_role(found, label) for label, _ in same]
    return [map_chart(groups, roles=roles)]


def _id(found: EnsembleComparison, label: str, seed: int) -> str:
    return f"{found.labels.index(label)}:{seed}"


def hover(found: EnsembleComparison) -> dict[str, list[str]]:
    """What the page says of the dot of an ensemble, or of a member on the map."""
    said: dict[str, list[str]] = {}
    for one in found.rows:
        if not one.ok:
            continue
        test = one.measures["test"]
        words = (
            f"{100 * test['error']:.2f} % wrong; members {', '.join(f'{100 * each:.2f}' for each in test['members'])}"
        )
        said[_id(found, one.label, one.seed)] = [one.label, words, "Seed"]
    first = min((one.seed for one in found.rows), default=0)
    for one in found.rows:
        if one.ok and one.seed == first:
            for number, error in enumerate(one.measures["test"]["members"]):
                text = one.architectures[number] if number < len(one.architectures) else ""
                words = f"of {one.label}, {100 * error:.2f} % wrong"
                said[f"p{found.labels.index(one.label)}:{number}"] = [shortened(text), words, "Member"]
    return said
