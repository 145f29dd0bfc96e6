"""The lines to type for an ensemble: to find it again, to attack it, to hand it on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from foresee.data import sets
from foresee.ensembles.finding import EnsembleRun, EnsembleSettings
from foresee.report.commands import shown_path

#: settings that `foresee ensemble` has an option for
OPTIONS = (
    *("size", "sampler", "seed", "device", "iterations", "delta", "posterior", "pool", "recipe", "epochs", "batch"),
    *("channels", "layers", "cells", "supernet_epochs"),
)
#: settings that are tables: `--set name.key=value`
TABLES = {"space_settings": "space", "recipe_values": "recipe", "supernet": "supernet"}


def lines(run: EnsembleRun) -> list[tuple[str, str]]:
    """Labels and lines; those that name a folder only where there is one."""
    where = None if run.folder is None else shown_path(run.folder)
    found = [("Find it again", ensemble_line(run, where or "runs/e"))]
    if where is not None:
        found.append(("Attack it", f"foresee defend {shlex.quote(where)}"))
        found.append(("Hand it on", f"foresee export {shlex.quote(where)} --format torch_export --format onnx"))
    return found


def ensemble_line(run: EnsembleRun, out: str) -> str:
    """`foresee ensemble` with the settings of a run; the data by its name, where it has one."""
    name = str((run.data.get("train") or {}).get("name") or "").partition("/")[0]
    words = ["foresee", "ensemble", run.settings.space, *_said(run.settings)]
    return " ".join([shlex.join(words), "--data", name if name in sets else "DATA", "--out", shlex.quote(out)])


def _said(settings: EnsembleSettings) -> Iterator[str]:
    """Options for all that is not as usual; size and sampler always."""
    usual = {one.name: one.default for one in fields(settings)}
    for key, value in settings.to_json().items():
        if key == "space" or (value == usual.get(key) and key not in ("size", "sampler")) or value in (None, {}):
            continue
        if key == "inputs":
            yield from ("--input", "x".join(map(str, value)))
        elif key in TABLES:
            for name, inner in value.items():
                yield from ("--set", f"{TABLES[key]}.{name}={_text(inner)}")
        elif key in OPTIONS:
            yield from (f"--{key.replace('_', '-')}", str(value))
        else:
            yield from ("--set", f"ensemble.{key}={_text(value)}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
