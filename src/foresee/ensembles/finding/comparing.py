"""Several samplers side by side: the same data, recipe and seeds, one supernet and one pool of trained members for each seed.

    compare_ensembles("darts", data, ["svgd-rd", "mc", "uniform", "nes-rs", "deep"], seeds=3, out="runs/compared")

A member that two samplers choose is trained once, in `out/seed-S/pool`; the folders of the samplers' ensembles hold copies.
What each would have spent alone is counted for each. Several processes can share the work: see `planning`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from foresee.checks import whole
from foresee.data.base import digest
from foresee.ensembles.finding.compared import Compared, EnsembleComparison
from foresee.ensembles.finding.members import Members
from foresee.ensembles.finding.parts import Parts
from foresee.ensembles.finding.run import asked, cut, found
from foresee.ensembles.finding.samplers import sampler_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.finding.workshop import Common
from foresee.errors import ForeseeError, InputError, UnknownNameError
from foresee.proxies.base import get as get_proxy
from foresee.registry import tidy
from foresee.runs.events import Announcer, Event, Observer
from foresee.runs.folder import RunFolder
from foresee.runs.progress import watched
from foresee.spaces.base import Space

COMPARISON, POOL = "comparison.json", "pool"
#: what may differ between those that are compared; all else is alike, so that they can share their members
FREE = (
    *("sampler", "iterations", "delta", "delta_by", "temperature", "average", "droppath", "pool", "population"),
    *("posterior", "posterior_epochs", "posterior_batch", "posterior_lr", "prior", "proxy_samples", "sharpness"),
)
#: those of them that a supernet or a posterior depends on
DECIDING = FREE[FREE.index("posterior") :]
Wanted = Sequence[str] | Mapping[str, Mapping[str, Any]]


def compare_ensembles(
    space: str | Space[Any],
    data: Any,
    samplers: Wanted = ("svgd_rd", "mc", "uniform", "nes_rs", "deep"),
    seeds: int | Sequence[int] = 3,
    *,
    out: str | Path | None = None,
    reference: str | None = None,
    val: Any = None,
    test: Any = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
    **settings: Any,
) -> EnsembleComparison:
    """Find, train and measure an ensemble by each sampler under each seed; killed at any moment, the same call goes on.

    Args:
        space: as for `ensemble`.
        data: as for `ensemble`.
        samplers: their names; or labels with settings (`{"flat": {"sampler": "mc", "temperature": 10.0}}`), of those alone
            that do not change how members are trained.
        seeds: how many, 0, 1, ...; or which.
        out: the folder that keeps all of it.
        reference: the label that the others are compared with; None: `uniform` where it takes part, else the last.
        val: as for `ensemble`.
        test: as for `ensemble`.
        observers: are told what happens.
        progress: show a line of progress.
        settings: as for `ensemble`, for all samplers alike.
    """
    labels = entries(space, samplers, {**settings, "test": test})
    chosen = seeds_of(seeds)
    if reference is not None and tidy(reference) not in labels:
        raise UnknownNameError("sampler as reference", reference, labels)
    against = tidy(reference) if reference else "uniform" if "uniform" in labels else list(labels)[-1]
    watching = tuple(watched(observers, progress))
    tell = Announcer(watching)
    rows = []
    for seed in chosen:
        with Ground(labels, seed, data, val, test, out, watching) as ground:
            for label in labels:
                rows.append(_one(ground, label))
                details = {"name": f"{label}, seed {seed}", "reason": rows[-1].reason}
                tell(Event("compared", len(rows), len(chosen) * len(labels), None, details))
    made = EnsembleComparison(tuple(labels), tuple(rows), against, None if out is None else Path(out))
    Shelf(out).write(COMPARISON, made.to_json())
    return made


def _one(ground: Ground, label: str) -> Compared:
    settings = ground.settings[label]
    try:
        run = found(settings, ground.parts, ground.folder(label), common=ground.common(label))
    except ForeseeError as error:  # of this sampler alone: the others go on
        return Compared(label, settings.seed, settings.sampler, reason=str(error))
    measures = json.loads(json.dumps({key: one.to_json() for key, one in run.measures.items()}))  # as it is read again
    return Compared(label, settings.seed, settings.sampler, run.architectures, measures, dict(run.budget))


def entries(space: str | Space[Any], samplers: Wanted, settings: Mapping[str, Any]) -> dict[str, EnsembleSettings]:
    """By label, what is asked of each; what they may not differ in is said."""
    if isinstance(samplers, str):
        samplers = [samplers]
    given = samplers if isinstance(samplers, Mapping) else {name: {"sampler": name} for name in samplers}
    found: dict[str, EnsembleSettings] = {}
    for label, changes in given.items():
        odd = next((key for key in changes if key not in FREE), None)
        if odd is not None:
            raise InputError(
                f"compare: {label} may not have a {odd} of its own; say it for all. Its own may be {', '.join(FREE)}"
            )
        head, colon, cell = label.partition(":")
        name = tidy(head) + colon + cell
        if name in found:
            raise InputError(f"compare: {label} is named twice")
        found[name] = asked(space, **{**settings, "sampler": label, **changes})
        if sampler_of(found[name]).training_free:  # what is unknown is said before anything is trained
            get_proxy(found[name].posterior)
    if not found:
        raise InputError("compare: no samplers; name at least one")
    return found


def seeds_of(seeds: int | Sequence[int]) -> list[int]:
    """Which seeds are meant.

    >>> seeds_of(2), seeds_of([5])
    ([0, 1], [5])
    """
    if isinstance(seeds, int):
        whole("seeds", seeds, of="compare")
        return list(range(seeds))
    return [int(one) for one in seeds]


class Ground:
    """What the samplers of one seed share; a context that holds the folder of that seed."""

    def __init__(
        self,
        labels: Mapping[str, EnsembleSettings],
        seed: int,
        data: Any,
        val: Any = None,
        test: Any = None,
        out: str | Path | None = None,
        observers: Iterable[Observer] = (),
    ) -> None:
        self.settings = {label: replace(one, seed=seed) for label, one in labels.items()}
        self.base = next(iter(self.settings.values()))
        self.parts: Parts = cut(self.base, data, val=val, test=test)
        self.out = None if out is None else Path(out) / f"seed-{seed}"
        self.observers = tuple(observers)
        self.members = Members(self.base, self.parts, self.out and self.out / POOL, self.observers)
        self._common: dict[str, Common] = {}
        self._held: RunFolder | None = None

    def __enter__(self) -> Ground:
        if self.out is not None:
            self._held = RunFolder(self.out)
            self._held.hold()
        return self

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held.release()

    def folder(self, label: str) -> Path | None:
        """Of a sampler's ensemble."""
        return None if self.out is None else self.out / label.replace(":", "-").replace("/", "-")

    def common(self, label: str) -> Common:
        """The supernet and the posterior that a sampler uses, with the pool of all."""
        settings = self.settings[label]
        deciding = digest(*(getattr(settings, key) for key in DECIDING))
        name = f"shared-{settings.posterior}-{deciding[:8]}".replace(":", "-")
        if name not in self._common:
            folder = None if self.out is None else self.out / name
            self._common[name] = Common(settings, self.parts, folder, self.observers, self.members)
        return self._common[name]
