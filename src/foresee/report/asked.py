"""What was asked: the settings of a run, read with tolerance for what is missing or of another shape."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from foresee.quantities import format_cost
from foresee.runs.record import Objective, Record
from foresee.supernets.words import in_words

#: sides of a limit; above and below leave the bound itself out
SIGNS = {"min": "≥", "above": ">", "max": "≤", "below": "<"}
#: whole numbers of a list, above which they are told by how many there are and their sum
MANY = 12


def read_limits(settings: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Limits by count, as `{"params": {"max": 600000.0}}`; what is not a number is left out.

    The sides are min and max, and above and below where the bound itself is not allowed.

    >>> read_limits({"limits": {"params": {"max": 600000}, "macs": 5e7}})
    {'params': {'max': 600000.0}, 'macs': {'max': 50000000.0}}
    """
    limits = settings.get("limits")
    found: dict[str, dict[str, float]] = {}
    for name, limit in limits.items() if isinstance(limits, Mapping) else ():
        sides = limit if isinstance(limit, Mapping) else {"max": limit}
        numbers = {side: float(sides[side]) for side in SIGNS if _is_number(sides.get(side))}
        if numbers:
            found[str(name)] = numbers
    return found


def limit_text(name: str, limit: Mapping[str, float]) -> str:
    """A limit for people.

    >>> limit_text("params", {"max": 600000.0})
    'params ≤ 600 k'
    """
    return ", ".join(f"{name} {SIGNS[side]} {format_cost(name, bound)}" for side, bound in limit.items())


def bounds(count: str, limits: Mapping[str, Mapping[str, float]]) -> tuple[float | None, float | None]:
    """Least and most of a count that the limits allow; a limit on FLOPs bounds MACs, at two per MAC.

    >>> bounds("macs", {"flops": {"max": 2e8}})
    (None, 100000000.0)
    """
    sides = [(side, bound) for side, bound in limits.get(count, {}).items()]
    if count == "macs":
        sides += [(side, bound / 2) for side, bound in limits.get("flops", {}).items()]
    low = [bound for side, bound in sides if side in ("min", "above")]
    high = [bound for side, bound in sides if side in ("max", "below")]
    return max(low, default=None), min(high, default=None)


def flatten(plain: Mapping[str, Any], prefix: str = "") -> tuple[tuple[str, str], ...]:
    """Nested settings as dotted names with their values in text; empty tables are left out.

    >>> flatten({"seed": 1, "task": {"outputs": 10}})
    (('seed', '1'), ('task.outputs', '10'))
    """
    pairs: list[tuple[str, str]] = []
    for key, value in plain.items():
        if isinstance(value, Mapping):
            pairs += flatten(value, f"{prefix}{key}.")
        else:
            text = value if isinstance(value, str) else _summed(value)
            pairs.append((f"{prefix}{key}", text))
    return tuple(pairs)


def _summed(value: Any) -> str:
    """A value in text; of many numbers, how many, which and their sum.

    >>> _summed([2, 3]), _summed([100] * 26)
    ('[2, 3]', '26 numbers, 100 to 100, in all 2,600')
    """
    if isinstance(value, list) and len(value) > MANY and all(isinstance(one, int) for one in value):
        return f"{len(value)} numbers, {min(value):,} to {max(value):,}, in all {sum(value):,}"
    return json.dumps(value, default=str, ensure_ascii=False)


def task_text(record: Record) -> str:
    """What goes in and out, for people: `3 × 32 × 32 → 10 outputs`, `13 numbers and 26 categories (900 values) → 1 output`.

    A click log's record without its vocabularies tells the numbers alone.
    """
    inputs, outputs = read_task(record)
    task = record.environment.get("task")
    values = task.get("vocabularies") if isinstance(task, Mapping) else None
    after = f"{outputs or '?'} output{'' if outputs == 1 and values else 's'}"
    if inputs and isinstance(values, list) and all(isinstance(one, int) for one in values):
        return f"{inputs[0]} numbers and {len(values)} categories ({sum(values):,} values) → {after}"
    return f"{' × '.join(map(str, inputs))} → {after}" if inputs else ""


def read_task(record: Record) -> tuple[tuple[int, ...], int | None]:
    """Input shape and outputs of the networks, from wherever the record tells them; () and None where it does not."""
    for source in (record.settings.get("task"), record.environment.get("task"), record.settings):
        if isinstance(source, Mapping) and isinstance(source.get("inputs"), list | tuple):
            return tuple(source["inputs"]), whole(source.get("outputs"))
    return (), None


def asked(record: Record, limits: Mapping[str, Mapping[str, float]]) -> tuple[tuple[str, str], ...]:
    """The question of the run in a few lines; what the record does not say is left out."""
    settings = record.settings
    lines = {
        "Space": _text(settings.get("space")),
        "Searcher": _text(settings.get("searcher")),
        "Proxies": ", ".join(proxy_names(record)),
        "Follows": objectives_text(record.objectives) if len(record.objectives) > 1 else "",
        "Limits": ", ".join(limit_text(name, limit) for name, limit in limits.items()) or "none",
        "Evaluations": _text(settings.get("evaluations")) + _begun_with(record),
        "Finalists": _finalists(settings),
        "Seed": _text(settings.get("seed")),
        "Data": _text(settings.get("data")) + _described(settings),
        "Warm-up": _warm(record),
        "Task": task_text(record),
    }
    return tuple((label, text) for label, text in lines.items() if text)


def _described(settings: Mapping[str, Any]) -> str:
    """By which schema a click log was read."""
    schema = _text(settings.get("schema"))
    return f", by the schema {schema}" if schema else ""


def _begun_with(record: Record) -> str:
    """How many evaluations were asked for at first, where the run was extended."""
    before = (event.details.get("evaluations") for event in record.events if event.kind == "resumed")
    first = next((one for one in before if isinstance(one, list) and one), None)
    return "" if first is None else f" (extended, {_text(first[0])} at first)"


def _warm(record: Record) -> str:
    """What was trained before looking; nothing where nothing was. A run that is not that far yet says what is to be."""
    said = next((event.details for event in record.events if event.kind == "warmup"), None)
    if said is None:
        return _text(record.settings.get("warmup"))
    try:
        return in_words(said)
    except (KeyError, TypeError, ValueError):  # of another shape: what was asked is known
        return _text(record.settings.get("warmup"))


def _finalists(settings: Mapping[str, Any]) -> str:
    """How many of the best are scored again; nothing for a run from before there were finals."""
    many, seeds = settings.get("finalists"), settings.get("finalist_seeds")
    return "" if many is None else f"{many}, under {seeds} fresh seeds" if many else "none"


def objectives_text(objectives: Iterable[Objective]) -> str:
    """What is followed, for people.

    >>> objectives_text([Objective("foresee", "higher"), Objective("params", "lower")])
    'foresee (higher), params (lower)'
    """
    return ", ".join(f"{one.name} ({one.direction})" for one in objectives)


def proxy_names(record: Record) -> tuple[str, ...]:
    """Proxies of the run: those asked for, in their order, then any other that left a score."""
    asked = record.settings.get("proxies")
    names = [asked] if isinstance(asked, str) else [str(name) for name in asked] if isinstance(asked, list) else []
    return tuple(dict.fromkeys([*names, *(name for c in record.candidates for name in c.scores)]))


def whole(value: object) -> int | None:
    """The value if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _text(value: object) -> str:
    return "" if value is None else str(value)
