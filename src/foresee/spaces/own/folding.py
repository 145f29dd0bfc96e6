"""A traced network made readable: small layers stand in the box of their neighbour, and what repeats is drawn once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foresee.spaces.own.boxes import Box, Drawing, Repeat
from foresee.spaces.own.titles import SILENT, is_activation, is_small

#: a part that repeats has at most so many boxes
PERIOD = 16
_SILENT = frozenset(kind.__name__ for kind in SILENT)


def folded(drawing: Drawing) -> Drawing:
    """The same network with fewer boxes."""
    return fold(join_small(drawing))


# -- small layers ---------------------------------------------------------------------------------------------------------
def join_small(drawing: Drawing) -> Drawing:
    """Norms, activations, pools and the like join the box before them, or else the layer after them.

    After a join only activations stay with it: the norm or pool that follows the last of several blocks is not a part of it,
    and blocks that differ in nothing else are folded.
    """
    boxes = dict(enumerate(drawing.boxes))
    lines = set(drawing.lines)
    for place, first in enumerate(drawing.boxes):
        if first.kind != "layer" or not is_small(first.title, first.params):
            continue
        box = boxes[place]  # others may have joined it
        said = (*box.before, *(() if box.title in _SILENT else (box.title,)), *box.after)
        sources, targets = _sources(lines, place), _targets(lines, place)
        backward = len(sources) == 1 and _targets(lines, sources[0]) == [place] and boxes[sources[0]].kind != "input"
        forward = len(targets) == 1 and _sources(lines, targets[0]) == [place] and boxes[targets[0]].kind == "layer"
        if backward and not (forward and boxes[sources[0]].kind == "join" and not is_activation(first.title)):
            host, into = boxes[sources[0]], sources[0]
            boxes[into] = replace(host, shape=box.shape, params=host.params + box.params, after=(*host.after, *said))
            lines = {(into if start == place else start, end) for start, end in lines if end != place}
        elif forward:
            host, into = boxes[targets[0]], targets[0]
            boxes[into] = replace(host, params=host.params + box.params, before=(*said, *host.before))
            lines = {(start, into if end == place else end) for start, end in lines if start != place}
        else:
            continue
        del boxes[place]
    return _numbered(boxes, lines, ())


def _sources(lines: set[tuple[int, int]], place: int) -> list[int]:
    return [start for start, end in lines if end == place]


def _targets(lines: set[tuple[int, int]], place: int) -> list[int]:
    return [end for start, end in lines if start == place]


def _numbered(boxes: dict[int, Box], lines: set[tuple[int, int]], repeats: Sequence[Repeat]) -> Drawing:
    """The boxes that are left, with new places."""
    new = {place: number for number, place in enumerate(boxes)}
    moved = [replace(one, first=new[one.first]) for one in repeats]
    return Drawing(tuple(boxes.values()), tuple(sorted((new[start], new[end]) for start, end in lines)), tuple(moved))


# -- what repeats ---------------------------------------------------------------------------------------------------------
def fold(drawing: Drawing) -> Drawing:
    """Boxes that come again in the same order, joined in the same way, are drawn once.

    Nothing after them may read from any but the last of them, and nothing else from before may reach into the later ones:
    so a picture with `× 4` says all.
    """
    lines = set(drawing.lines)
    looks = [
        (box.look, tuple(sorted(place - start for start in _sources(lines, place))))
        for place, box in enumerate(drawing.boxes)
    ]
    same: dict[int, int] = {}  # a box that is left out, and the one that stands for it
    repeats: list[Repeat] = []
    place = 0
    while place < len(looks):
        best = Repeat(place, 1, 1)
        for count in range(1, PERIOD + 1):
            times = _times(looks, lines, place, count)
            if count * (times - 1) > best.count * (best.times - 1):
                best = Repeat(place, count, times)
        if best.times > 1:
            repeats.append(best)
            for later in range(place + best.count, place + best.count * best.times):
                same[later] = place + (later - place) % best.count
        place += best.count * best.times
    boxes = {place: box for place, box in enumerate(drawing.boxes) if place not in same}
    drawn = {(same.get(start, start), end) for start, end in lines if end not in same}
    return _numbered(boxes, {(start, end) for start, end in drawn if start < end}, repeats)


def _times(looks: Sequence[object], lines: set[tuple[int, int]], first: int, count: int) -> int:
    """How often `count` boxes from `first` on come one after the other; 1 where they may not be folded."""
    part = looks[first : first + count]
    times = 1
    while len(part) == count and looks[first + times * count : first + (times + 1) * count] == part:
        times += 1
    while times > 1 and not _closed(lines, first, first + count * (times - 1), first + count * times):
        times -= 1
    return times


def _closed(lines: set[tuple[int, int]], first: int, last: int, end: int) -> bool:
    """Whether nothing from `end` on reads what is between `first` and `last`, where the last of the repeated parts begins."""
    return not any(first <= start < last and target >= end for start, target in lines)
