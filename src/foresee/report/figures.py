"""Figures of a report: plain info to a plain chart, the chart to a matplotlib figure, the figure to SVG or PNG.

One SVG serves light and dark: it is drawn in colours that stand for roles, and these are replaced by CSS variables of the
page. Matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from foresee.quantities import format_cost, format_quantity
from foresee.report.info import Measure, Progress, Tradeoff
from foresee.report.words import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: what a colour is for -> the colour on white paper; on the page each is the CSS variable of the same name
ROLES: dict[str, str] = {
    "ink": "#1c2127", "muted": "#5b6570", "grid": "#e4e7ea", "surface": "#ffffff",
    "dot": "#6d7d90", "best": "#0b7a75", "front": "#c2530a", "limit": "#b3261e",
    "series-0": "#0b7a75", "series-1": "#c2530a", "series-2": "#5b4bc4", "series-3": "#a8327a",
    "series-4": "#3f7d20", "series-5": "#1668b8", "series-6": "#8a6d00", "series-7": "#6b7280",
}  # fmt: skip
#: the same roles in colours nobody would choose, to be found again in the SVG
SENTINELS: dict[str, str] = {role: f"#00f0{i:02x}" for i, role in enumerate(ROLES)}
#: width and height in points; also the view box of the SVG
SIZE = (420.0, 270.0)
#: of fewer values than this, none is taken for a straggler
FEW = 8
#: a logarithmic axis that is shorter than this ratio has ticks between its powers of ten
FEW_DECADES = 300.0
#: characters of a legend's line
LEGEND = 80
#: names of counts for people
COUNT_NAMES = {"params": "params", "macs": "MACs"}

Kind = Literal["dots", "line", "ring", "bars", "straight", "band"]

#: the largest number that is drawn as itself
DRAWN = 1e150


@dataclass(frozen=True)
class Layer:
    """Dots, a stepped or a straight line, rings, upright bars or a stepped band from `y` to `to`, in the colour of a role.

    `ids` name the candidates. Numbers beyond `DRAWN` are drawn there: an axis has a length, which must be a number too.
    """

    kind: Kind
    role: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    label: str
    ids: tuple[int | str, ...] = ()
    to: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("x", "y", "to"):
            drawn = tuple(min(max(value, -DRAWN), DRAWN) for value in getattr(self, name))
            object.__setattr__(self, name, drawn)


@dataclass(frozen=True)
class Scale:
    """The axis of the values: its ends (None: free), whether it is logarithmic, how many points it leaves out, and whether
    its numbers are quantities (600 k).
    """

    log: bool = False
    low: float | None = None
    high: float | None = None
    hidden: int = 0
    quantity: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value lies between the ends."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Chart:
    """A figure before it is drawn. `name` is unique in a page, `text` says in words what is to be seen."""

    name: str
    text: str
    x_label: str
    y_label: str
    x_unit: Literal["whole", "quantity", "plain", "score"]
    layers: tuple[Layer, ...]
    scale: Scale
    lines: tuple[tuple[float, str], ...] = ()
    x_log: bool = False


# -- info to chart --------------------------------------------------------------------------------------------------------
def progress_chart(name: str, progress: Progress, measure: Measure) -> Chart:
    """Value over candidates or over time, with the best so far."""
    factor, unit = time_unit(max(progress.times, default=0.0)) if progress.unit == "seconds" else (1.0, "candidate")
    times = tuple(t / factor for t in progress.times)
    corners = progress.best
    words = f"{measure.name} of each scored candidate against {'working time' if unit != 'candidate' else 'its number'}"
    if corners:
        words += f"; the best so far goes from {short(corners[0][1])} to {short(corners[-1][1])}"
    layers = (
        Layer("dots", "dot", times, progress.values, "candidate", progress.ids),
        Layer("line", "best", tuple(x / factor for x, _ in corners), tuple(y for _, y in corners), "best so far"),
    )
    kind: Literal["whole", "plain"] = "whole" if unit == "candidate" else "plain"
    return Chart(name, words, unit, value_label(measure), kind, layers, scale_for(progress.values, measure))


def tradeoff_chart(
    name: str,
    info: Tradeoff,
    measure: Measure,
    chosen: Sequence[int] | None = None,
    winner: int | None = None,
    ring: str = "best",
) -> Chart:
    """Value against a count or another objective, with the limit, the front, and the best candidate in a ring.

    The line is the front of the two; the dots on it stand out, or those of a front of more objectives, if `chosen`. The best
    is the `winner`, or where none is named the one of the best value; `ring` is what it is called.
    """
    timed = info.against.cost and info.count == "latency"  # in seconds, which nobody wants to read
    costs = tuple(cost * 1e3 if timed else float(cost) for cost in info.costs)
    where = {one: i for i, one in enumerate(info.ids)}
    on_front = [where[one] for one in info.front]
    best = max(range(len(costs)), key=lambda i: measure.sign * info.values[i], default=None)
    best = best if winner is None else where.get(winner, best)
    x, y = tuple(costs[i] for i in on_front), tuple(info.values[i] for i in on_front)
    marked = info.front if chosen is None else tuple(one for one in chosen if one in where)
    spots = [where[one] for one in marked]
    apart = set(zip(x, y, strict=True)) != {(costs[i], info.values[i]) for i in spots}
    dots = tuple(costs[i] for i in spots), tuple(info.values[i] for i in spots)
    layers = [
        Layer("dots", "dot", costs, info.values, "candidate", info.ids),
        Layer("line", "front", x, y, "front of these two" if apart else "Pareto front"),
        Layer("dots", "front", *dots, "on the run's front" if apart else "", marked),
    ]
    if best is not None:
        layers.append(Layer("ring", "best", (costs[best],), (info.values[best],), ring))
    label = COUNT_NAMES.get(info.count, info.count)
    words = f"{measure.name} against {label} for {len(costs)} candidates, {len(marked)} of them on the Pareto front"
    lines = tuple(
        (end * 1e3 if timed else end, f"{side} {format_cost(info.count, end)}")
        for end, side in ((info.least, "at least"), (info.most, "limit"))
        if end is not None
    )
    scale = scale_for(info.values, measure)
    if timed:
        return Chart(name, words, "latency in ms", value_label(measure), "score", tuple(layers), scale, lines)
    if info.against.cost:
        return Chart(name, words, label, value_label(measure), "quantity", tuple(layers), scale, lines)
    log = scale_for(info.costs, info.against).log
    label = value_label(info.against)
    return Chart(name, words, label, value_label(measure), "score", tuple(layers), scale, lines, log)


def value_label(measure: Measure) -> str:
    """Name of the value axis, with the direction."""
    name = measure.name if len(measure.name) <= 36 else f"{measure.name[:35]}…"
    return f"{name} ({measure.direction} is better)"


def time_unit(longest: float) -> tuple[float, str]:
    """Seconds in a fitting unit of time, and its name.

    >>> time_unit(90), time_unit(3000)
    ((1.0, 'seconds'), (60.0, 'minutes'))
    """
    if longest < 180:
        return 1.0, "seconds"
    return (60.0, "minutes") if longest < 3 * 3600 else (3600.0, "hours")


def scale_for(values: Sequence[float], measure: Measure) -> Scale:
    """A readable axis: logarithmic for positive values over three decades, and without far stragglers on the bad side.

    The good side is never cut. Cut points are counted, so that the page can say so.
    """
    if len(values) < 2:
        return Scale(quantity=measure.cost)
    log = min(values) > 0 and max(values) / min(values) > 1e3
    warp: Callable[[float], float] = math.log10 if log else float
    merits = sorted(measure.sign * warp(v) for v in values)
    worst, top = merits[0], merits[-1]
    low = merits[max(1, len(merits) // 20)]  # at most one in twenty is left out, or a single one of a few
    if len(merits) < FEW or low == top or top - worst < 3 * (top - low):
        return Scale(log, quantity=measure.cost)
    edge = low - 0.15 * (top - low)
    bound = measure.sign * edge
    end = 10.0**bound if log else bound
    hidden = sum(m < edge for m in merits)
    low_end, high_end = (end, None) if measure.sign > 0 else (None, end)
    return Scale(log, low_end, high_end, hidden, measure.cost)


def value_axis(values: Sequence[float], measure: Measure) -> tuple[tuple[float, ...], Measure, Scale]:
    """Values in a unit in which their axis has short numbers, the measure with that unit, and the axis."""
    scale = scale_for(values, measure)
    if scale.log:
        return tuple(values), measure, scale
    factor, unit = _unit(max(map(abs, values), default=0.0))
    points = tuple(value / factor for value in values)
    named = replace(measure, name=measure.name + unit)
    return points, named, scale_for(points, named)


def _unit(largest: float) -> tuple[float, str]:
    """A unit in which an axis has short numbers, and its name.

    >>> _unit(1_300_000.0), _unit(0.5)
    ((1000000.0, ' in millions'), (1.0, ''))
    """
    for factor, word in ((1e9, " in billions"), (1e6, " in millions"), (1e4, " in thousands")):
        if factor <= largest < 1e13:
            return (1e3 if factor == 1e4 else factor), word
    return 1.0, ""


# -- chart to figure ------------------------------------------------------------------------------------------------------
def figure(chart: Chart, colours: Mapping[str, str] = ROLES, *, legend: bool = True) -> Figure:
    """The chart as a matplotlib figure; `colours` gives the colour of each role."""
    with style(colours):
        from matplotlib.figure import Figure

        made = Figure(figsize=(SIZE[0] / 72, SIZE[1] / 72), dpi=72, layout="constrained")
        draw(made.add_subplot(), chart, colours, legend=legend)
    return made


def draw(axes: Axes, chart: Chart, colours: Mapping[str, str] = ROLES, *, legend: bool = True) -> None:
    """The chart on axes that are there already, in our `style`."""
    for number, layer in enumerate(chart.layers):
        _draw(axes, layer, colours, number)
    for x, text in chart.lines:
        axes.axvline(x, color=colours["limit"], linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            text, (x, 1), xycoords=("data", "axes fraction"), xytext=(-4, -2), textcoords="offset points",
            ha="right", va="top", color=colours["limit"], fontsize=9,
            bbox={"facecolor": colours["surface"], "edgecolor": "none", "pad": 1.5, "alpha": 0.8},
        )  # fmt: skip
    _frame(axes, chart, colours)
    named = [layer.label for layer in chart.layers if layer.label]
    if legend and named:  # below the axis: inside it lies on dots and lines
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=abreast(named), borderaxespad=0.0, fontsize=9,
            labelcolor=colours["ink"], handlelength=1.5, columnspacing=1.5,
        )  # fmt: skip


def abreast(labels: Sequence[str]) -> int:
    """How many names of a legend fit beside one another below a figure.

    >>> abreast(["candidate", "best so far"]), abreast(["evolution(population=10)@measured"] * 4)
    (2, 2)
    """
    lengths = [len(label) + 6 for label in labels]  # with the key and the space around it
    return len(labels) if sum(lengths) <= LEGEND else max(1, LEGEND // max(lengths))


def _draw(axes: Axes, layer: Layer, colours: Mapping[str, str], number: int) -> None:
    colour, label = colours[layer.role], layer.label or "_"
    if layer.kind == "line":
        axes.step(layer.x, layer.y, where="post", color=colour, linewidth=2, label=label, zorder=4)
        return
    if layer.kind == "ring":
        axes.plot(layer.x, layer.y, "o", color=colour, label=label, zorder=5, ms=12, mfc="none", mew=2)
        return
    if layer.kind == "straight":
        axes.plot(layer.x, layer.y, color=colour, linewidth=1, label=label, zorder=1)
        return
    if layer.kind == "bars":
        axes.vlines(layer.x, layer.y, layer.to, color=colour, linewidth=1.4, label=label, zorder=1.5, alpha=0.45)
        return
    if layer.kind == "band":
        axes.fill_between(layer.x, layer.y, layer.to, step="post", color=colour, linewidth=0, zorder=1.5, alpha=0.16)
        return
    size, alpha = _dot_look(layer)
    (dots,) = axes.plot(layer.x, layer.y, "o", color=colour, label=label, zorder=2 + alpha, ms=size, mew=0, alpha=alpha)
    dots.set_gid(f"dots{number}")


def _frame(axes: Axes, chart: Chart, colours: Mapping[str, str]) -> None:
    """Axes, ticks and names: a title over the value axis instead of a turned label."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    whole = chart.x_unit == "whole"
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=whole, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda v, _: format_quantity(v) if chart.x_unit == "quantity" else f"{v:g}")
    )
    if chart.scale.low is not None:
        axes.set_ylim(bottom=chart.scale.low)
    if chart.scale.high is not None:
        axes.set_ylim(top=chart.scale.high)
    for log, rescale, axis in (
        (chart.x_log, axes.set_xscale, axes.xaxis),
        (chart.scale.log, axes.set_yscale, axes.yaxis),
    ):
        if log:
            rescale("log")
            low, high = axis.get_view_interval()
            subs = (1.0, 2.0, 5.0) if high / low < FEW_DECADES else (1.0,)
            axis.set_major_locator(LogLocator(subs=subs, numticks=6 * len(subs)))
            axis.set_major_formatter(FuncFormatter(lambda v, _: _power(v)))
            axis.set_minor_formatter(NullFormatter())
    if not chart.scale.log:
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        if chart.scale.quantity:
            axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: format_quantity(v)))
    axes.set_xlabel(printable(chart.x_label[:60]), parse_math=False, color=colours["muted"])
    head(axes, chart.y_label, colours)
    axes.grid(axis="y", color=colours["grid"], linewidth=0.8)
    axes.margins(x=0.03, y=0.07)
    if chart.x_unit == "plain":
        axes.set_xlim(left=0)


def head(axes: Axes, title: str, colours: Mapping[str, str] = ROLES) -> None:
    """What all our axes have in common: a title on the left, no frame but a line below, quiet numbers without ticks."""
    axes.set_title(printable(title[:60]), parse_math=False, loc="left", fontsize=10, color=colours["muted"], pad=8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(colours["grid"])
    axes.tick_params(length=0, labelcolor=colours["muted"], labelsize=9.5, which="both")


@contextmanager
def style(colours: Mapping[str, str]) -> Iterator[None]:
    """Matplotlib's own defaults plus ours, whatever the user has set; all is put back afterwards."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Glyphs that matplotlib's font lacks are the page's business; numbers near overflow still get an axis.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
                "font.size": 10, "axes.unicode_minus": True, "axes.formatter.useoffset": False,
                "axes.formatter.limits": (-4, 6), "legend.frameon": False, "text.color": colours["ink"],
                "svg.fonttype": "none", "svg.hashsalt": "foresee", "path.simplify": False,
            }
        )  # fmt: skip
        yield


# -- figure to files ------------------------------------------------------------------------------------------------------
def save_png(chart: Chart, path: str | Path, *, dpi: int = 144) -> Path:
    """The chart as a PNG on white, with its legend; equal charts give equal files."""
    made = figure(chart)
    with style(ROLES):
        made.savefig(path, format="png", dpi=dpi, facecolor=ROLES["surface"], metadata={"Software": None})
    return Path(path)


def to_svg(chart: Chart) -> str:
    """The chart as SVG for a page: colours by CSS variables, ids under the chart's name, dots that know their candidates.

    Each cloud of dots is one path of round points with the candidates' ids beside it (`data-ids`): a tenth of the bytes
    of one element per dot, and enough for the page to say what lies under the pointer.
    """
    buffer = io.StringIO()
    made = figure(chart, SENTINELS, legend=False)
    with style(SENTINELS):
        made.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    root = ET.fromstring(buffer.getvalue())  # noqa: S314  # our own text, written a line above
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in {"metadata", "style"}:
                parent.remove(child)
    for number, layer in enumerate(chart.layers):
        if layer.kind == "dots" and layer.x:
            _join_dots(root, number, layer, made.axes[0])
    _tidy(root, chart.name)
    root.attrib = {"viewBox": f"0 0 {SIZE[0]:g} {SIZE[1]:g}", "role": "img", "class": "chart"}
    title = ET.Element("title")
    title.text = printable(chart.text)
    root.insert(0, title)
    return ET.tostring(root, encoding="unicode")


def _join_dots(root: ET.Element, number: int, layer: Layer, axes: Axes) -> None:
    """Replace the markers of one layer by a single path; of dots in the same place only the first is kept."""
    group = next(e for e in root.iter() if e.get("id") == f"dots{number}")
    clip = next((e.get("clip-path", "") for e in group.iter() if e.get("clip-path")), "")
    kept: dict[tuple[float, float], int | str] = {}
    for spot, one in zip(axes.transData.transform(list(zip(layer.x, layer.y, strict=True))), layer.ids, strict=True):
        if axes.bbox.contains(*spot):
            kept.setdefault((round(float(spot[0]), 1), round(SIZE[1] - float(spot[1]), 1)), one)
    group.clear()
    group.set("clip-path", clip)
    path = ET.SubElement(group, "path")
    path.set("class", "dots")
    path.set("d", "".join(f"M{x:g} {y:g}h0" for x, y in kept))
    path.set("data-ids", " ".join(map(str, kept.values())))
    size, alpha = _dot_look(layer)
    path.set("style", f"stroke: {SENTINELS[layer.role]}; stroke-width: {size}; stroke-opacity: {alpha}")


def _tidy(root: ET.Element, name: str) -> None:
    """Plain tags, unique ids, CSS colours, the page's font, and no more digits than a screen can show."""
    variables = {colour: f"var(--{role})" for role, colour in SENTINELS.items()}
    used = {m for e in root.iter() for value in e.attrib.values() for m in re.findall(r"#([\w-]+)", value)}
    for element in root.iter():
        element.tag = _local(element.tag)
        for key, value in list(element.attrib.items()):
            del element.attrib[key]
            if (key == "id" and value not in used) or value.startswith("rotate(-0 "):
                continue  # matplotlib names every group and turns every text, needed or not
            value = value if key == "data-ids" else _rewrite(value, key, name, variables)
            element.set("href" if _local(key) == "href" else _local(key), value)
        if element.tag not in {"text", "tspan", "title"}:
            element.text = None
        element.tail = None


def _rewrite(value: str, key: str, name: str, variables: Mapping[str, str]) -> str:
    if key == "id":
        return f"{name}-{value}"
    value = re.sub(r"#00f0[0-9a-f]{2}", lambda m: variables.get(m[0], m[0]), value)
    value = re.sub(r"#(?=[A-Za-z][\w-]*)(?![0-9a-f]{6}\b)", f"#{name}-", value)
    value = re.sub(r"font-family: [^;]*; ?|\s+(?=\n)|(?<=\n)\s+", "", value).replace("\n", " ")
    value = re.sub(r"font: ([0-9.]+)px [^;]*", r"font-size: \1px", value)  # older matplotlib
    return re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), value).strip()


def _dot_look(layer: Layer) -> tuple[float, float]:
    """Size and opacity of a dot: the crowd stays quiet, the chosen stand out."""
    if layer.role == "front":
        return 5.5, 1.0
    return (4.5, 0.8) if len(layer.x) <= 600 else (3.2, 0.7)


def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]


def _power(value: float) -> str:
    """Powers of ten as people write them: 10⁶."""
    if value <= 0 or 1e-3 <= value < 1e4:  # at the ends of what numbers there are, a tick may be 0
        return f"{value:g}"
    exponent = round(math.log10(value))
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def printable(text: str) -> str:
    """The text with what no font or XML can show replaced, and cut to a length that fits a figure."""
    text = text if len(text) <= 240 else f"{text[:239]}…"
    return "".join(c if c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF else "�" for c in text)
