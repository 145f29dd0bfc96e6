"""A comparison by several processes: one for each seed chooses all members, then any number of them train these.

plan("darts", data, ["svgd-rd", "uniform"], seed, out="runs/c")            # in one process for each seed: how many
train_planned("runs/c", seed, number, data)                                # in any process, for each number below that
compare_ensembles("darts", data, ["svgd-rd", "uniform"], seeds=3, out="runs/c")   # finds all of them done
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from foresee.ensembles.finding.comparing import POOL, Ground, Wanted, entries
from foresee.ensembles.finding.making import Making
from foresee.ensembles.finding.members import Member, Members, finished
from foresee.ensembles.finding.nes import EvolvedPool, RandomPool, drawn
from foresee.ensembles.finding.run import begin, cut, stored_settings
from foresee.ensembles.finding.samplers import sampler_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.finding.workshop import Common
from foresee.errors import BusyError, ForeseeError, InputError, RunError
from foresee.runs.events import Observer
from foresee.spaces.base import Space

PLAN = "plan.json"


def plan(
    space: str | Space[Any],
    data: Any,
    samplers: Wanted,
    seed: int,
    *,
    out: str | Path,
    val: Any = None,
    test: Any = None,
    observers: Iterable[Observer] = (),
    **settings: Any,
) -> int:
    """The first part of a comparison for one seed: train the supernet, choose members, and list all that is to be trained.

    Returns how many networks there are for `train_planned`. Mutants of NES-RE and later snapshots are not among them:
    each depends on one before it. When all are trained, `compare_ensembles` with the same arguments finds them done.
    """
    labels = entries(space, samplers, {**settings, "test": test})
    needed: dict[str, Member] = {}
    with Ground(labels, seed, data, val, test, out, observers) as ground:
        for label, said in ground.settings.items():
            try:
                members = known_before(said, ground.common(label), Shelf(ground.folder(label)))
            except ForeseeError:  # the comparison will say why
                continue
            needed |= {one.key: one for one in members}
        shelf = Shelf(ground.out)
        plain = {"settings": ground.base.to_json(), "members": [one.to_json() for one in needed.values()]}
        shelf.write(PLAN, plain)
    return len(needed)


def known_before(settings: EnsembleSettings, common: Common, shelf: Shelf) -> list[Member]:
    """The networks of a sampler that can be trained in any order, into the pool of what samplers share.

    Members are chosen now, and `selected.json` is on the shelf, unless they are chosen from a pool of trained ones.
    """
    sampler = sampler_of(settings)
    if isinstance(sampler, RandomPool):
        return drawn(common, settings.pool_size)
    if isinstance(sampler, EvolvedPool):
        return drawn(common, sampler.beginning)
    begin(shelf, settings, common.parts)
    chosen = Making(settings, common, sampler, shelf, shared=True).chosen.members
    return list(chosen[:1] if sampler.in_a_row else chosen)


def train_planned(
    out: str | Path,
    seed: int,
    number: int,
    data: Any,
    *,
    val: Any = None,
    test: Any = None,
    device: str | None = None,
    observers: Iterable[Observer] = (),
) -> Path:
    """Train network `number` of a plan into the pool of its seed; one that is finished stays as it is."""
    settings, members, folder = planned(out, seed, device)
    if not 0 <= number < len(members):
        raise InputError(f"compare: network {number}, of {len(members)} that are planned (from 0)")
    parts = cut(settings, data, val=val, test=test)
    Members(settings, parts, folder / POOL, observers).train(members[number])
    return folder / POOL / members[number].key


def train_what_is_left(
    out: str | Path,
    seeds: Sequence[int],
    data: Any,
    *,
    place: int = 0,
    val: Any = None,
    test: Any = None,
    device: str | None = None,
    observers: Iterable[Observer] = (),
) -> list[Path]:
    """Train all networks of the plans of some seeds that nobody else has trained or is training; returns which.

    Any number of processes may do this at once: a network that one of them has begun is passed over by the others. When all
    have returned, everything is trained, unless a process was ended from outside.

    Args:
        out: of the comparison.
        seeds: which were planned.
        data: as it was handed to `plan`.
        place: the number of the process: each begins elsewhere in the list, so that they seldom meet.
        val: as it was handed to `plan`.
        test: likewise.
        device: another device than the settings say.
        observers: are told what happens.
    """
    done: list[Path] = []
    work = [(seed, number) for seed in seeds for number in range(len(planned(out, seed)[1]))]
    start = place % max(1, len(work))
    for seed, number in [*work[start:], *work[:start]]:
        settings, members, folder = planned(out, seed, device)
        own = folder / POOL / members[number].key
        if finished(own):
            continue
        pool = Members(settings, cut(settings, data, val=val, test=test), folder / POOL, observers)
        try:
            pool.train(members[number])
        except BusyError:
            continue
        done.append(own)
    return done


def planned(out: str | Path, seed: int, device: str | None = None) -> tuple[EnsembleSettings, list[Member], Path]:
    """The settings of a plan, its networks, and the folder of its seed."""
    folder = Path(out) / f"seed-{seed}"
    stored = Shelf(folder).read(PLAN)
    if stored is None:
        raise RunError(f"{folder}: there is no {PLAN} here; plan the comparison first")
    members = [Member.from_json(one) for one in stored["members"]]
    return stored_settings(stored, f"{folder}/{PLAN}", device), members, folder
