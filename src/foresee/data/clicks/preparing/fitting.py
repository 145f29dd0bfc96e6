"""What preprocessing learns of the training rows: one pass over them, in memory that does not grow with their number."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.preparing.counts import BOUND, Counts
from foresee.data.clicks.preprocessing import Preprocessing, logged
from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.schema import Schema
from foresee.data.normalising import Statistics
from foresee.errors import DataError

#: a column of whole numbers is one of counts where it reaches this
COUNTS = 100


class Moments:
    """Mean and standard deviation of numbers that come in pieces, in float64; missing ones aside.

    >>> moments = Moments()
    >>> for piece in ([0.0, 2.0], [4.0, np.nan, 6.0]):
    ...     moments.add(np.array(piece))
    >>> moments.mean, round(moments.std, 3), moments.seen
    (3.0, 2.236, 4)
    """

    def __init__(self) -> None:
        self.seen, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: NDArray[np.float64]) -> None:
        """Some more of them."""
        values = values[~np.isnan(values)]
        if not len(values):
            return
        # The moments of a piece are joined to those so far, which loses no digits to a large mean.
        mean, total = float(values.mean()), self.seen + len(values)
        self._squares += float(values.var()) * len(values) + (mean - self.mean) ** 2 * self.seen * len(values) / total
        self.mean += (mean - self.mean) * len(values) / total
        self.seen = total

    @property
    def std(self) -> float:
        """Of all of them."""
        return float(np.sqrt(self._squares / self.seen)) if self.seen else 0.0

    def filled(self, missing: int, fill: float) -> tuple[float, float]:
        """Mean and standard deviation where `missing` more stand there, each as `fill`; a constant has 1."""
        total = self.seen + missing
        if not total:
            return 0.0, 1.0
        mean = (self.mean * self.seen + fill * missing) / total
        squares = self._squares + (self.mean - mean) ** 2 * self.seen + (fill - mean) ** 2 * missing
        std = float(np.sqrt(squares / total))
        return mean, 1.0 if std <= 1e-6 * abs(mean) + 1e-12 else std


class Number:
    """What is learnt of a numeric column."""

    def __init__(self) -> None:
        self.plain, self.logs = Moments(), Moments()
        self.rows, self.whole, self.largest = 0, True, 0.0

    def add(self, values: NDArray[np.float64]) -> None:
        """Some more rows."""
        self.rows += len(values)
        there = values[~np.isnan(values)]
        self.plain.add(there)
        self.logs.add(logged(there))
        self.whole = self.whole and bool((there == np.floor(there)).all())
        self.largest = max(self.largest, float(np.abs(there).max(initial=0.0)))


class Fitting:
    """Learns chunk by chunk.

    >>> from foresee.data.clicks.reading.chunk import chunk_of
    >>> from foresee.data.clicks.reading.texts import Texts
    >>> known = Schema(label="y", numeric=("n",), categories=("c",), least=1)
    >>> texts = {"y": Texts.of("101"), "n": Texts.of(["1", "", "500"]), "c": Texts.of("aab")}
    >>> fitting = Fitting(known)
    >>> fitting.add(chunk_of(texts, known, lambda rows: rows.tolist()), np.array([True, True, True]))
    >>> found = fitting.done()
    >>> found.vocabularies, found.logged
    ((4,), (True,))
    """

    def __init__(self, schema: Schema, bound: int = BOUND) -> None:
        self.schema, self.rows = schema, 0
        self._numbers = {name: Number() for name in schema.numeric}
        self._counts = {name: Counts(max(bound, 2 * schema.rows)) for name in self._counted}

    @property
    def _counted(self) -> tuple[str, ...]:
        return self.schema.categories if self.schema.buckets is None else ()

    def add(self, chunk: Chunk, training: NDArray[np.bool_], pool: ThreadPoolExecutor | None = None) -> None:
        """The training rows of a chunk; columns are worked on side by side where there is a pool."""
        self.rows += int(training.sum())
        columns: dict[str, Number | Counts] = {**self._numbers, **self._counts}

        def learn(name: str) -> None:
            columns[name].add(chunk.columns[name][training])

        list(map(learn, columns) if pool is None else pool.map(learn, columns))

    def done(self) -> Preprocessing:
        """What was learnt."""
        if not self.rows:
            raise DataError("there are no training rows to learn the preprocessing from; see the schema's split")
        chosen, fills, means, stds = [], [], [], []
        for name, number in self._numbers.items():
            counts = number.whole and number.largest >= COUNTS
            takes = counts if self.schema.log == "counts" else name in self.schema.log
            moments = number.logs if takes else number.plain
            fill = _rounded(moments.mean) if self.schema.fill == "mean" else 0.0
            mean, std = moments.filled(number.rows - moments.seen, fill)
            chosen.append(takes)
            fills.append(fill)
            means.append(_rounded(mean))
            stds.append(_rounded(std))
        none = np.empty(0, np.uint64)
        most = {name: counts.most(self.schema.least, self.schema.rows)[0] for name, counts in self._counts.items()}
        shortfalls = {name: counts.shortfall for name, counts in self._counts.items() if counts.shortfall}
        return Preprocessing(
            schema=self.schema,
            logged=tuple(chosen),
            fills=tuple(fills),
            statistics=Statistics(tuple(means) or (0.0,), tuple(stds) or (1.0,)),
            values=tuple(most.get(name, none) for name in self.schema.categories),
            facts={"rows": self.rows, "shortfalls": shortfalls},
        )


def _rounded(value: float) -> float:
    """As other statistics of data: the last digits of a sum depend on how it was cut into pieces."""
    return float(f"{value:.9g}")
