"""Values as bytes for the way to another machine and back, functions of a script among them.

Ray would hand over arrays as views of memory that nobody may write to; sealed ones are a worker's own, as elsewhere.
"""

from __future__ import annotations

from typing import Any

from foresee.errors import said
from foresee.extras import need
from foresee.runs.engines.base import Work, attempt


def sealed(value: Any) -> bytes:
    """The value as bytes."""
    data: bytes = need("ray.cloudpickle").dumps(value)
    return data


def opened(data: bytes) -> Any:
    """The value again. Only what this run itself has sealed is opened."""
    return need("ray.cloudpickle").loads(data)


def answer(work: Work, payload: bytes) -> tuple[bytes | None, str | None]:
    """Do one job: its value, sealed, or the error that ended it."""
    try:
        given = opened(payload)
    except Exception as error:
        return None, f"the payload cannot be read ({said(error)})"
    outcome = attempt(work, 0, given)
    if outcome.error is not None:
        return None, outcome.error
    try:
        return sealed(outcome.value), None
    except Exception as error:
        return None, f"the value cannot be handed back ({said(error)})"
