"""Numbers, times and architectures as a page writes them."""

from __future__ import annotations

import math

from foresee.report.words import LINE, date, shortened, spread_text


def test_long_architectures_are_shortened_under_the_pointer() -> None:
    assert shortened("x" * LINE) == "x" * LINE
    assert shortened("x" * (LINE + 1)) == "x" * (LINE - 1) + "…"


def test_spreads_have_two_digits() -> None:
    assert [spread_text(v) for v in (0.0, 12345.6, 1.26e-9, math.nan)] == [" ± 0", " ± 12000", " ± 1.3e-09", ""]


def test_dates_no_clock_can_show() -> None:
    assert date(math.nan) == "at an unknown time"
    assert date(1e300) == "at an unknown time"
