"""Of which networks a table's numbers are, as a bench or a contest builds them: the benchmark's own, or those asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foresee import data as data_room
from foresee.benchmarks import tasks
from foresee.benchmarks.table import Table
from foresee.data import Data
from foresee.errors import InputError
from foresee.scoring.settings import ScoringSettings
from foresee.spaces.base import Space
from foresee.spaces.find import is_code
from foresee.spaces.own import OwnSpace
from foresee.task import Task


def networks_of(
    table: Table,
    task_name: str,
    space: str | Space[Any] | None,
    space_settings: Mapping[str, Any] | None,
    asked: ScoringSettings,
    data: Data | None,
) -> tuple[str | Space[Any], dict[str, Any], Task, tuple[str, ...]]:
    """Space, its settings and the task: the benchmark's own, with what was asked for instead, and remarks about them."""
    name = space.name if isinstance(space, Space) else space or table.space
    if not name:
        raise InputError(f"{table.source or 'the table'} does not say of which space it is: name the space")
    handed_over = isinstance(space, OwnSpace) and is_code(table.space)
    if table.space not in ("", name) and not handed_over:
        raise InputError(f"space {name}: {table.source or 'the table'} is of {table.space}")
    notes: list[str] = []
    if name in tasks.NETWORKS:
        task, settings = tasks.of(name, task_name)
        notes += [tasks.remark(name)] if tasks.remark(name) else []
    else:
        task = (data or data_room.load(asked.data)).task
        settings = {}
    own = asked.fitted(task)
    if own != task and name in tasks.NETWORKS:
        shapes = [f"{'x'.join(map(str, one.inputs))} to {one.outputs}" for one in (own, task)]
        notes.append(f"networks for {shapes[0]}, where the benchmark's are for {shapes[1]}")
    if space_settings:
        said = ", ".join(f"{key} = {value}" for key, value in space_settings.items())
        notes.append(f"networks with settings that were asked for: {said}")
    if isinstance(space, Space):
        return space, space.settings(), own, tuple(notes)
    return name, {**settings, **table.space_settings, **(space_settings or {})}, own, tuple(notes)
