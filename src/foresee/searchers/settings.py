"""The settings of a search: all that decides its result, and nothing else.

Engine, number of workers and output folder are not here: they do not change what is found. The same values travel as
command-line options, as Python arguments, as a TOML file and inside the run's store.

A run may be resumed with other values of `EXTENDABLE` only: they say how far it goes, not which way. Such a run ends as one
that was asked for with these values from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from foresee.budgets import Limits
from foresee.errors import InputError
from foresee.registry import tidy
from foresee.scoring.settings import ScoringSettings
from foresee.settings import Settings, name, names, needed, part, setting, table, whole
from foresee.task import MOST

#: what may change when a run is resumed; evaluations can only grow, for what is scored stays scored
EXTENDABLE = ("evaluations", "finalists", "finalist_seeds")


@dataclass(frozen=True)
class SearchSettings(Settings):
    """What was asked.

    Args:
        space: registered name, or `module:function` for an own space.
        space_settings: settings of the space.
        scoring: how candidates are scored; its first proxy steers, the others are recorded beside it.
        objectives: what is followed, proxies of `scoring` or costs such as params; by default the steering proxy.
        searcher: registered name.
        searcher_settings: settings of the searcher.
        limits: hard limits, `{"params": {"max": 600000}}`.
        evaluations: how many candidates to score.
        finalists: how many of the best are scored again at the end, to see whether the first is really ahead; 0 for none.
        finalist_seeds: under how many fresh seeds (other weights, other data) they are scored again.
        memory_batch: samples per batch that a limit on memory is for.
        latency_table: file made by `foresee latency`; without it latency is measured.
        measure: what `measured` is where no table is handed over: `inherited` (validation accuracy, of click logs the log
            loss, with the weights of a supernet that is trained first), `last_layer` (likewise, with the last layer trained
            for each architecture) or `trained` (each architecture by itself, briefly); it is followed then, unless objectives
            say otherwise.
        measure_recipe: how that is trained: a recipe's name or file.
        measure_steps: of `last_layer`: optimiser steps of the last layer; 500 where it is not said.
        window: how many candidates may be asked for ahead of the results told; also how many can be scored at once.
    """

    space: str = needed(name())
    space_settings: Mapping[str, Any] = setting({}, table())
    scoring: ScoringSettings = part(ScoringSettings)  # noqa: RUF009 - a field, as the others
    objectives: tuple[str, ...] = setting((), names())
    searcher: str = setting("evolution", name())
    searcher_settings: Mapping[str, Any] = setting({}, table())
    limits: Mapping[str, Mapping[str, Any]] = setting({}, table())
    evaluations: int = setting(100, whole(1, MOST))
    finalists: int = setting(5, whole(0, MOST))
    finalist_seeds: int = setting(4, whole(2, MOST))
    memory_batch: int = setting(1, whole(1, MOST))
    latency_table: str | None = setting(None, name("a path"))
    measure: str | None = setting(None, name("inherited, last_layer or trained"))
    measure_recipe: str | None = setting(None, name("a recipe's name or file"))
    measure_steps: int | None = setting(None, whole(1, MOST))
    window: int = setting(8, whole(1, MOST))

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "objectives", tuple(map(tidy, self.objectives)))
        if self.measure is not None:
            object.__setattr__(self, "measure", tidy(self.measure))
        if self.measure is not None and not self.objectives:
            object.__setattr__(self, "objectives", ("measured",))
        if self.measure is None and (self.measure_recipe is not None or self.measure_steps is not None):
            which = "measure_steps" if self.measure_recipe is None else "measure_recipe"
            raise InputError(f"{which}: say what is measured too (measure = 'inherited', 'last_layer' or 'trained')")
        if len(set(self.objectives)) < len(self.objectives):
            raise InputError(f"objectives {', '.join(self.objectives)}: one is named twice")
        Limits.from_json(self.limits)

    @classmethod
    def of_run(cls, stored: Mapping[str, Any]) -> Self:
        """The settings of a stored run; one from before there were finals has none."""
        return cls.from_json({"finalists": 0, **stored})

    def extends(self, before: SearchSettings) -> dict[str, list[int]]:
        """What is changed in a run that had those settings, as name: [before, now]; see `refused`."""
        both = {name: [getattr(before, name), getattr(self, name)] for name in EXTENDABLE}
        return {name: values for name, values in both.items() if values[0] != values[1]}

    def refused(self, before: SearchSettings) -> list[str]:
        """Why a run that had those settings cannot be resumed with these, a line per difference; empty where it can."""
        alike = replace(self, **{name: getattr(before, name) for name in EXTENDABLE})
        found = alike.differences(before.to_json())
        if self.evaluations < before.evaluations:
            found.append(
                f"evaluations: {self.evaluations} here, {before.evaluations} in the run, and they can only grow"
            )
        return found
