"""What drawings of graphs are made of: sizes, nodes, names on edges, and how high the lane of an arc is."""

from __future__ import annotations

from html import escape

_FONT, _CHARACTER = 11.0, 6.0  # text size and a generous width of one character, in units of the view box
NODE, _PILL = 26.0, 19.0  # heights of a node and of an edge's name
_FIRST, _LANE = 42.0, 31.0  # distance from the row to the first lane, and between lanes


def reach(count: int) -> float:
    """Space needed on one side of the row for so many lanes."""
    return _FIRST + (count - 1) * _LANE + _PILL / 2 if count else NODE / 2


def height(lane: int) -> float:
    """Signed distance from the row to the middle of a lane; up is negative, as in SVG."""
    return 0.0 if not lane else -(_FIRST + (abs(lane) - 1) * _LANE) * (1 if lane > 0 else -1)


def text_width(text: str) -> float:
    """About how wide a text is."""
    return len(text) * _CHARACTER


def pill(label: str, spot: tuple[float, float], look: str) -> str:
    """A name on an edge."""
    width = text_width(label) + 12
    return (
        f'<g class="{look}"><rect x="{spot[0] - width / 2:.1f}" y="{spot[1] - _PILL / 2:.1f}" width="{width:.1f}" '
        f'height="{_PILL:g}" rx="{_PILL / 2:g}"/>{_words(label, spot)}</g>'
    )


def node(label: str, spot: tuple[float, float], width: float, look: str) -> str:
    """A node with its name."""
    return (
        f'<g class="node {look}"><rect x="{spot[0] - width / 2:.1f}" y="{spot[1] - NODE / 2:.1f}" width="{width:.1f}" '
        f'height="{NODE:g}" rx="{NODE / 2:g}"/>{_words(label, spot)}</g>'
    )


def _words(label: str, spot: tuple[float, float]) -> str:
    return f'<text x="{spot[0]:.1f}" y="{spot[1] + _FONT * 0.35:.1f}" font-size="{_FONT:g}">{escape(label)}</text>'
