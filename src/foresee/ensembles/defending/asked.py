"""Which attacks are asked for, checked before anything is done."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foresee.ensembles.attacks.base import attacks, check_numbers
from foresee.errors import InputError
from foresee.registry import check_settings, tidy


def asked_attacks(
    attacks_: Sequence[str] | Mapping[str, Mapping[str, Any]], eps: float | None = None
) -> dict[str, dict[str, Any]]:
    """Attacks by name with their settings; an unknown name or setting is said before anything is done.

    >>> asked_attacks(["pgd", "cw"], eps=0.02)
    {'pgd': {'eps': 0.02}, 'cw': {}}
    """
    given = attacks_ if isinstance(attacks_, Mapping) else {name: {} for name in attacks_}
    if not given:
        raise InputError(f"defend: no attacks; there are {', '.join(attacks)}")
    found = {}
    for name, settings in given.items():
        one = attacks[name]
        usual = {} if eps is None or "eps" not in _settings(one.body) else {"eps": eps}
        found[tidy(name)] = {**usual, **settings}
        check_settings(f"attack {one.name}", one.body, found[tidy(name)])
        check_numbers(f"attack {one.name}", found[tidy(name)])
    return found


def _settings(body: Callable[..., Any]) -> list[str]:
    return [name for name, one in inspect.signature(body).parameters.items() if one.kind is one.KEYWORD_ONLY]
