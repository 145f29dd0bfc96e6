"""A training that ends in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from foresee.training.steps import Training


class StopError(BaseException):
    """As Ctrl-C: no `Exception`, so that nothing on the way takes it for a failure."""


@contextmanager
def stopped_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is trained inside is stopped before its next step."""
    real, seen = Training.step, []

    def step(self: Training, batch: Any) -> Any:
        if len(seen) == steps:
            raise StopError
        seen.append(1)
        return real(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "step", step)
        with pytest.raises(StopError):
            yield
