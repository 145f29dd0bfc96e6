"""What decides the numbers of a bench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foresee.errors import InputError
from foresee.scoring.settings import ScoringSettings
from foresee.settings import Kind, Settings, name, needed, part, setting, whole
from foresee.settings import table as named_values
from foresee.statistics import TOP
from foresee.task import Task

#: what every proxy has to beat
BASELINES = ("params", "macs", "random")

_NUMBERS = Kind("a list of numbers", lambda value: isinstance(value, list | tuple))


@dataclass(frozen=True)
class BenchSettings(Settings):
    """All that decides the numbers of a bench; engine, workers, cache and folder do not.

    `table` is the file and `table_sha256` its digest; `sample` None means every architecture with the target. Repeat r of
    `scoring` looks with its seed + r.
    """

    space: str = needed(name())
    table: str = needed(name("a path"))
    table_sha256: str = needed(name("a digest"))
    target: str = needed(name())
    scoring: ScoringSettings = part(ScoringSettings)  # noqa: RUF009 - a field, as the others
    space_settings: Mapping[str, Any] = setting({}, named_values())
    sample: int | None = setting(1000, whole(least=2))  # two are the fewest that have an order
    bootstrap: int = setting(1000, whole(0, most=1_000_000))
    top: tuple[int | float, ...] = setting(TOP, _NUMBERS)

    @property
    def task(self) -> Task:
        """What the networks were built for."""
        if self.scoring.inputs is None or self.scoring.outputs is None:
            raise InputError("a bench says what its networks are built for: inputs and outputs")
        return Task(self.scoring.inputs, self.scoring.outputs, tokens=self.scoring.tokens)

    @property
    def seeds(self) -> list[int]:
        """One for each repeat."""
        return [self.scoring.seed + repeat for repeat in range(self.scoring.repeats)]
