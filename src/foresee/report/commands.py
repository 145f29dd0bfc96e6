"""The lines to type: to run a search again, to go on with it, to build and to score what it found."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foresee.report.asked import proxy_names, read_task
from foresee.runs.record import Record
from foresee.spaces.find import is_code

#: settings that `foresee search` has an option for, with the value that needs no mention
_OPTIONS = {
    **{"seed": None, "schema": None, "tokens": None, "batch_size": None, "repeats": 1, "threads": 1, "device": "cpu"},
    **{"warmup": None, "warmup_by": None, "warmup_recipe": None},
}
#: settings that change nothing in the command when they have this value, and cannot be given by an option otherwise
_SILENT = {"window": 8, "finalist_seeds": 4}
#: how many finalists there are where nothing was said
FINALISTS = 5


@dataclass(frozen=True)
class Commands:
    """Lines for the terminal and for Python. An empty line means that there is no such way."""

    search: str
    resume: str
    extend: str
    stored: str
    build: str
    score: str


def commands(record: Record, best: str | None, folder: str | Path | None = None) -> Commands:
    """Every line that leads back to this run or to `best`, the text of its best architecture."""
    where = None if folder is None else shown_path(folder)
    search = search_line(record, where or "runs/again")
    # Code is run when a person names it and never because a file does, so these lines name it beside the file.
    code = [name for name in [str(record.settings.get("space"))] if is_code(name)]
    words = ("foresee", "search", *code, "--settings", f"{where}/settings.toml", "--out")
    stored = "" if where is None or any(map(_is_given, code)) else _line(*words, "runs/again")
    said = [f"space={name.rpartition(':')[2] if _is_given(name) else json.dumps(name)}" for name in code]
    asked = ", ".join([json.dumps(f"{where}/best.json"), *said])
    build = "network = run.best.build()" if where is None else f"network = fs.build({asked})"
    again = search or (stored and _line(*words, str(where)))
    return Commands(
        search=search,
        resume=f"{again} --resume" if again and where else "",
        extend=_extend(record, where) if where and record.status == "finished" else "",
        stored=stored,
        build=f"import foresee as fs\n\n{build}" if where else build,
        score="" if best is None else score_line(record, best),
    )


def _extend(record: Record, where: str) -> str:
    """The same search gone on with, to twice as many evaluations."""
    many = record.settings.get("evaluations")
    if not isinstance(many, int):
        return ""
    line = search_line(replace(record, settings={**record.settings, "evaluations": 2 * many}), where)
    return f"{line} --resume" if line else ""


def search_line(record: Record, out: str) -> str:
    """`foresee search` with the run's settings; empty where options cannot say them (then the settings file can)."""
    settings = record.settings
    if not _speakable(settings):
        return ""
    words = ["foresee", "search", str(settings["space"]), *_proxies(record)]
    words += [word for name in settings.get("objectives") or () for word in ("--objective", str(name))]
    for name in ("searcher", "evaluations", "measure", "measure_recipe"):
        words += _option(name, settings.get(name))
    words += _option("finalists", None if settings.get("finalists") == FINALISTS else settings.get("finalists"))
    for count, sides in (settings.get("limits") or {}).items():
        for side, bound in sides.items():
            words += _option(f"{side}_{count}", bound)
    return _line(*words, *_look(record), *_sets(settings), "--out", out)


def score_line(record: Record, architecture: str) -> str:
    """`foresee score` for one architecture under the eyes of the run; empty where options cannot say them."""
    settings = record.settings
    if not _speakable(settings):
        return ""
    words = ["foresee", "score", str(settings["space"]), architecture, *_proxies(record)]
    return _line(*words, *_look(record, skip="threads"), *_sets({**settings, "searcher_settings": {}}))


def shown_path(folder: str | Path) -> str:
    """The folder as one would type it: relative where it lies below the current one."""
    path = Path(folder)
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def _speakable(settings: Mapping[str, Any]) -> bool:
    """Whether options of the command line can say these settings."""
    limits = settings.get("limits") or {}
    plain_limits = isinstance(limits, Mapping) and all(
        isinstance(sides, Mapping) and sides.keys() <= {"min", "max"} for sides in limits.values()
    )
    given = any(_is_given(str(settings.get(name, ""))) for name in ("data", "space"))
    usual = all(settings.get(name, value) == value for name, value in _SILENT.items())
    return isinstance(settings.get("space"), str) and plain_limits and not given and usual


def _is_given(reference: str) -> bool:
    """Whether it was handed over in Python, so that no name leads back to it."""
    return reference.startswith("given:")


def _proxies(record: Record) -> list[str]:
    return [word for name in proxy_names(record) for word in ("--proxy", name)]


def _look(record: Record, skip: str = "") -> Iterator[str]:
    """Options that decide what a proxy sees."""
    settings = record.settings
    inputs, outputs = read_task(record)
    if "inputs" in settings or isinstance(settings.get("task"), Mapping):
        yield from _option("input", "x".join(map(str, inputs)) or None)
        yield from _option("outputs", outputs)
    yield from _option("data", settings.get("data"))
    for name, usual in _OPTIONS.items():
        if name != skip and settings.get(name) != usual:
            yield from _option(name, settings.get(name))


def _sets(settings: Mapping[str, Any]) -> Iterator[str]:
    """`--set name.key=value` for the settings of the space, the searcher and the proxies."""
    groups = [("space", settings.get("space_settings")), (settings.get("searcher"), settings.get("searcher_settings"))]
    groups += list((settings.get("proxy_settings") or {}).items())
    for name, values in groups:
        for key, value in values.items() if isinstance(values, Mapping) else ():
            yield from ("--set", f"{name}.{key}={json.dumps(value, default=str)}")


def _option(name: str, value: object) -> list[str]:
    if value is None:
        return []
    number = f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
    return [f"--{name.replace('_', '-')}", number]


def _line(*words: str) -> str:
    return " ".join(shlex.quote(word) for word in words)


def sets(settings: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Settings by name as `--set name.key=value` words."""
    for name, values in settings.items():
        for key, value in values.items():
            yield from ("--set", f"{name}.{key}={json.dumps(value, default=str)}")
