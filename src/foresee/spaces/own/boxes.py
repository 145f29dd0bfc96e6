"""A network as a picture before it is drawn: boxes in the order in which they run, and lines where data flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foresee.errors import InputError

KINDS = ("input", "layer", "join", "output")
#: of a stranger's text so much is kept, of a picture so many boxes, of a shape so many sizes
LETTERS, MOST, AXES = 80, 400, 8


@dataclass(frozen=True)
class Box:
    """Something that runs: a layer with the small ones around it, a join of several (`+`, `concat`), an end.

    `name` is that of its module; `shape` what comes out, without the batch; `params` are counted where they first occur.
    """

    title: str
    kind: str = "layer"
    name: str = ""
    shape: tuple[int, ...] = ()
    params: int = 0
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def look(self) -> tuple[Any, ...]:
        """What a box says, whatever its name: equal boxes do the same."""
        return self.title, self.kind, self.shape, self.params, self.before, self.after


@dataclass(frozen=True)
class Repeat:
    """`count` boxes from `first` on that come `times` times one after the other, and are drawn once."""

    first: int
    count: int
    times: int


@dataclass(frozen=True)
class Drawing:
    """Boxes, lines between them (from an earlier to a later one), and which of them are repeated."""

    boxes: tuple[Box, ...]
    lines: tuple[tuple[int, int], ...]
    repeats: tuple[Repeat, ...] = ()

    def new_in(self, other: Drawing) -> frozenset[int]:
        """Places of the boxes of `other` that this one has not, each box counted as often as it is there."""
        there = Counter((box.look, self.times(place)) for place, box in enumerate(self.boxes))
        found = set()
        for place, box in enumerate(other.boxes):
            key = (box.look, other.times(place))
            if there[key]:
                there[key] -= 1
            else:
                found.add(place)
        return frozenset(found)

    def times(self, place: int) -> int:
        """How often a box comes."""
        return next((one.times for one in self.repeats if one.first <= place < one.first + one.count), 1)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        boxes = [
            {key: list(value) if isinstance(value, tuple) else value for key, value in vars(box).items() if value}
            for box in self.boxes
        ]
        return {
            "boxes": boxes,
            "lines": [list(line) for line in self.lines],
            "repeats": [[one.first, one.count, one.times] for one in self.repeats],
        }

    @classmethod
    def from_json(cls, plain: Any) -> Drawing:
        """Inverse of `to_json`, checked: a picture comes from a file."""
        try:
            boxes = tuple(map(_box, plain["boxes"]))
            lines = tuple((_whole(start), _whole(end)) for start, end in plain["lines"])
            repeats = tuple(Repeat(*map(_whole, one)) for one in plain["repeats"])
            ends = [one.first + one.count for one in repeats]
            wrong = len(boxes) > MOST or len(lines) > 4 * MOST or not all(a < b < len(boxes) for a, b in lines)
            if (
                wrong
                or not all(end <= len(boxes) for end in ends)
                or not all(one.count and one.times for one in repeats)
            ):
                raise ValueError("places that are not there")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"this is no drawing of a network ({error})") from error
        return cls(boxes, lines, repeats)


def _box(plain: Mapping[str, Any]) -> Box:
    shape = tuple(map(_whole, plain.get("shape", ())))[:AXES]
    before, after = (tuple(map(_text, plain.get(side, ()))) for side in ("before", "after"))
    kind = str(plain.get("kind", "layer"))
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r:.60}")
    params = _whole(plain.get("params", 0))
    return Box(_text(plain["title"]), kind, _text(plain.get("name", "")), shape, params, before, after)


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(f"{value!r:.60} is no count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.60} is no text")
    return value[:LETTERS]
