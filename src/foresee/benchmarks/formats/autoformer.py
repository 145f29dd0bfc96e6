"""AutoFormer subnets with accuracies: a JSON list of `{"arch": {...}, "c100_base_acc": 68.7, ...}`.

An accuracy is named `<data>_<how>_acc`: after training alone (`base`), with distillation (`kd`), with weights inherited from
the supernet (`super`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector, entry_number
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError, ForeseeError, InputError

_SPACES = ("autoformer_tiny", "autoformer_small", "autoformer_base")
_TASKS = {"c100": "cifar100", "flower": "flowers"}


def read(file: File, space: str | None) -> Table:
    """The table of a list of subnets; the first of the three spaces that offers all their sizes, unless one is stated."""
    with reading(file.where, "a list of AutoFormer subnets"):
        subnets = [_subnet(entry, f"{file.where}, entry {number}") for number, entry in enumerate(file.json, 1)]
        collector = Collector(file.where, _space(subnets, space, file.where))
        for number, (entry, subnet) in enumerate(zip(file.json, subnets, strict=True), 1):
            place = collector.new(str(subnet))
            for name, value in entry.items():
                if match := re.fullmatch(r"(\w+?)_(\w+)_acc", name):
                    task = _TASKS.get(match[1], match[1])
                    measured = entry_number(value, f"{file.where}, entry {number}, {name}")
                    if measured is not None:
                        collector.measure(place, measured, f"{match[2]}_acc", task, UNKNOWN, MEAN)
                        collector.aliases[name] = f"{match[2]}_acc_{task}"
                elif name != "arch" and isinstance(value, int | float):
                    collector.cost(place, name, float(value))
        return collector.table()


def _subnet(entry: Any, where: str) -> Any:
    """The architecture of an entry; what is wrong with it is told with its place in the list, from 1."""
    from foresee.spaces.autoformer.architecture import from_config

    if not isinstance(entry, dict) or "arch" not in entry:
        raise DataError(f"{where}: {str(entry)[:40]!r}, expected an object with arch")
    try:
        return from_config(entry["arch"])
    except ForeseeError as error:
        raise DataError(f"{where}, arch: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{where}, arch: not a subnet ({type(error).__name__}: {error})") from error


def _space(subnets: Sequence[Any], stated: str | None, where: str) -> str:
    if stated is not None:
        if stated not in _SPACES:
            raise InputError(
                f"{where}: holds AutoFormer subnets, not architectures of {stated}; one of {', '.join(_SPACES)}"
            )
        return stated
    from foresee.spaces import autoformer

    for kind in (autoformer.AutoFormerTiny, autoformer.AutoFormerSmall, autoformer.AutoFormerBase):
        space = kind()
        if all(map(space.contains, subnets)):
            return space.name
    raise DataError(
        f"{where}: no AutoFormer space offers the sizes of all its subnets; state one of {', '.join(_SPACES)}"
    )


def _recognises(file: File) -> bool:
    if not file.is_json or '"arch"' not in file.first_text:
        return False
    plain = file.json
    first = plain[0] if isinstance(plain, list) and plain else None
    return isinstance(first, dict) and isinstance(first.get("arch"), dict) and "mlp_ratio" in first["arch"]


FORMAT = Format("autoformer", "a JSON list of AutoFormer subnets with accuracies", _recognises, read)
