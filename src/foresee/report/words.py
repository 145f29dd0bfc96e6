"""Numbers, times and architectures as a page writes them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from foresee.quantities import format_cost
from foresee.report.info import Measure

#: characters of an architecture under the pointer
LINE = 300


def number(value: float | None) -> str:
    """A score: six significant digits.

    >>> number(0.123456789), number(3.2e45), number(None)
    ('0.123457', '3.2e+45', '–')
    """
    return "–" if value is None or not math.isfinite(value) else f"{value:.6g}"


def short(value: float | None) -> str:
    """A mean: four significant digits, written out below a million.

    >>> short(29.67891), short(11543.2), short(1234567.0), short(None)
    ('29.68', '11540', '1.235e+06', '–')
    """
    return number(None if value is None else float(f"{value:.4g}"))


def shown(value: float | None, measure: Measure) -> str:
    """A value of what was followed: costs as quantities, anything else as a score.

    >>> shown(559386.0, Measure("params", "lower", cost=True)), shown(0.25, Measure("dextr"))
    ('559 k', '0.25')
    """
    return format_cost(measure.name, value) if measure.cost and value is not None else number(value)


def spread_text(spread: float | None) -> str:
    """What follows a value that was drawn several times; nothing where there is no spread.

    >>> spread_text(0.08953), spread_text(None)
    (' ± 0.09', '')
    """
    return "" if spread is None or not math.isfinite(spread) else f" ± {number(float(f'{spread:.2g}'))}"


def times(many: int, what: str) -> str:
    """So many of something.

    >>> times(1, "epoch"), times(1200, "epoch")
    ('1 epoch', '1,200 epochs')
    """
    return f"{many:,} {what}{'' if many == 1 else 's'}"


def date(seconds: float) -> str:
    """Seconds since the epoch as a day and time.

    >>> date(0.0)
    '1970-01-01 00:00 UTC'
    """
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


def shortened(architecture: str) -> str:
    """The text of an architecture for a line under the pointer: at most `LINE` characters."""
    return architecture if len(architecture) <= LINE else architecture[: LINE - 1] + "…"
