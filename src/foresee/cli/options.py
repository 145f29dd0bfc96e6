"""How the text of options becomes values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from foresee.errors import InputError, UnknownNameError, shown
from foresee.quantities import parse_duration, parse_quantity
from foresee.registry import tidy

#: the argument SPACE, for those who would rather write an option
SpaceOption = Annotated[str | None, typer.Option("--space", help="the same as SPACE, as an option", show_default=False)]
#: code of the person's own that trained networks are made by
NetworkCode = Annotated[
    str | None,
    typer.Option(
        "--network",
        help="module:function that makes the network, where it is code of your own",
        show_default="no code is run",
    ),
]
SpaceCode = Annotated[
    str | None, typer.Option("--space", help="module:function of an own space", show_default="no code is run")
]


def one_space(argument: str | None, option: str | None) -> str | None:
    """The space that was said, in one place or the other; names in their inside form."""
    from foresee.spaces.find import tidied

    said = {tidied(one) for one in (argument, option) if one is not None}
    if len(said) > 1:
        raise InputError(f"two spaces are named, {' and '.join(sorted(said))}: name one")
    return said.pop() if said else None


def parse_settings(pairs: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`name.key=value` pairs, by name; a value is JSON where it can be, else text.

    >>> parse_settings(["evolution.population=32", "dextr.curve_size=64"])
    {'evolution': {'population': 32}, 'dextr': {'curve_size': 64}}
    """
    settings: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        target, equals, value = pair.partition("=")
        name, dot, key = target.strip().rpartition(".")
        if not (equals and dot and name and key):
            raise InputError(f"--set {shown(pair)}: expected name.key=value, such as evolution.population=32")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        except RecursionError:
            raise InputError(f"--set {target}: its value is nested too deep") from None
        settings.setdefault(tidy(name), {})[tidy(key)] = parsed
    return settings


@dataclass(frozen=True)
class SortedSettings:
    """What `--set` said, by whom it is for; proxies by their names."""

    space: dict[str, Any] = field(default_factory=dict)
    searcher: dict[str, Any] = field(default_factory=dict)
    proxies: dict[str, dict[str, Any]] = field(default_factory=dict)


def sort_settings(pairs: Sequence[str], *, space: str, proxies: Sequence[str], searcher: str = "") -> SortedSettings:
    """Each `name.key=value` to the space, the searcher or the proxy of that name; `space` always means the space.

    >>> sort_settings(["space.channels=4", "dextr.curve_size=64"], space="nasbench201", proxies=["dextr"]).proxies
    {'dextr': {'curve_size': 64}}
    """
    found = SortedSettings()
    names = list(map(tidy, proxies))
    for name, values in parse_settings(pairs).items():
        if name in ("space", tidy(space)):
            found.space.update(values)
        elif searcher and name == tidy(searcher):
            found.searcher.update(values)
        elif name in names:
            found.proxies.setdefault(name, {}).update(values)
        else:
            raise UnknownNameError("name in --set", name, list(filter(None, ["space", space, searcher, *names])))
    return found


def parse_limits(**given: str | None) -> dict[str, dict[str, float]]:
    """`max_params="600k"` and the like, as the limits of a run.

    >>> parse_limits(max_params="600k", min_macs=None)
    {'params': {'max': 600000}}
    """
    limits: dict[str, dict[str, float]] = {}
    for option, text in given.items():
        if text is None:
            continue
        side, _, quantity = option.partition("_")
        try:
            bound = parse_duration(text) if quantity == "latency" else parse_quantity(text)
        except InputError as error:
            raise InputError(f"--{option.replace('_', '-')}: {error}") from error
        limits.setdefault(quantity, {})[side] = int(bound) if bound == int(bound) else bound
    return limits
