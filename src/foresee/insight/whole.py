"""Whole networks as pictures that can be read: what runs after what, with cells of one kind and size drawn as one box.

drawing = whole_network(space, architecture, task)       # boxes and lines, as plain values
svg = picture(drawing, title="DARTS_V2")                 # for a page
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import Any

import torch
from torch import nn

from foresee.lazy import find
from foresee.spaces.base import Space
from foresee.spaces.darts.network import Network, reductions
from foresee.spaces.own.boxes import Box, Drawing
from foresee.spaces.own.drawing import drawing_of
from foresee.task import Task

_CELL = re.compile(r"cells\.(\d+)")


def whole_network(space: Space[Any], architecture: Any, task: Task) -> Drawing:
    """The network of an architecture for images, found by running it once on zeros.

    Normal and reduction cells of the DARTS family are called so; where several of them in a row have the same size, they are
    one box, which says how many.

    >>> from foresee.spaces import get
    >>> darts = get("darts", channels=4, layers=8)
    >>> made = whole_network(darts, darts.named["DARTS_V2"], Task((3, 16, 16), 10))
    >>> [box.title for box in made.boxes][2:6]
    ['2 normal cells', 'reduction cell', '2 normal cells', 'reduction cell']
    """
    network = space.build(architecture, task)
    found = drawing_of(network.eval(), torch.zeros(2, *task.inputs))
    return titled(found, network)


def titled(drawing: Drawing, network: nn.Module) -> Drawing:
    """A drawing of a network with the cells of the DARTS family called what they are, those in a row as one box."""
    return _joined(_titled(drawing, network)) if isinstance(network, Network) else drawing


def picture(drawing: Drawing, *, title: str) -> str:
    """The drawing as an `svg` element."""
    draw, palette = (find("foresee.report.networks", name) for name in ("draw", "palette"))
    made: str = draw(drawing, palette([drawing]), title=title)
    return made


def _titled(drawing: Drawing, network: Network) -> Drawing:
    """Boxes of cells by what the cells are."""
    shrinking = reductions(len(network.cells))

    def title(box: Box) -> str:
        named = _CELL.fullmatch(box.name)
        if not named:
            return box.title
        return "reduction cell" if int(named[1]) in shrinking else "normal cell"

    return replace(drawing, boxes=tuple(replace(box, title=title(box)) for box in drawing.boxes))


def _joined(drawing: Drawing) -> Drawing:
    """Cells of one kind and size in a row as one box; lines within it are left out."""
    boxes: list[Box] = []
    where: list[int] = []
    for (is_cell, title, shape), group in groupby(
        drawing.boxes, lambda box: (bool(_CELL.fullmatch(box.name)), box.title, box.shape)
    ):
        members = list(group)
        if is_cell and len(members) > 1:
            together = f"{len(members)} {title}s"
            boxes.append(replace(members[0], title=together, shape=shape, params=sum(one.params for one in members)))
            where += [len(boxes) - 1] * len(members)
        else:
            where += range(len(boxes), len(boxes) + len(members))
            boxes += members
    lines = dict.fromkeys((where[a], where[b]) for a, b in drawing.lines if where[a] != where[b])
    return Drawing(tuple(boxes), tuple(lines), () if len(boxes) < len(drawing.boxes) else drawing.repeats)
