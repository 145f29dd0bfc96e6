"""Where a network stands: its proxies beside those of random architectures of a space, all looked at alike.

found = standings(scores, others)            # each score with the share of others that it beats
with stand(subject, settings, others) as wait:   # the same, with the others drawn and scored meanwhile
    found, who, how = wait()

Which proxies are *cheap* is read from what each declares (`Needs`), not from a list: it takes a few runs (it is not
`expensive`) of at most `FEW` samples in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from foresee import data as data_room
from foresee.checks import whole
from foresee.insight.meanwhile import meanwhile
from foresee.insight.subject import Subject, built
from foresee.proxies.base import Direction, Score, get, names_of
from foresee.runs.events import Observer
from foresee.scoring.cache import Cache
from foresee.scoring.many import ScoreMatrix, scored
from foresee.scoring.scorer import scorer_of
from foresee.scoring.settings import ScoringSettings
from foresee.seeds import stream
from foresee.spaces.base import Space
from foresee.task import Task

#: a cheap proxy looks at no more samples than this, over all its batches
FEW = 16
#: images with sides of at least this are looked at in half their size, where many are compared
LARGE = 32
#: draws for each architecture that is wanted, before a small space is taken to have no more
PATIENCE = 50


@dataclass(frozen=True)
class Standing:
    """One proxy: the network's score and where that lies among others.

    Args:
        proxy: full name.
        value: of the network; None where it has none, with the `status` and the `reason`.
        direction: which way is better.
        percentile: per cent of the others that are worse, those that are equal counted half; None without a value or others.
        low, median, high: a tenth, the middle and nine tenths of the others' values.
        others: how many have a value.
        without: how many have none.
        why: the most frequent reason of those.
    """

    proxy: str
    value: float | None
    status: str = "ok"
    reason: str = ""
    direction: Direction = "higher"
    percentile: float | None = None
    low: float | None = None
    median: float | None = None
    high: float | None = None
    others: int = 0
    without: int = 0
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Standing:
        """What `to_json` gave."""
        return cls(**plain)


def cheap(batch_size: int | None = None) -> list[str]:
    """The proxies that are cheap, by what they declare; `batch_size` where it is not each proxy's own.

    >>> "foresee" in cheap(), "zico" in cheap(), "ntk_cond" in cheap()
    (True, False, False)
    """
    return [name for name in names_of("all") if (needs := get(name).needs).batches * (batch_size or needs.batch) <= FEW]


def percentile(merit: float, others: NDArray[np.float64]) -> float | None:
    """Per cent of the others' merits below this one, equal ones counted half; None where there are no others.

    >>> percentile(2.0, np.array([1.0, 2.0, 3.0, 4.0])), percentile(2.0, np.array([]))
    (37.5, None)
    """
    known = others[np.isfinite(others)]
    if not len(known):
        return None
    return float(100 * (np.sum(known < merit) + 0.5 * np.sum(known == merit)) / len(known))


def standings(scores: Iterable[Score], others: Mapping[str, ScoreMatrix]) -> tuple[Standing, ...]:
    """Every score with its place among the others, where there are some."""
    return tuple(_standing(one, others.get(one.proxy)) for one in scores)


def _standing(score: Score, others: ScoreMatrix | None) -> Standing:
    blank = Standing(score.proxy, score.value, score.status, score.reason, score.direction)
    if others is None:
        return blank
    merits = others.merit
    known = np.sort(others.values.mean(axis=1)[~others.failed])
    why = next((reason for reason, _ in others.reasons.most_common(1)), "")
    found = replace(blank, others=len(known), without=int(others.failed.sum()), why=why)
    if not len(known):
        return found
    low, median, high = np.quantile(known, [0.1, 0.5, 0.9]).tolist()
    place = percentile(score.merit, merits) if score.value is not None else None
    return replace(found, percentile=place, low=low, median=median, high=high)


def drawn(space: Space[Any], samples: int, seed: int = 0) -> list[str]:
    """The texts of so many random architectures, each once; fewer where a space has no more.

    >>> from foresee.spaces import get as space_of
    >>> len(drawn(space_of("nasbench201"), 5)), len(set(drawn(space_of("mlp"), 100)))
    (5, 24)
    """
    whole("samples", samples, 0)
    rng, found = stream(seed, "random architectures beside one"), dict[str, None]()
    for _ in range(PATIENCE * samples):
        if len(found) == samples:
            break
        found[str(space.sample(rng))] = None
    return list(found)


def looked_at(task: Task, network: nn.Module | None = None, *, full_size: bool = False) -> Task:
    """The task that others are compared on: images of at least `LARGE` in half their size, anything else as it is.

    Images stay whole for a network with a kernel that would cover more than half of a halved one: patches, above all.

    >>> looked_at(Task((3, 32, 32))).inputs, looked_at(Task((1, 28, 28))).inputs
    ((3, 16, 16), (1, 28, 28))
    """
    if full_size or task.tokens is not None or len(task.inputs) != 3 or min(task.inputs[1:]) < LARGE:
        return task
    channels, high, wide = task.inputs
    kernels = [max(one.kernel_size) for one in (network.modules() if network else ()) if isinstance(one, nn.Conv2d)]
    if 2 * max(kernels, default=1) > min(high, wide) // 2:
        return task
    return replace(task, inputs=(channels, high // 2, wide // 2))


#: every proxy with its place, who the others are, and how all were looked at
Place = tuple[tuple[Standing, ...], str, str]


@dataclass(frozen=True)
class Others:
    """Who a network is compared with, and who works: `space` None for nobody."""

    space: Space[Any] | None
    samples: int
    full_size: bool = False
    engine: str = "serial"
    workers: int | None = None
    cache: Cache | str | Path | None = None
    observers: tuple[Observer, ...] = ()


@contextmanager
def stand(subject: Subject, asked: ScoringSettings, others: Others) -> Iterator[Callable[[], Place]]:
    """Every proxy of the settings with its place; who the others are ("": nobody) and how all were looked at, in words.

    Where there are no others, the network is looked at as it is, and the words say why there are none. The network is looked
    at on entering; where other processes score the others, they are at it from then on, and what is handed over waits.
    """
    whole_look = scorer_of("mlp", asked, data=subject.data)
    if others.space is None or not others.samples:
        why = (
            "a network of one's own has no space to be compared in; name one (among=; --among)"
            if others.space is None
            else "no others were asked for"
        )
        alone = standings(whole_look.of_network(subject.network), {}), "", why
        yield lambda: alone
        return
    fixed = others.full_size or subject.handed or subject.space is None  # one's own network takes what it takes
    small = looked_at(subject.task, subject.network, full_size=fixed)
    data, network = subject.data, subject.network
    if small != subject.task:
        data = data_room.load(asked.data, inputs=small.inputs, outputs=small.outputs)
        network = built(subject.space, subject.architecture, small, asked)
    look = replace(asked, inputs=small.inputs, outputs=small.outputs)
    own = scorer_of(others.space, look, data=data).of_network(network, ours=network is not subject.network)
    texts = drawn(others.space, others.samples, asked.seed)
    known = tuple(one.proxy for one in own if one.ok)  # without a value there is no place either

    def score_others(heard: Observer) -> dict[str, ScoreMatrix]:
        assert others.space is not None
        return scored(
            others.space,
            texts,
            replace(look, proxies=known or look.proxies[:1]),
            data=data,
            engine=others.engine,
            workers=others.workers,
            cache=others.cache,
            observers=(*others.observers, heard),
        )

    shape = "x".join(map(str, small.inputs))
    shape += f" and {len(small.vocabularies)} categories" if small.vocabularies else ""
    halved = "" if small == subject.task else f", half of {'x'.join(map(str, subject.task.inputs))} to save time"
    words = f"{len(texts)} random architectures of {others.space.name}, drawn by seed {asked.seed}"
    apart = others.engine != "serial" and not isinstance(
        others.cache, Cache
    )  # which belongs to the thread it was made in
    with meanwhile(score_others, apart=apart) as wait:
        yield lambda: (standings(own, wait()), words, f"samples of {data.name}, {shape}{halved}; all looked at alike")
