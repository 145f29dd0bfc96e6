"""Figures of the papers: points of a reproduction as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresee.papers.cells import Scatter
from foresee.report.figures import ROLES, Chart, Layer, Scale
from foresee.report.figures import figure as drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: colours of series that there are
SERIES = sum(role.startswith("series-") for role in ROLES)


def figure(scatter: Scatter) -> Figure:
    """The points on white, with bars where there are some."""
    kinds = list(dict.fromkeys(scatter.kinds)) or [""]
    layers, bars = [], []
    for number, kind in enumerate(kinds):
        ids = tuple(place for place in range(len(scatter.x)) if not kind or scatter.kinds[place] == kind)
        role = f"series-{number % SERIES}" if kind else "best" if scatter.bars else "dot"
        x, y = (tuple(values[place] for place in ids) for values in (scatter.x, scatter.y))
        layers.append(Layer("dots", role, x, y, kind, ids))
        if scatter.bars:
            bars.append((x, y, tuple(scatter.bars[place] for place in ids), ROLES[role], "-" if kind else "none"))
    chart = Chart(scatter.name, scatter.text, scatter.x_label, scatter.y_label, "quantity", tuple(layers), Scale())
    made = drawn(chart)
    for x, y, halves, colour, style in bars:
        made.axes[0].errorbar(x, y, halves, fmt=style, color=colour, ecolor=colour, capsize=3, linewidth=1)
    if scatter.boxes:
        places = range(len(scatter.boxes))
        groups = [[y for x, y in zip(scatter.x, scatter.y, strict=True) if x == place] for place in places]
        line = {"color": ROLES["best"]}
        how: dict[str, Any] = dict.fromkeys(("boxprops", "whiskerprops", "capprops", "medianprops"), line)
        made.axes[0].boxplot(groups, positions=list(places), widths=0.5, showfliers=False, **how)
        made.axes[0].set_xticks(list(places), scatter.boxes)
    if scatter.heights is not None:
        lines: dict[str, Any] = {"colors": ROLES["muted"], "linewidths": 0.8, "zorder": 1}
        made.axes[0].contour(scatter.heights.x, scatter.heights.y, scatter.heights.z, levels=7, **lines)
        made.axes[0].set_aspect("equal")
    return made


def save(scatter: Scatter, folder: Path, stem: str) -> list[Path]:
    """`STEM.svg` and `STEM.png` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made, paths = figure(scatter), [folder / f"{stem}.svg", folder / f"{stem}.png"]
    for path, metadata in zip(paths, ({"Date": None}, {"Software": None}), strict=True):
        made.savefig(path, dpi=144, facecolor=ROLES["surface"], metadata=metadata)
    return paths
