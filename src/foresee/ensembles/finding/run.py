"""`fs.ensemble`: from a space and data to an ensemble that is found, trained and measured.

    found = ensemble("darts", data, size=3, sampler="svgd-rd", out="runs/e")

Stages: a supernet is trained, a posterior fitted, members are chosen by inherited weights, trained one by one, put together
and measured. Each stage is a whole file (or a training folder that can be gone on with) in `out`; killed anywhere, the same
call goes on and ends the same, on a CPU bit for bit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from foresee.devices import usable
from foresee.ensembles.finding.making import Making
from foresee.ensembles.finding.parts import Parts, parts_of
from foresee.ensembles.finding.result import MEASURES, SETTINGS, EnsembleRun
from foresee.ensembles.finding.samplers import Sampler, sampler_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.finding.workshop import Common
from foresee.errors import InputError, RunError, SettingsMismatchError, UnsupportedError
from foresee.proxies.base import get as get_proxy
from foresee.runs.events import Event, Observer
from foresee.runs.folder import RunFolder, is_there
from foresee.runs.progress import watched
from foresee.spaces.base import Space
from foresee.spaces.find import check_named, tidied
from foresee.training.keeping import differences


def ensemble(
    space: str | Space[Any],
    data: Any,
    *,
    size: int = 3,
    sampler: str = "svgd_rd",
    out: str | Path | None = None,
    val: Any = None,
    test: Any = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
    **settings: Any,
) -> EnsembleRun:
    """Find an ensemble, train its members, measure it.

    Args:
        space: where members come from: a name, or a space of a registered kind with its settings.
        data: a name or a path (`data.load`), a `Data`, or whatever `data.as_data` takes; its own validation and test splits
            are used where it has them.
        size: members.
        sampler: how they are chosen (`foresee.ensembles.finding.samplers`): `svgd-rd`, `mc`, `uniform`, `nes-rs`, `nes-re`,
            `deep`, `droppath`, `snapshot`.
        out: the folder to keep it in, and to go on with; None keeps nothing.
        val: what is selected by, instead of a share of the data.
        test: what the ensemble is measured on, instead of a share of the data; or that share, 0.2.
        observers: are told what happens.
        progress: show a line of progress.
        settings: all else that `EnsembleSettings` lists: `seed=1, epochs=20, channels=16, delta=0.5`.

    >>> found = ensemble("nasbench201", "digits", size=2, sampler="mc", inputs=(1, 8, 8), channels=4, cells=1, epochs=1,
    ...                  batch=256, supernet_epochs=1, posterior_epochs=1, iterations=2)
    >>> len(found.architectures), found.budget["networks"], found.measures["test"].samples
    (2, 2, 360)
    """
    said = asked(space, size=size, sampler=sampler, test=test, **settings)
    parts = cut(said, data, val=val, test=test)
    return found(said, parts, None if out is None else Path(out), observers=watched(observers, progress))


def asked(space: str | Space[Any], **settings: Any) -> EnsembleSettings:
    """The settings of a call; those of a space that is handed over are its own. A `test` that is no share is data."""
    if not isinstance(settings.get("test", 0.0), float):
        del settings["test"]
    if isinstance(space, Space):
        own = {**space.settings(), **dict(settings.pop("space_settings", {}))}
        return EnsembleSettings.of(space=space.reference, space_settings=own, **settings)
    return EnsembleSettings.of(space=tidied(space), **settings)


def cut(settings: EnsembleSettings, data: Any, *, val: Any = None, test: Any = None) -> Parts:
    """The parts of the data by the settings."""
    shares: dict[str, Any] = {"share": settings.validation, "test_share": settings.test, "seed": settings.seed}
    return parts_of(data, val=val, test=None if isinstance(test, float) else test, inputs=settings.inputs, **shares)


def found(
    settings: EnsembleSettings,
    parts: Parts,
    folder: Path | None = None,
    *,
    common: Common | None = None,
    observers: Iterable[Observer] = (),
) -> EnsembleRun:
    """The ensemble of these settings; `common` is what several samplers of one seed share."""
    usable(settings.device)
    chooser = sampler_of(settings)
    check(settings, chooser)
    shelf = Shelf(folder)
    with ExitStack() as stack:
        if folder is not None:
            held = RunFolder(folder)
            if held.exists or is_there(folder / "training.json"):
                raise RunError(f"{folder}: holds a search or a training; choose another --out")
            stack.enter_context(begun_well(folder))
            begin(shelf, settings, parts)
            held.hold()
            stack.callback(held.release)
            if is_there(folder / MEASURES):
                return EnsembleRun.load(folder, space=settings.own_space)
        alone = common is None
        common = common or Common(settings, parts, folder, observers)
        making = Making(settings, common, chooser, shelf, shared=not alone)
        common.tell(Event("started", details={"name": settings.sampler}))
        began = time.monotonic()
        making.chosen  # noqa: B018 - made, and kept, before any member is trained
        making.members()
        run = making.measured()
        details = {"name": settings.sampler, "seconds": time.monotonic() - began}
        common.tell(Event("finished", details=details))
        return run


def check(settings: EnsembleSettings, chooser: Sampler) -> None:
    """What is misspelt is said before hours are spent: the space, both recipes, the proxy."""
    kind = settings.found_space
    settings.member_recipe  # noqa: B018 - read, and so checked
    if chooser.needs_posterior and settings.training_free:
        get_proxy(settings.posterior)
    elif chooser.needs_supernet:
        settings.shared_recipe  # noqa: B018
    if (chooser.needs_supernet or chooser.needs_posterior) and type(kind).one_shot is Space.one_shot:
        raise UnsupportedError(
            f"ensemble: space {kind.name} has no one-shot network; take a sampler that needs no supernet (nes-rs, nes-re, "
            "deep, snapshot)"
        )


@contextmanager
def begun_well(folder: Path) -> Iterator[None]:
    """Settings that nothing could be begun with (a cell that is misspelt) are not kept: the next try may come here."""
    new = not is_there(folder / SETTINGS)
    try:
        yield
    except InputError:
        if new and is_there(folder) and [one.name for one in folder.iterdir()] == [SETTINGS]:
            (folder / SETTINGS).unlink()
            folder.rmdir()
        raise


def begin(shelf: Shelf, settings: EnsembleSettings, parts: Parts) -> None:
    """Say in the folder what was asked; another ensemble that is there is refused."""
    said = {
        "settings": settings.to_json(),
        "task": parts.task.to_json(),
        "data": parts.words,
        "normalised by": None
        if parts.statistics is None
        else {"mean": list(parts.statistics.mean), "std": list(parts.statistics.std)},
    }
    stored = shelf.read(SETTINGS)
    if stored is None:
        shelf.write(SETTINGS, said)
        return
    before = {key: stored.get(key) for key in said}
    different = differences(json.loads(json.dumps(said)), before)
    if different:
        raise SettingsMismatchError(f"{shelf.folder}: another ensemble is in this folder: {'; '.join(different)}")


def train_member(
    folder: str | Path,
    number: int,
    data: Any,
    *,
    val: Any = None,
    test: Any = None,
    device: str | None = None,
    observers: Iterable[Observer] = (),
) -> Path:
    """Train one member of an ensemble whose members are chosen, in its folder; what is finished there stays as it is.

    For several processes: each trains some of the members, then `ensemble` with the same arguments finds them all done.

    Args:
        folder: of the ensemble (`out`), in which `selected.json` lies.
        number: of the member, from 0.
        data: as it was handed to `ensemble`.
        val: likewise.
        test: likewise.
        device: another device than the settings say.
        observers: are told what happens.
    """
    shelf = Shelf(folder)
    stored = shelf.read(SETTINGS)
    if stored is None:
        raise RunError(f"{folder}: there is no ensemble here ({SETTINGS} is missing)")
    settings = stored_settings(stored, f"{folder}/{SETTINGS}", device)
    parts = cut(settings, data, val=val, test=test)
    begin(shelf, settings, parts)
    common = Common(settings, parts, Path(folder), observers)
    return Making(settings, common, sampler_of(settings), shelf).member(number)


def stored_settings(stored: Mapping[str, Any], where: str, device: str | None = None) -> EnsembleSettings:
    """The settings in a file, perhaps for another device; a space that is code is not followed to it."""
    plain = {**stored["settings"], **({} if device is None else {"device": device})}
    found = EnsembleSettings.from_json(plain, where=where)
    check_named(where, found.space, "train its members by one call of ensemble(...)")
    return found


def choose(
    space: str | Space[Any], data: Any, out: str | Path, *, val: Any = None, test: Any = None, **settings: Any
) -> int:
    """Only choose the members, in the folder `out`; returns how many there are to be trained (see `train_member`)."""
    observers = settings.pop("observers", ())
    said = asked(space, test=test, **settings)
    parts = cut(said, data, val=val, test=test)
    shelf = Shelf(out)
    begin(shelf, said, parts)
    making = Making(said, Common(said, parts, Path(out), observers), sampler_of(said), shelf)
    return len(making.chosen.members)
