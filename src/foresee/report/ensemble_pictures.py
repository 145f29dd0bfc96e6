"""Pictures of an ensemble for its page: what was tried, how sure it is, where members lie, their cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from foresee.ensembles.finding import EnsembleRun
from foresee.errors import ForeseeError
from foresee.report.figures import Chart, Layer, Scale
from foresee.report.graphs import draw, palette
from foresee.report.html import Drawing, drawing
from foresee.report.predictions import Predictions, map_chart, placed
from foresee.report.words import shortened
from foresee.spaces.base import Graph
from foresee.spaces.candidate import Candidate


def tried(run: EnsembleRun) -> list[Drawing]:
    """Every ensemble that was judged before anything was trained, and which one was taken."""
    losses = tuple(float(one) for one in run.selected.get("tried") or ())
    if len(losses) < 2:
        return []
    deltas = tuple(float(one) for one in run.selected.get("deltas") or ())
    by_delta = len(deltas) == len(losses) and len(set(deltas)) > 1
    across = deltas if by_delta else tuple(float(number) for number in range(1, len(losses) + 1))
    best = losses.index(min(losses))
    layers = (
        Layer("dots", "dot", across, losses, "an ensemble", tuple(f"t:{one}" for one in range(1, len(losses) + 1))),
        Layer("ring", "best", (across[best],), (losses[best],), "taken"),
    )
    words = f"estimated validation loss of {len(losses)} drawn ensembles, from {min(losses):.4g} to {max(losses):.4g}"
    label = "delta: how much members are to differ" if by_delta else "draw"
    chart = Chart("tried", words, label, "estimated validation loss", "score" if by_delta else "whole", layers, Scale())
    return [drawing("Ensembles that were tried", chart, "By inherited weights, before any member was trained.")]


def calibrations(found: Predictions) -> list[Drawing]:
    """How often the ensemble and its members are right where they are so sure."""
    line = Layer("straight", "muted", (0.0, 100.0), (0.0, 100.0), "as sure as right")
    members = [_line(found, place, "dot", "members" if not place else "") for place in range(len(found))]
    together = _line(found, None, "best", "ensemble")
    layers = [
        line,
        *(members if len(found) > 1 else []),
        together,
        replace(together, kind="dots", label="", ids=_bins(found)),
    ]
    words = "share that is right against confidence, of the ensemble and of its members"
    scale = Scale(low=0, high=102)
    chart = Chart("calibration", words, "confidence in %", "right in %", "plain", tuple(layers), scale)
    return [drawing("Calibration", chart)]


def _line(found: Predictions, member: int | None, role: str, label: str) -> Layer:
    there = [one for one in found.bins(member) if one.count]
    across, up = (tuple(100 * getattr(one, key) for one in there) for key in ("confidence", "accuracy"))
    return Layer("straight", role, across, up, label)


def _bins(found: Predictions) -> tuple[str, ...]:
    return tuple(f"b:{place}" for place, one in enumerate(found.bins()) if one.count)


def predictions_map(found: Predictions) -> list[Drawing]:
    """Members and the ensemble as points: the closer, the more often they answer alike."""
    if len(found) < 2:
        return []
    places = placed(found.all_disagreement)
    ids = [f"m:{place}" for place in range(len(found))]
    return [map_chart([("ensemble", places[-1:], ["e:ensemble"]), ("members", places[:-1], ids)])]


def cells(run: EnsembleRun) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The members' cells drawn, and the colours of their operations; equal ones once."""
    graphs: dict[str, list[Graph]] = {}
    who: dict[str, list[int]] = {}
    for place, plain in enumerate(run.selected["members"]):
        text = str(plain["architecture"])
        who.setdefault(text, []).append(place)
        if text not in graphs:
            try:
                one = Candidate.from_json({key: value for key, value in plain.items() if key != "number"})
                graphs[text] = one.space.graph(one.architecture)
            except ForeseeError:  # a space that draws nothing, or code that nobody named
                graphs[text] = []
    colours = palette(graph for some in graphs.values() for graph in some)
    drawn = [
        {
            "label": f"Member{'s' if len(who[text]) > 1 else ''} {', '.join(map(str, who[text]))}",
            "svgs": [
                draw(
                    graph, colours, name=f"cell{number}-{i}", title=f"{graph.title or 'cell'} of member {who[text][0]}"
                )
                for i, graph in enumerate(some)
            ],
            "titles": [graph.title for graph in some],
        }
        for number, (text, some) in enumerate(graphs.items())
        if some
    ]
    return drawn, colours


def hover(run: EnsembleRun, predictions: Predictions) -> dict[str, list[str]]:
    """What the page says of a dot."""
    test = run.measures["test"]
    texts = dict(enumerate(run.architectures))
    members = {
        f"m:{place}": [shortened(texts.get(place, "")), f"{100 * one:.2f} % wrong", "Member"]
        for place, one in enumerate(test.members)
    }
    found = [float(one) for one in run.selected.get("tried") or ()]
    bins = {
        f"b:{place}": [
            f"{one.count:,} predictions",
            f"{100 * one.confidence:.1f} % sure, {100 * one.accuracy:.1f} % right",
            "Bin",
        ]
        for place, one in enumerate(predictions.bins())
    }
    draws = {f"t:{n}": ["", f"estimated loss {one:.4f}", "Draw"] for n, one in enumerate(found, 1)}
    return {**members, **bins, **draws, "e:ensemble": ["", f"{100 * test.error:.2f} % wrong", "The"]}
