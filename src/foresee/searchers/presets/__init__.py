"""The papers' searches as presets: data, one TOML file each, found without a list.

A file says what the paper did and where that stands, the settings of a search under `[search]` at a count that a CPU does in
minutes, and under `[published]` what differs in the published search. Where the foremost are trained in the end, `[train]`
says how many and by which recipe, and `[train.published]` the same of the published search.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from typing import Any

from foresee.errors import UnknownNameError
from foresee.lazy import find
from foresee.registry import tidy
from foresee.runs.events import Observer
from foresee.runs.progress import watched
from foresee.searchers.base import searchers, usual_evaluations
from foresee.searchers.problem import MEASURED, Measured
from foresee.searchers.run import Run
from foresee.searchers.search import run_search
from foresee.searchers.settings import SearchSettings


@dataclass(frozen=True)
class Preset:
    """A search of a paper.

    Args:
        name: how it is called.
        summary: what it looks for.
        paper: who did it.
        section: where that stands.
        did: what the paper did, in its own counts.
        differs: what is otherwise here, beside the count; "" where nothing is.
        search: settings at the reduced count.
        published: what of them differs at the published count.
        target: the column of a table that the paper decided by, where it did.
        train: `best`, how many of the foremost are trained in the end, and their `recipe`; under `published` the paper's.
    """

    name: str
    summary: str
    paper: str
    section: str
    did: str
    search: Mapping[str, Any]
    published: Mapping[str, Any]
    differs: str = ""
    target: str = ""
    train: Mapping[str, Any] = field(default_factory=dict)

    def training(self, *, full: bool = False) -> tuple[int, str]:
        """How many of the foremost are trained in the end, and by which recipe; 0 where that is no part of it.

        >>> preset("sigeo-nasrec-small").training(full=True)
        (15, 'ctr')
        """
        told = self.train.get("published", {}) if full else self.train
        return int(told.get("best", 0)), str(told.get("recipe", "fast"))

    def plain(self, *, full: bool = False) -> dict[str, Any]:
        """The settings, at the reduced count or in full."""
        return merged(self.search, self.published) if full else dict(self.search)

    def settings(self, *, full: bool = False, **changes: Any) -> SearchSettings:
        """The search; what is given wins, and tables of settings are added to."""
        told = merged(self.plain(full=full), changes)
        told.setdefault("evaluations", usual_evaluations(str(told["searcher"])))
        return SearchSettings.from_json(told, where=f"preset {self.name}")

    def run(
        self,
        *,
        full: bool = False,
        out: str | None = None,
        resume: bool = False,
        engine: str = "serial",
        workers: int | None = None,
        observers: Iterable[Observer] = (),
        measured: Mapping[str, float] | Measured | None = None,
        cache: str | None = None,
        progress: bool = False,
        train_best: int | None = None,
        **changes: Any,
    ) -> Run:
        """Search; what else is given wins over the preset's settings. See `foresee.search` for what the names mean.

        Where the preset trains the foremost, `train_best` says how many of them: None as many as it says, 0 none.

        >>> found = preset("dextr-autoformer-tiny").run(proxies=["params"], evaluations=3, data="synthetic")
        >>> found.record.best.counts["params"] <= 6_000_000
        True
        """
        reported = find("foresee.report.searched", "reported")  # a run that is kept has its report, as with `fs.search`
        watching = watched(observers, progress)
        found: Run = reported(run_search)(
            self.settings(full=full, **changes),
            out=out,
            resume=resume,
            engine=engine,
            workers=workers,
            observers=watching,
            measured=measured,
            cache=cache,
        )
        many, recipe = self.training(full=full)
        many = many if train_best is None else train_best
        if not many:
            return found
        from foresee.searchers.foremost import train_best as train_foremost

        folds = 0 if full else None  # the published search compares on one validation part
        return replace(found, trained=train_foremost(found, many, recipe, observers=watching, folds=folds))

    @cached_property
    def counts(self) -> list[tuple[str, Any, Any]]:
        """What the published search does otherwise: setting, here, published."""
        ours, theirs = flat(self.search), flat(merged(self.search, self.published))
        if self.train:
            ours["train_best"], theirs["train_best"] = self.training()[0], self.training(full=True)[0]
        return [(key, ours.get(key), value) for key, value in theirs.items() if ours.get(key) != value]

    @property
    def needs(self) -> str:
        """What has to be handed over; "" where nothing."""
        asked = MEASURED in self.search.get("objectives", ()) and "measure" not in self.search
        return "a table of measured values (--table)" if asked else ""

    @property
    def there(self) -> bool:
        """Whether its searcher is registered; one of a plug-in may not be."""
        return self.search["searcher"] in searchers


def preset(name: str) -> Preset:
    """The preset of this name; an unknown one is said with the nearest.

    >>> preset("dextr-autoformer-tiny").search["limits"]
    {'params': {'max': 6000000}}
    """
    known = names()
    found = next((one for one in known if tidy(one) == tidy(name)), None)
    if found is None:
        raise UnknownNameError("preset", name, known)
    return Preset(found, **tomllib.loads((files(__name__) / f"{found}.toml").read_text(encoding="utf-8")))


def names() -> list[str]:
    """All presets, in order."""
    return sorted(file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml"))


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with others on top, tables in them likewise.

    >>> merged({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4}})
    {'a': 1, 'b': {'c': 4, 'd': 3}}
    """
    found = dict(first)
    for key, value in second.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = merged(found[key], value) if both else value
    return found


def flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings with the names of their tables before theirs, but for those that everybody knows: evaluations, population.

    >>> flat({"evaluations": 3, "searcher_settings": {"population": 4}, "limits": {"params": {"max": 5}}})
    {'evaluations': 3, 'population': 4, 'limits.params.max': 5}
    """
    found: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping):
            inner = "" if key in ("searcher_settings", "space_settings") else f"{prefix}{key}."
            found |= flat(value, inner)
        else:
            found[f"{prefix}{key}"] = value
    return found
