"""Networks drawn as SVG, by hand: boxes in a column in the order in which they run, lines where data flows.

A line to the next box is straight; longer ones run on the right, the shortest nearest to the boxes. What repeats is drawn
once, with a bracket and `× 4` on the left. Each kind of layer has one colour in the whole page and its name in the box.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from foresee.quantities import format_quantity
from foresee.report.graphs import COLOURS
from foresee.spaces.own.boxes import Box, Drawing

_FONT, _SMALL = 12.0, 10.0
_LETTER, _LITTLE = 6.6, 5.4  # generous widths of a character of either size
_HIGH, _LOW, _ENDS = 42.0, 28.0, 26.0  # heights of a box with two lines, with one, and of joins and ends
_GAP, _LANE, _PAD = 24.0, 13.0, 12.0
_LEAST, _MOST = 190.0, 330.0


def palette(drawings: Iterable[Drawing]) -> dict[str, int]:
    """Colour numbers of the kinds of layers, in order of name."""
    kinds = {kind_of(box) for drawing in drawings for box in drawing.boxes if box.kind == "layer"}
    return {name: number % COLOURS for number, name in enumerate(sorted(kinds, key=lambda one: (one.lower(), one)))}


def kind_of(box: Box) -> str:
    """What decides the colour of a box: the first word of its title."""
    return box.title.partition(" ")[0]


def draw(drawing: Drawing, colours: Mapping[str, int], *, title: str, new: frozenset[int] | None = None) -> str:
    """The network as an `svg` element. Where `new` is given, all boxes but these step back."""
    width = min(max([_LEAST, *(_width(box) for box in drawing.boxes)]), _MOST)
    left = 58.0 if drawing.repeats else 8.0
    centre = left + width / 2
    tops, heights = _rows(drawing)
    lanes = _lanes(drawing)
    right = left + width + 10 + _LANE * max(lanes.values(), default=0) + 6
    parts = [_bracket(drawing, one.first, one.count, one.times, tops, heights, left) for one in drawing.repeats]
    for start, end in drawing.lines:
        if end == start + 1:
            y1, y2 = tops[start] + heights[start], tops[end]
            parts.append(_line(f"M{centre:.1f} {y1:.1f}V{y2 - 6:.1f}", f"M{centre:.1f} {y2 - 1:.1f}l-3.6 -7h7.2z"))
        else:
            x = left + width + 10 + _LANE * (lanes[start, end] - 1)
            y1, y2 = tops[start] + heights[start] * 0.7, tops[end] + heights[end] * 0.3
            x1, x2 = (centre + _half(drawing.boxes[place], width) for place in (start, end))
            path = f"M{x1:.1f} {y1:.1f}H{x - 5:.1f}q5 0 5 5V{y2 - 5:.1f}q0 5 -5 5H{x2 + 7:.1f}"
            parts.append(_line(path, f"M{x2 + 1:.1f} {y2:.1f}l7 -3.6v7.2z"))
    for place, box in enumerate(drawing.boxes):
        faded = new is not None and place not in new
        parts.append(_box(box, colours, centre, tops[place], heights[place], width, faded=faded))
    shapes = _shapes(drawing, centre, tops, heights)
    height = tops[-1] + heights[-1] + 4 if tops else 0.0
    return (
        f'<svg class="net" viewBox="0 0 {right:.1f} {height:.1f}" style="max-width: {right:.0f}px" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}{shapes}</svg>"
    )


def _rows(drawing: Drawing) -> tuple[list[float], list[float]]:
    heights = [_ENDS if box.kind != "layer" else _HIGH if _second(box) else _LOW for box in drawing.boxes]
    tops, y = [], 4.0
    for height in heights:
        tops.append(y)
        y += height + _GAP
    return tops, heights


def _lanes(drawing: Drawing) -> dict[tuple[int, int], int]:
    """A lane on the right for each long line: short ones first, each in the nearest that is free along its way."""
    found: dict[tuple[int, int], int] = {}
    long = [(start, end) for start, end in drawing.lines if end > start + 1]
    for start, end in sorted(long, key=lambda line: (line[1] - line[0], line)):
        taken = {lane for (a, b), lane in found.items() if a < end and start < b}
        found[start, end] = next(lane for lane in range(1, len(long) + 1) if lane not in taken)
    return found


def _bracket(
    drawing: Drawing, first: int, count: int, times: int, tops: list[float], heights: list[float], left: float
) -> str:
    y1, y2 = tops[first], tops[first + count - 1] + heights[first + count - 1]
    x = left - 12
    return (
        f'<g class="repeat"><path d="M{x + 6:.1f} {y1:.1f}h-2q-4 0 -4 4V{y2 - 4:.1f}q0 4 4 4h2"/>'
        f'<text x="{x - 7:.1f}" y="{(y1 + y2) / 2 + 4:.1f}" text-anchor="end" font-size="{_FONT + 1:g}">× {times}</text></g>'
    )


def _line(path: str, head: str) -> str:
    return f'<g class="flow"><path d="{path}"/><path class="head" d="{head}"/></g>'


def _box(
    box: Box, colours: Mapping[str, int], centre: float, top: float, height: float, width: float, *, faded: bool
) -> str:
    look = f"op{colours.get(kind_of(box), 0)}" if box.kind == "layer" else box.kind
    half = _half(box, width)
    hint = " · ".join(filter(None, [box.name, box.title, _second(box), f"{box.params:,} params" if box.params else ""]))
    parts = [
        f'<g class="box {look}{" same" if faded else ""}"><title>{escape(hint)}</title>'
        f'<rect x="{centre - half:.1f}" y="{top:.1f}" width="{2 * half:.1f}" height="{height:.1f}" '
        f'rx="{7 if box.kind == "layer" else height / 2:g}"/>'
    ]
    if box.kind != "layer":
        words = " ".join(filter(None, [box.title, _second(box)]))
        parts.append(_text(words, centre, top + height / 2 + 4, "middle", _FONT, "title"))
        return "".join(parts) + "</g>"
    params = format_quantity(box.params) if box.params else ""
    room = 2 * half - 2 * _PAD - (len(params) + 1) * _LITTLE * bool(params)
    middle = top + (17 if _second(box) else height / 2 + 4)
    parts.append(_text(_cut(box.title, room / _LETTER), centre - half + _PAD, middle, "start", _FONT, "title"))
    if params:
        parts.append(_text(params, centre + half - _PAD, middle, "end", _SMALL, "little"))
    if second := _second(box):
        cut = _cut(second, (2 * half - 2 * _PAD) / _LITTLE)
        parts.append(_text(cut, centre - half + _PAD, top + 33, "start", _SMALL, "little"))
    return "".join(parts) + "</g>"


def _shapes(drawing: Drawing, centre: float, tops: list[float], heights: list[float]) -> str:
    """What comes out of each box, beside the line to the next; where it is as before, it is not said again."""
    said: tuple[int, ...] = ()
    words = []
    for place, box in enumerate(drawing.boxes[:-1]):
        if box.shape and box.shape != said and (place, place + 1) in drawing.lines:
            said = box.shape
            y = tops[place] + heights[place] + _GAP / 2 + 3.5
            words.append(_text("×".join(map(str, box.shape)), centre + 8, y, "start", _SMALL, "shape"))
    return "".join(words)


def _second(box: Box) -> str:
    """The small layers that stand in the box."""
    before = f"after {', '.join(box.before)}" if box.before else ""
    after = f"then {', '.join(box.after)}" if box.after else ""
    return "; ".join(filter(None, [before, after]))


def _half(box: Box, width: float) -> float:
    if box.kind == "layer":
        return width / 2
    return max(22.0, (len(" ".join(filter(None, [box.title, _second(box)]))) * _LETTER + 2 * _PAD) / 2)


def _width(box: Box) -> float:
    title = len(box.title) * _LETTER + (len(format_quantity(box.params)) + 2) * _LITTLE
    return max(title, len(_second(box)) * _LITTLE) + 2 * _PAD


def _cut(text: str, letters: float) -> str:
    most = max(int(letters), 4)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(words: str, x: float, y: float, anchor: str, size: float, look: str) -> str:
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}">{escape(words)}</text>'
