"""A comparison by several processes: one for each seed chooses all members, then any number of them train these.

plan("darts", data, ["svgd-rd", "uniform"], seed, out="runs/c")            # in one process for each seed: how many
train_planned("runs/c", seed, number, data)                                # in any process, for each number below that
compare_ensembles("darts", data, ["svgd-rd", "uniform"], seeds=3, out="runs/c")   # finds all of them done
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from foresee.ensembles.finding.comparing import POOL, Ground, Wanted, entries
from foresee.ensembles.finding.making import Making
from foresee.ensembles.finding.members import Member, Members
from foresee.ensembles.finding.nes import RandomPool, drawn
from foresee.ensembles.finding.run import begin, cut
from foresee.ensembles.finding.samplers import sampler_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.errors import ForeseeError, InputError, RunError
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

    Returns how many networks there are for `train_planned`. Those of NES-RE and snapshots are not among them: each depends on
    one before it. When all are trained, `compare_ensembles` with the same arguments finds them done.
    """
    labels = entries(space, samplers, settings)
    needed: dict[str, Member] = {}
    with Ground(labels, seed, data, val, test, out, observers) as ground:
        for label, said in ground.settings.items():
            try:
                members = _known_before(ground, label, said)
            except ForeseeError:  # the comparison will say why
                continue
            needed |= {one.key: one for one in members}
        shelf = Shelf(ground.out)
        plain = {"settings": ground.base.to_json(), "members": [one.to_json() for one in needed.values()]}
        shelf.write(PLAN, plain)
    return len(needed)


def _known_before(ground: Ground, label: str, settings: EnsembleSettings) -> list[Member]:
    """The members of a sampler that can be trained in any order."""
    sampler, shelf = sampler_of(settings), Shelf(ground.folder(label))
    common = ground.common(label)
    if isinstance(sampler, RandomPool):
        return drawn(common, settings.pool_size)
    if sampler.needs_pool:
        return drawn(common, min(settings.pool_size, settings.size))  # where the evolution begins
    begin(shelf, settings, ground.parts)
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
    folder = Path(out) / f"seed-{seed}"
    stored = Shelf(folder).read(PLAN)
    if stored is None:
        raise RunError(f"{folder}: there is no {PLAN} here; plan the comparison first")
    settings = EnsembleSettings.from_json({**stored["settings"], **({} if device is None else {"device": device})})
    if not 0 <= number < len(stored["members"]):
        raise InputError(f"compare: network {number}, of {len(stored['members'])} that are planned (from 0)")
    parts = cut(settings, data, val=val, test=test)
    member = Member.from_json(stored["members"][number])
    Members(settings, parts, folder / POOL, observers).train(member)
    return folder / POOL / member.key
