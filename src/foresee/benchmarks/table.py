"""A table: what was measured of the architectures of a space, in one columnar form whatever file it came from.

A measurement is (architecture, task, metric, epochs, seed, value). Costs and precomputed proxies are one number for each
architecture. A *target* names one column of measurements:

    test_acc_cifar10        the longest training of this metric and task, mean over seeds
    test_acc_cifar10@12     after 12 epochs
    test_acc_cifar10#777    of one seed
    val_acc@108             the task may be left out where there is only one

Names of the columns of the file a table came from stay usable (`aliases`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from foresee.errors import DataError, InputError, UnknownNameError

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]

#: epochs of a measurement that does not say how long was trained
UNKNOWN = -1
#: seed of a measurement that is a mean over seeds already
MEAN = -1
#: the largest number of a table, up or down: means and variances of such numbers are finite
LARGEST = 1e150
#: words in a metric's name that make smaller better, unless the number was negated
_LOWER = ("loss", "error", "perplexity", "ppl", "time", "seconds", "latency", "energy", "rmse", "mae", "mse")


def check_sizes(what: str, values: Floats) -> None:
    """A `DataError` where a number is so large that its square is none; NaN is a missing one."""
    if len(values) and np.nanmax(np.abs(values), initial=0.0) > LARGEST:
        raise DataError(f"table: {what} {values[np.nanargmax(np.abs(values))]:g}: at most {LARGEST:g} is possible")


def direction(metric: str) -> Literal["higher", "lower"]:
    """Which way a metric is better.

    >>> direction("test_acc"), direction("val_loss"), direction("val_neg_loss")
    ('higher', 'lower', 'higher')
    """
    words = metric.lower().split("_")
    return "lower" if any(word in words for word in _LOWER) and "neg" not in words else "higher"


@dataclass(frozen=True)
class Target:
    """One column of measurements: `n` architectures have it, `seeds` are those measured (`MEAN`: only their mean)."""

    metric: str
    task: str
    epochs: int
    n: int
    seeds: tuple[int, ...]
    name: str

    @property
    def direction(self) -> Literal["higher", "lower"]:
        """Which way is better."""
        return direction(self.metric)


@dataclass(frozen=True, eq=False)
class Rows:
    """The measurements, one row each: arrays of equal length, tasks and metrics as codes into their names."""

    architecture: Ints
    task: Ints
    metric: Ints
    epochs: Ints
    seed: Ints
    value: Floats
    tasks: tuple[str, ...]
    metrics: tuple[str, ...]

    #: the columns and how they are kept
    TYPES: ClassVar[dict[str, np.dtype[Any]]] = {
        "architecture": np.dtype(np.int32),
        "task": np.dtype(np.int16),
        "metric": np.dtype(np.int16),
        "epochs": np.dtype(np.int32),
        "seed": np.dtype(np.int32),
        "value": np.dtype(np.float64),
    }

    def check(self, architectures: int) -> None:
        """A `DataError` where the columns do not fit together."""
        lengths = {name: len(getattr(self, name)) for name in self.TYPES}
        if len(set(lengths.values())) > 1:
            raise DataError(f"table: columns of different lengths {lengths}")
        for name, count in (("architecture", architectures), ("task", len(self.tasks)), ("metric", len(self.metrics))):
            codes = getattr(self, name)
            if len(codes) and (int(codes.min()) < 0 or int(codes.max()) >= count):
                raise DataError(f"table: {name} codes from {codes.min()} to {codes.max()}, expected 0 to {count - 1}")
        if not np.isfinite(self.value).all():
            raise DataError("table: a measured value is NaN or infinite; leave out what was not measured")
        check_sizes("measured value", self.value)

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Measured architectures of one space.

    Args:
        space: a registered space, or "" where that is not known.
        architectures: their texts in the space's own form, each once.
        rows: what was measured.
        costs: params, MACs, seconds, ... of each architecture, NaN where missing; `params:cifar10` where it is of one task.
        proxies: scores that the table brought along, likewise.
        space_settings: settings of the space under which the texts parse.
        aliases: further names of targets.
        source: the file it came from; `sha256` is that file's.
    """

    space: str
    architectures: Sequence[str]
    rows: Rows
    costs: Mapping[str, Floats] = field(default_factory=dict)
    proxies: Mapping[str, Floats] = field(default_factory=dict)
    space_settings: Mapping[str, Any] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        self.rows.check(len(self))
        for kind, columns in (("cost", self.costs), ("proxy", self.proxies)):
            for name, column in columns.items():
                if column.shape != (len(self),):
                    raise DataError(f"table: {kind} {name} has shape {column.shape}, expected ({len(self)},)")
                check_sizes(f"{kind} {name}", column)

    def __len__(self) -> int:
        return len(self.architectures)

    def __repr__(self) -> str:
        of, measured = self.space or "own architectures", len(self.rows.metric)
        return f"<Table of {of}: {len(self):,} architectures, {measured:,} measured values>"

    # -- targets ------------------------------------------------------------------------------------------------------
    @cached_property
    def _groups(self) -> dict[tuple[int, int, int], Ints]:
        """(metric, task, epochs) codes to the rows of that target, in the order of these codes."""
        rows = self.rows
        # One number for the three codes: epochs fit in 32 bits, tasks in 16.
        keys = (rows.metric.astype(np.int64) << 48) + (rows.task.astype(np.int64) << 32) + (rows.epochs + np.int64(1))
        order = np.argsort(keys, kind="stable")
        borders = np.flatnonzero(np.diff(keys[order])) + 1
        parts = np.split(order, borders) if len(order) else []
        return {(int(rows.metric[part[0]]), int(rows.task[part[0]]), int(rows.epochs[part[0]])): part for part in parts}

    @cached_property
    def _targets(self) -> dict[tuple[int, int, int], Target]:
        rows = self.rows
        longest: dict[tuple[int, int], int] = {}
        for metric, task, epochs in self._groups:
            longest[metric, task] = max(epochs, longest.get((metric, task), epochs))
        targets = {}
        for (metric, task, epochs), part in self._groups.items():
            name = "_".join(word for word in (rows.metrics[metric], rows.tasks[task]) if word)
            targets[metric, task, epochs] = Target(
                metric=rows.metrics[metric],
                task=rows.tasks[task],
                epochs=epochs,
                n=int(np.count_nonzero(np.bincount(rows.architecture[part]))),
                seeds=tuple(np.unique(rows.seed[part]).tolist()),
                name=name if epochs == longest[metric, task] else f"{name}@{epochs}",
            )
        return targets

    @cached_property
    def _names(self) -> dict[str, tuple[int, int, int]]:
        """Every way to write a target, without a seed. The full name wins over the shorter ones."""
        names: dict[str, tuple[int, int, int]] = {}
        short: dict[str, set[tuple[int, int, int]]] = {}
        for key, target in self._targets.items():
            stem = "_".join(part for part in (target.metric, target.task) if part)
            names[target.name] = names[f"{stem}@{target.epochs}"] = key
            short.setdefault(target.metric + target.name[len(stem) :], set()).add(key)
            short.setdefault(f"{target.metric}@{target.epochs}", set()).add(key)
        for name, keys in short.items():
            if len(keys) == 1:  # the task may be left out where that leaves no doubt
                names.setdefault(name, *keys)
        return names

    def targets(self) -> list[Target]:
        """All targets."""
        return list(self._targets.values())

    def target(self, name: str) -> Target:
        """The target of this name, alias or full form; an `UnknownNameError` names the nearest."""
        return self._targets[self._resolve(name)[0]]

    def _resolve(self, name: str) -> tuple[tuple[int, int, int], int | None]:
        text = self.aliases.get(name, name)
        stem, mark, seed = text.partition("#")
        if stem not in self._names or (mark and not re.fullmatch(r"-?[0-9]{1,18}", seed)):
            of = f" of {self.source}" if self.source else ""
            raise UnknownNameError(f"target{of}", name, [*(t.name for t in self.targets()), *self.aliases])
        return self._names[stem], int(seed) if mark else None

    def values(self, target: str, *, seed: int | None = None) -> Floats:
        """The numbers of a target, aligned with `architectures`, NaN where missing.

        The mean over seeds by default, which a table may bring along in place of the single numbers; one seed's with
        `seed`.
        """
        key, written = self._resolve(target)
        seed = written if seed is None else seed
        rows = self.rows
        chosen = self._groups[key]
        if seed is not None:
            chosen = chosen[rows.seed[chosen] == seed]
            if not len(chosen):
                known = ", ".join(map(str, self._targets[key].seeds))
                where = f"{self.source}, target {target}" if self.source else f"target {target}"
                raise InputError(f"{where}: nothing measured with seed {seed}; there is {known} (-1: the mean)")
        architecture, value = rows.architecture[chosen], rows.value[chosen]
        total = np.bincount(architecture, weights=value, minlength=len(self))
        count = np.bincount(architecture, minlength=len(self))
        result = np.full(len(self), np.nan)
        np.divide(total, count, out=result, where=count > 0)
        ready = rows.seed[chosen] == MEAN
        result[architecture[ready]] = value[ready]
        return result

    def spread(self, target: str) -> Floats:
        """Standard deviation over seeds of each architecture (n - 1 below), NaN where fewer than two were measured."""
        key, _ = self._resolve(target)
        rows = self.rows
        chosen = self._groups[key]
        chosen = chosen[rows.seed[chosen] != MEAN]
        architecture, value = rows.architecture[chosen], rows.value[chosen]
        count = np.bincount(architecture, minlength=len(self))
        mean = np.bincount(architecture, weights=value, minlength=len(self)) / np.maximum(count, 1)
        squares = np.bincount(architecture, weights=(value - mean[architecture]) ** 2, minlength=len(self))
        variance = np.full(len(self), np.nan)
        np.divide(squares, count - 1, out=variance, where=count > 1)
        result: Floats = np.sqrt(variance)
        return result

    # -- one number for each architecture -----------------------------------------------------------------------------
    def cost(self, name: str) -> Floats:
        """A cost, such as `params` or `macs:cifar10`; the task may be left out where there is only one."""
        return _column("cost", self.costs, name)

    def proxy(self, name: str) -> Floats:
        """A score that the table brought along."""
        return _column("precomputed proxy", self.proxies, name)

    # -- architectures ------------------------------------------------------------------------------------------------
    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self.architectures)}

    def find(self, text: str) -> int:
        """The place of an architecture, by its text or by another text that its space reads as the same architecture."""
        if text in self._places:
            return self._places[text]
        if self.space:
            from foresee.spaces.find import get

            written = str(get(self.space, **self.space_settings).parse(text))
            if written in self._places:
                return self._places[written]
        raise InputError(f"architecture {text!r}: not among the {len(self):,} of {self.source or 'the table'}")

    def checked(self) -> Table:
        """The same table with every text parsed by its space, and written in the space's own form."""
        if not self.space:
            return self
        from foresee.spaces.find import get

        space = get(self.space, **self.space_settings)
        texts = tuple(self._parsed(space, place, text) for place, text in enumerate(self.architectures, 1))
        if len(set(texts)) < len(texts):
            twice = next(text for text, count in Counter(texts).items() if count > 1)
            raise DataError(
                f"{self.source or 'table'}: architecture {twice} comes twice, written in two ways; keep one"
            )
        return replace(self, architectures=texts)

    def _parsed(self, space: Any, place: int, text: str) -> str:
        try:
            return str(space.parse(text))
        except InputError as error:
            raise InputError(
                f"{self.source or 'table'}, architecture {place} of {len(self):,}, {text[:80]!r}: {error}"
            ) from error


def _column(kind: str, columns: Mapping[str, Floats], name: str) -> Floats:
    if name in columns:
        return columns[name]
    same = [known for known in columns if known.replace(":", "_") == name or known.partition(":")[0] == name]
    if len(same) == 1:
        return columns[same[0]]
    raise UnknownNameError(kind, name, columns)
