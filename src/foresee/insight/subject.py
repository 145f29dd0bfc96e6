"""What is explained: a network with what it is looked at with; and its space and architecture, where there are such."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

from torch import nn

from foresee import data as data_room
from foresee.data import Data
from foresee.data.given import GivenBatches
from foresee.devices import usable
from foresee.errors import InputError
from foresee.handed import as_batches, is_data
from foresee.scoring.settings import ScoringSettings
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said, get
from foresee.task import Task


@dataclass(frozen=True, eq=False)
class Subject:
    """A network with its data. `handed` says that the data are batches somebody handed over, which stay as they are."""

    name: str
    network: nn.Module
    data: Data
    handed: bool
    task: Task
    space: Space[Any] | None = None
    architecture: Any = None


def subject_of(
    what: nn.Module | Candidate | tuple[Said, Any],
    batch: Any,
    data: str | Data | None,
    asked: ScoringSettings,
    *,
    name: str = "",
    space_settings: Mapping[str, Any] | None = None,
) -> Subject:
    """The network that is meant, with weights that the seed decides where it has to be built."""
    given = _given(batch, data, what)
    loaded = given or _loaded(asked)
    if isinstance(what, nn.Module):
        return Subject(name or type(what).__name__, _there(what, asked.device), loaded, given is not None, loaded.task)
    if isinstance(what, Candidate):
        space, wanted = what.space, what.architecture
    elif isinstance(what, tuple) and len(what) == 2:
        space, wanted = get(what[0], **(space_settings or {})), what[1]
    else:
        raise InputError(
            f"{type(what).__name__}: expected a torch.nn.Module, a pair (space, architecture), or a Candidate"
        )
    architecture, called = architecture_of(space, wanted)
    task = asked.fitted(loaded.task)
    network = built(space, architecture, task, asked)
    return Subject(name or called, network, loaded, given is not None, task, space, architecture)


def built(space: Space[Any] | None, architecture: Any, task: Task, asked: ScoringSettings) -> nn.Module:
    """The network of an architecture where it is looked at, with the weights that proxies score it with."""
    assert space is not None
    weights = {"weights_seed": derive(asked.seed, "weights")}
    return Candidate(space, architecture, task, weights).build().to(asked.device)


def architecture_of(space: Space[Any], wanted: Any) -> tuple[Any, str]:
    """An architecture and what it is called: by a published name, by its text, by its number in the space, or itself.

    A text that is all digits is a text first: so are those of NAS-Bench-Macro.

    >>> darts, cells = get("darts"), get("nasbench201")
    >>> architecture_of(darts, "darts_v2")[1], architecture_of(cells, "11")[1]
    ('DARTS_V2', 'nasbench201 number 11')
    >>> architecture_of(get("nasbench_macro"), "00000120")[1], architecture_of(get("nasbench_macro"), "120")[1]
    ('00000120', 'nasbench_macro number 120')
    """
    if isinstance(wanted, str | int):
        text = str(wanted).strip()
        for name, one in space.named.items():
            if name.lower() == text.lower().replace("-", "_"):
                return one, name
        if text.isdigit() and space.enumerable and not _reads(space, text):
            return _number(space, int(text)), f"{space.name} number {text}"
        wanted = _parsed(space, text)
    known = next((name for name, one in space.named.items() if one == wanted), "")
    return wanted, known or str(wanted)


def _reads(space: Space[Any], text: str) -> bool:
    try:
        space.parse(text)
    except InputError:
        return False
    return True


def _number(space: Space[Any], place: int) -> Any:
    found = next(islice(space.enumerate(), place, None), None)
    if found is None:
        size = "" if space.size is None else f", which has numbers 0 to {space.size - 1:,}"
        raise InputError(f"architecture {place}: there is no such one in {space.name}{size}")
    return found


def _parsed(space: Space[Any], text: str) -> Any:
    """The architecture of a text; of something near a published name that name is said."""
    try:
        return space.parse(text)
    except InputError as error:
        known = {one.lower(): one for one in space.named}
        close = get_close_matches(text.lower(), known, n=3, cutoff=0.5)
        if not close:
            raise
        words = ", ".join(known[one] for one in close)
        raise InputError(
            f"architecture {text!r} of {space.name}: did you mean {words}? Or as a text: {error}"
        ) from error


def _there(network: nn.Module, device: str) -> nn.Module:
    """A person's network on the device: itself, or a copy where it would have to move."""
    wanted = usable(device)
    here = {tensor.device for tensor in (*network.parameters(), *network.buffers())}
    return network if here <= {wanted} else copy.deepcopy(network).to(wanted)


def _given(batch: Any, data: str | Data | None, what: Any) -> Data | None:
    """Data that were handed over, or nothing."""
    if batch is not None and data is not None:
        raise InputError("batch and data: say one of them, since both are what the network is looked at with")
    if batch is None:
        return data if isinstance(data, Data) else None
    if is_data(batch):
        found: Data = batch
        return found
    return GivenBatches(as_batches(batch), what.task.outputs if isinstance(what, Candidate) else None)


def _loaded(asked: ScoringSettings) -> Data:
    if asked.tokens is not None:
        return data_room.load(asked.data, task=asked.fitted(Task()))
    schema: dict[str, Any] = {} if asked.schema is None else {"schema": asked.schema}
    return data_room.load(asked.data, inputs=asked.inputs, outputs=asked.outputs, **schema)
