"""Figures of the papers: points of a reproduction as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresee.papers.cells import Heights, Scatter
from foresee.report.figures import ROLES, Chart, Layer, Scale
from foresee.report.figures import figure as drawn
from foresee.report.maps import levels_of

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
        _draw_heights(made, scatter.heights)
    return made


def _draw_heights(made: Figure, heights: Heights) -> None:
    """Contours, colours or a surface; what is not finite, or above the scale, is drawn as high as the map goes."""
    import numpy as np

    axes = made.axes[0]
    small: dict[str, Any] = {"labelsize": 8, "colors": ROLES["muted"]}
    z = np.array(heights.z, float)
    known = z[np.isfinite(z)]
    low = float(known.min(initial=np.inf)) if heights.low is None else heights.low
    high = float(known.max(initial=-np.inf)) if heights.high is None else heights.high
    if heights.look == "contours":
        lines: dict[str, Any] = {"colors": ROLES["muted"], "linewidths": 0.8, "zorder": 1}
        levels: Any = 7 if heights.high is None else levels_of(low, high, 9)
        drawn_lines = axes.contour(heights.x, heights.y, z, levels=levels, **lines)
        axes.clabel(drawn_lines, fontsize=7, fmt="%.3g")
        axes.set_aspect("equal")
    elif heights.look == "heat":
        colours = axes.pcolormesh(heights.x, heights.y, z, shading="nearest", zorder=1, vmin=low, vmax=high)
        made.colorbar(colours, ax=axes).ax.tick_params(**small)
        axes.set_aspect("equal")
    else:
        across, title = axes.get_xlabel(), axes.get_title(loc="left")
        made.delaxes(axes)
        solid: Any = made.add_subplot(projection="3d")
        top = np.where(np.isfinite(z), np.minimum(z, high), high)
        solid.plot_surface(*np.meshgrid(heights.x, heights.y), top, cmap="viridis", linewidth=0, vmin=low, vmax=high)
        solid.set_zlim(low, high)
        solid.set_xlabel(across, fontsize=8, color=ROLES["muted"])
        solid.set_title(title, loc="left", fontsize=10, color=ROLES["muted"])
        solid.tick_params(**small)
        solid.set_box_aspect(None, zoom=0.85)


def save(scatter: Scatter, folder: Path, stem: str) -> list[Path]:
    """`STEM.svg` and `STEM.png` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made, paths = figure(scatter), [folder / f"{stem}.svg", folder / f"{stem}.png"]
    for path, metadata in zip(paths, ({"Date": None}, {"Software": None}), strict=True):
        made.savefig(path, dpi=144, facecolor=ROLES["surface"], metadata=metadata)
    return paths
