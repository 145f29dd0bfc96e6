"""A page: a template of this room filled, with one style and one script, in one self-contained file.

Everything that is filled in is escaped by the template engine. A content policy names the one script of the page by its
hash, so that a browser would run no other even if one slipped in.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresee.errors import InputError
from foresee.quantities import format_cost, format_quantity, format_seconds
from foresee.report.figures import COUNT_NAMES
from foresee.report.graphs import Cells, is_nothing, operations
from foresee.report.intervals import in_words
from foresee.report.words import date, number, short, shown, spread_text

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


def report_in(folder: str | Path | None, what: str) -> Path:
    """Where the report of a result goes; `what` names the result that has no folder."""
    if folder is None:
        raise InputError(f"this {what} has no folder: name one to write the report into")
    return Path(folder) / "report.html"


def page(template: str, **context: Any) -> str:
    """A template of this room, filled, with the style and the one script of all pages."""
    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made = _environment().get_template(template).render(script=script, script_hash=digest, **context)
    # Lone surrogates cannot be written as UTF-8, and browsers show NUL in several ways.
    return made.encode("utf-8", "replace").decode().replace("\0", "�")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(quantity=format_quantity, seconds=format_seconds, number=number, date=date, ops=ops)
    made.filters.update(estimate=in_words, shown=shown, spread=spread_text, numbers=_named, short=short)
    made.filters["cost"] = lambda value, name: format_cost(name, value)
    made.tests.update(nothing=is_nothing, finite=math.isfinite)
    made.globals["count_names"] = COUNT_NAMES
    return made


def ops(cells: Cells, architecture: str) -> list[tuple[str, int]]:
    """The operations of an architecture with their colours, for the small squares beside its text."""
    colours = cells.operations
    return [(name, colours[name]) for graph in cells.graphs.get(architecture, ()) for name in operations(graph)]


def _named(values: Mapping[str, float]) -> list[tuple[str, str]]:
    return [(name, number(value)) for name, value in values.items()]
