"""Times as logs write them, and what is taken from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from foresee.data.clicks.reading.texts import number

#: what `take` means
TAKE: dict[str, Callable[[datetime], int]] = {
    "hour": lambda time: time.hour,
    "weekday": lambda time: time.weekday(),
    "day": lambda time: time.day,
    "month": lambda time: time.month,
}


def moment(text: str, form: str) -> datetime | None:
    """The time that a text says in this form (of `strptime`, "iso", "unix", "unix_ms"); None where it says none.

    >>> moment("14102123", "%y%m%d%H"), moment("yesterday", "iso")
    (datetime.datetime(2014, 10, 21, 23, 0), None)
    """
    try:
        if form == "iso":
            return datetime.fromisoformat(text).replace(tzinfo=None)
        if form in ("unix", "unix_ms"):
            return datetime.fromtimestamp(number(text) / (1000 if form == "unix_ms" else 1), UTC).replace(tzinfo=None)
        return datetime.strptime(text, form).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def place(text: str, form: str | None) -> float:
    """Where a time stands in the order of times: seconds, or without a form the number itself; NaN where it is none.

    >>> place("14102123", "%y%m%d%H") > place("14102122", "%y%m%d%H"), place("17", None)
    (True, 17.0)
    """
    if form is None:
        value = number(text)
        if value == value:
            return value
    time = moment(text, form or "iso")
    return float("nan") if time is None else (time - datetime(1970, 1, 1)).total_seconds()
