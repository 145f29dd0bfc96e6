"""Reports stay pages whatever stands in a run, a bench or a calibration: no element, script or handler but their own.

Every text of a record gets hostile text before it: markup, quotes, control characters, templates, broken letters.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from foresee.benchmarks import Bench, bench, calibrate_table
from foresee.benchmarks.benches import BASELINES
from foresee.report import compare, render
from foresee.report.bench import render as render_bench
from foresee.report.calibrate import render as render_calibration
from foresee.runs import Record, read
from hostile import damage, tables
from hostile.markup import Page
from hostile.runs import small_run

SECONDS = 180.0
PAGES_PER_CASE = 4
#: texts that are one of a few words, which a store or a reader checks: nobody's own
_WORDS = {"status", "direction", "kind", "device", "better"}
_LETTERS = "harmless"


def case(rng: random.Random, folder: Path) -> None:
    """One thing to report, with several hostile texts in the place of harmless ones."""
    make = rng.choice([_run, _run, _comparison, _bench, _calibration])(rng, folder)
    harmless = Page(make(_LETTERS))
    for _ in range(PAGES_PER_CASE):
        text = "".join(damage.word(rng)[:400] for _ in range(rng.randint(1, 4))) or _LETTERS
        (folder / "steps.txt").write_text(f"{make} with {text!a}\n")
        page = make(text)
        page.encode()  # broken letters were mended: the page can be written
        (folder / "page.html").write_text(page)
        assert "\0" not in page, "a page with a zero byte"
        Page(page).check_against(harmless)


def poisoned(value: Any, text: str) -> Any:
    """The same value with `text` before every text in it, so that what belonged together still does."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return text + value
    if is_dataclass(value) and not isinstance(value, type):
        own = {one.name: getattr(value, one.name) for one in fields(value) if one.init and one.name not in _WORDS}
        return replace(value, **{name: poisoned(inner, text) for name, inner in own.items()})
    if isinstance(value, Counter):
        return Counter({poisoned(key, text): count for key, count in value.items()})
    if isinstance(value, Mapping):
        return {_key(key, text): inner if key in _WORDS else poisoned(inner, text) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(poisoned(inner, text) for inner in value)
    return value


def _key(key: Any, text: str) -> Any:
    """Names of settings and counts are what pages look for; other keys are somebody's own."""
    known = {
        "params",
        "macs",
        "space",
        "proxies",
        "searcher",
        "data",
        "limits",
        "evaluations",
        "seed",
        "settings",
        "task",
    }
    return key if not isinstance(key, str) or key in known or key.endswith("_settings") else text + key


# -- what is reported -----------------------------------------------------------------------------------------------------
def _run(rng: random.Random, folder: Path) -> Callable[[str], str]:
    record = _record(rng, folder)
    where = rng.choice([None, folder / "run"])
    return lambda text: render(_hostile(record, text), where)


def _comparison(rng: random.Random, folder: Path) -> Callable[[str], str]:
    record = _record(rng, folder)
    return lambda text: compare({f"{text}a": _hostile(record, text), f"{text}b": record})


def _record(rng: random.Random, folder: Path) -> Record:
    """A run in which some failed."""
    record = read(small_run(folder / "run"))
    rows = list(record.candidates)
    for place in rng.sample(range(len(rows)), 3):
        rows[place] = replace(rows[place], status="failed", merit=None, reason="the worker died", objectives={})
    return replace(record, candidates=tuple(rows), status=rng.choice(["finished", "running", "interrupted"]))


def _hostile(record: Record, text: str) -> Record:
    made: Record = poisoned(record, text)
    return replace(made, title=text, environment={**made.environment, text: text})


def _bench(rng: random.Random, folder: Path) -> Callable[[str], str]:
    found = bench(
        tables.small_table(), tables.TARGET, ["params", "l2_norm"], sample=12, bootstrap=20, data="synthetic",
        inputs=(3, 8, 8), outputs=4, space_settings={"channels": 2, "cells": 1},
    )  # fmt: skip
    return lambda text: render_bench(_hostile_bench(found, text))


def _hostile_bench(found: Bench, text: str) -> Bench:
    names = {name: name if name in BASELINES else text + name for name in found.matrices}
    matrices = {
        names[name]: replace(one, proxy=names[name], reasons=Counter({f"nan: {text}": 2}))
        for name, one in found.matrices.items()
    }
    asked = {name: text + getattr(found.settings, name) for name in ("space", "table", "target")}
    return replace(
        found,
        settings=replace(found.settings, **asked),
        matrices=matrices,
        correlations={names[name]: one for name, one in found.correlations.items()},
        **{name: poisoned(getattr(found, name), text) for name in ("texts", "looked_at", "environment")},
        notes=(text,),
    )


def _calibration(rng: random.Random, folder: Path) -> Callable[[str], str]:
    found = calibrate_table(
        tables.small_table(), tables.TARGET, proxies=["params", "macs"], untrained="params", trained=12, data="synthetic",
        bootstrap=20,
    )  # fmt: skip
    return lambda text: render_calibration(
        replace(
            found,
            **{name: poisoned(getattr(found, name), text) for name in ("texts", "untrained", "space", "environment")},
            settings={**found.settings, "table": text, "data": text},
            target=replace(found.target, name=text + found.target.name),
            reasons={"macs": {text: 3}},
            calibration=replace(found.calibration, failed={"macs": 3}),
        )
    )
