"""AutoFormer subnets with accuracies: a JSON list of `{"arch": {...}, "c100_base_acc": 68.7, ...}`.

An accuracy is named `<data>_<how>_acc`: after training alone (`base`), with distillation (`kd`), with weights inherited from
the supernet (`super`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import MEAN, UNKNOWN, Table
from foresee.errors import DataError, InputError

_SPACES = ("autoformer_tiny", "autoformer_small", "autoformer_base")
_TASKS = {"c100": "cifar100", "flower": "flowers"}


def read(file: File, space: str | None) -> Table:
    """The table of a list of subnets; the first of the three spaces that offers all their sizes, unless one is stated."""
    from foresee.spaces.autoformer.architecture import from_config

    with reading(file.where, "a list of AutoFormer subnets"):
        subnets = [from_config(entry["arch"]) for entry in file.json]
        collector = Collector(file.where, _space(subnets, space, file.where))
        for entry, subnet in zip(file.json, subnets, strict=True):
            place = collector.new(str(subnet))
            for name, value in entry.items():
                if match := re.fullmatch(r"(\w+?)_(\w+)_acc", name):
                    task = _TASKS.get(match[1], match[1])
                    collector.measure(place, float(value), f"{match[2]}_acc", task, UNKNOWN, MEAN)
                    collector.aliases[name] = f"{match[2]}_acc_{task}"
                elif name != "arch" and isinstance(value, int | float):
                    collector.cost(place, name, float(value))
        return collector.table()


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
