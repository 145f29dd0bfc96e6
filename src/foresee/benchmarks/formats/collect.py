"""Collecting a table while a file is read: architectures as they come, measurements by column, one check at the end."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from foresee.benchmarks.table import MEAN, UNKNOWN, Floats, Rows, Table
from foresee.errors import DataError, InputError
from foresee.references import is_code

#: (metric, task, epochs, seed)
Key = tuple[str, str, int, int]
#: more rows than the largest benchmark has by far; a file that claims more is damaged or hostile
MAX_ROWS = 200_000_000


class Collector:
    """A table in the making.

    `where` begins every message: the file's path.
    """

    def __init__(self, where: str, space: str, settings: Mapping[str, Any] | None = None) -> None:
        self.where, self.space, self.settings = where, space, dict(settings or {})
        self.aliases: dict[str, str] = {}
        self._places: dict[str, int] = {}
        self._called: dict[Key, str] = {}
        self._columns: dict[Key, tuple[array[int], array[float]]] = {}
        self._numbers: dict[str, dict[str, tuple[array[int], array[float]]]] = {"costs": {}, "proxies": {}}

    # -- architectures ------------------------------------------------------------------------------------------------
    def place(self, text: str) -> int:
        """The place of an architecture, new or known."""
        if not text:
            raise DataError(f"{self.where}: an architecture has an empty text")
        return self._places.setdefault(text, len(self._places))

    def new(self, text: str) -> int:
        """The place of an architecture that must not have come before."""
        if text in self._places:
            raise DataError(f"{self.where}: architecture {text} comes twice; keep one row of it")
        return self.place(text)

    def add_all(self, texts: Sequence[str]) -> None:
        """Architectures of a file with one row each."""
        for text in texts:
            self.new(text)

    # -- numbers ------------------------------------------------------------------------------------------------------
    def measure(
        self, place: int, value: float, metric: str, task: str = "", epochs: int = UNKNOWN, seed: int = 0
    ) -> None:
        """One measurement."""
        if not math.isfinite(value):
            raise DataError(
                f"{self.where}: {metric} of {self._text(place)} is {value}; leave out what was not measured"
            )
        places, values = self._columns.setdefault((metric, task, epochs, seed), (array("i"), array("d")))
        places.append(place)
        values.append(value)

    def column(
        self, values: Floats, metric: str, task: str = "", epochs: int = UNKNOWN, seed: int = 0, *, called: str = ""
    ) -> None:
        """A column aligned with the architectures, NaN where nothing was measured; `called` is its name in the file."""
        places, key = np.flatnonzero(~np.isnan(values)), (metric, task, epochs, seed)
        if key in self._called:
            both = f"{self._called[key]} and {called}" if called else "two"
            raise DataError(f"{self.where}: columns {both} both hold {_named(*key)}; keep one")
        self._called[key] = called
        if len(places):
            self._columns[key] = _arrays(places, values)

    def cost(self, place: int, name: str, value: float) -> None:
        """A cost of one architecture."""
        self._number("costs", place, name, value)

    def proxy(self, place: int, name: str, value: float) -> None:
        """A precomputed score of one architecture; one that is not finite is a missing one."""
        if math.isfinite(value):
            self._number("proxies", place, name, value)

    def _number(self, kind: str, place: int, name: str, value: float) -> None:
        places, values = self._numbers[kind].setdefault(name, (array("i"), array("d")))
        places.append(place)
        values.append(value)

    def cost_once(self, place: int, name: str, value: float) -> None:
        """A cost that comes with several trainings of one architecture; the first counts."""
        places = self._numbers["costs"].get(name, (array("i"), None))[0]
        if not places or places[-1] != place:
            self.cost(place, name, value)

    def cost_column(self, name: str, values: Floats) -> None:
        """A cost of all architectures."""
        self._numbers["costs"][name] = _arrays(np.arange(len(values)), values)

    def proxy_column(self, name: str, values: Floats) -> None:
        """A precomputed score of all architectures."""
        self._numbers["proxies"][name] = _arrays(np.arange(len(values)), values)

    # -- the end ------------------------------------------------------------------------------------------------------
    def table(self) -> Table:
        """What was collected, checked: something was measured, and nothing twice."""
        if not self._places:
            raise DataError(f"{self.where}: no architecture in it")
        tasks = tuple(dict.fromkeys(task for _, task, _, _ in self._columns))
        metrics = tuple(dict.fromkeys(metric for metric, _, _, _ in self._columns))
        parts: dict[str, list[Any]] = {name: [] for name in Rows.TYPES}
        for (metric, task, epochs, seed), (places, values) in self._columns.items():
            self._check_once(places, _named(metric, task, epochs, seed))
            codes = {"task": tasks.index(task), "metric": metrics.index(metric), "epochs": epochs, "seed": seed}
            parts["architecture"].append(np.frombuffer(places, np.int32))
            parts["value"].append(np.frombuffer(values, np.float64))
            for name, code in codes.items():
                if not -1 <= code <= np.iinfo(Rows.TYPES[name]).max:
                    raise DataError(f"{self.where}: {name} {code} of {metric} is out of range")
                parts[name].append(np.full(len(places), code, Rows.TYPES[name]))
        columns = {
            name: np.concatenate(parts[name]) if parts[name] else np.empty(0, kind) for name, kind in Rows.TYPES.items()
        }
        if len(columns["value"]) > MAX_ROWS:
            raise DataError(f"{self.where}: {len(columns['value']):,} measurements, at most {MAX_ROWS:,} are kept")
        return Table(
            space=self.space,
            architectures=tuple(self._places),
            rows=Rows(**columns, tasks=tasks, metrics=metrics),
            costs=self._aligned("costs"),
            proxies=self._aligned("proxies"),
            space_settings=self.settings,
            aliases=self.aliases,
        )

    def _aligned(self, kind: str) -> dict[str, Floats]:
        aligned = {}
        for name, (places, values) in self._numbers[kind].items():
            self._check_once(places, name)
            aligned[name] = np.full(len(self._places), np.nan)
            aligned[name][np.frombuffer(places, np.int32)] = np.frombuffer(values, np.float64)
        return aligned

    def _check_once(self, places: array[int], what: str) -> None:
        counts = np.bincount(np.frombuffer(places, np.int32)) if places else np.zeros(1, int)
        if counts.max() > 1:
            text = self._text(int(counts.argmax()))
            raise DataError(f"{self.where}: {what} of architecture {text} comes twice; keep one row of it")

    def _text(self, place: int) -> str:
        return next(text for text, known in self._places.items() if known == place)


def task_name(name: str) -> str:
    """A data set's name in our form.

    >>> task_name("ImageNet16-120"), task_name("cifar10")
    ('imagenet16', 'cifar10')
    """
    ours = name.lower().replace("-", "_")
    return {"imagenet16_120": "imagenet16"}.get(ours, ours)


def entry_number(value: Any, where: str) -> float | None:
    """A number of a JSON file; None where it is null, which is how a missing one is written there.

    >>> entry_number(None, "t.json"), entry_number(93, "t.json")
    (None, 93.0)
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(f"{where}: {str(value)[:40]!r}, expected a number, or null where it was not measured")
    return float(value)


def check_space(where: str, found: str, asked: str | None) -> None:
    """Refuse a space that is asked for where the file is of another; code is whatever the person calls it."""
    if asked not in (None, found) and not (is_code(found) and is_code(str(asked))):
        raise InputError(
            f"{where}: holds architectures of {found or 'no named space'}, not of {asked}; leave the space out"
        )


def _arrays(places: Any, values: Floats) -> tuple[array[int], array[float]]:
    return array("i", places.astype(np.int32).tobytes()), array("d", values[places].astype(np.float64).tobytes())


def _named(metric: str, task: str, epochs: int, seed: int) -> str:
    """A column in words, without what is not known of it."""
    words = [f"{metric} {task}".strip()]
    words += [f"{epochs} epochs"] if epochs != UNKNOWN else []
    words += [f"seed {seed}"] if seed != MEAN else []
    return ", ".join(words)
