"""What decides the numbers of a bench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from foresee.errors import InputError
from foresee.statistics import TOP
from foresee.task import Task

#: what every proxy has to beat
BASELINES = ("params", "macs", "random")


@dataclass(frozen=True)
class BenchSettings:
    """All that decides the numbers of a bench; engine, workers, cache and folder do not.

    `table` is the file and `table_sha256` its digest; `sample` None means every architecture with the target.
    """

    space: str
    table: str
    table_sha256: str
    target: str
    proxies: tuple[str, ...]
    space_settings: Mapping[str, Any] = field(default_factory=dict)
    proxy_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sample: int | None = 1000
    seed: int = 0
    repeats: int = 1
    data: str = "digits"
    inputs: tuple[int, ...] = ()
    outputs: int = 0
    batch_size: int | None = None
    threads: int = 1
    device: str = "cpu"
    bootstrap: int = 1000
    top: tuple[int | float, ...] = TOP

    def __post_init__(self) -> None:
        # two are the fewest that have an order
        for name, least in {"sample": 2, "repeats": 1, "batch_size": 1, "threads": 1, "bootstrap": 0}.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} = {value}: at least {least} is needed")

    @property
    def task(self) -> Task:
        """What the networks were built for."""
        return Task(self.inputs, self.outputs)

    @property
    def seeds(self) -> list[int]:
        """One for each repeat."""
        return [self.seed + repeat for repeat in range(self.repeats)]

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields; what is not set is left out."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in plain.items() if value is not None
        }
