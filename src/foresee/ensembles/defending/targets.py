"""What can be attacked: trained networks on disk, each with its normalising inside, so that pixels from 0 to 1 go in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from foresee.data.base import digest, little_endian
from foresee.ensembles.ensemble import Ensemble
from foresee.ensembles.finding.result import SETTINGS, EnsembleRun
from foresee.errors import InputError
from foresee.runs.folder import is_there
from foresee.spaces.find import Said
from foresee.task import Task
from foresee.training.export.answering import Answering
from foresee.training.export.sources import OF_ENSEMBLES, Source, source_of

#: how networks are handed over: an ensemble's folder, a training's, several of these; or modules that take pixels
Targeted = str | Path | nn.Module | Sequence[str | Path | nn.Module]


@dataclass(frozen=True, eq=False)
class Target:
    """Networks that answer together, of pixels from 0 to 1.

    Args:
        ensemble: the networks; a single one is an ensemble of one.
        names: how each is called.
        folders: where each came from, "" of a module.
        task: what goes in and out, where that is known.
        classes: their names, where they have some.
        found: the run that found them, of an ensemble's folder.
    """

    ensemble: Ensemble
    names: tuple[str, ...]
    folders: tuple[str, ...] = ()
    task: Task | None = None
    classes: tuple[str, ...] = ()
    found: EnsembleRun | None = None

    @property
    def words(self) -> dict[str, Any]:
        """What it is, as plain values: other networks have another digest."""
        found = [{"name": name, "weights": of_weights(one)} for name, one in zip(self.names, self.members, strict=True)]
        return {"networks": found, "average": self.ensemble.average}

    @property
    def members(self) -> list[nn.Module]:
        """The networks, each normalising by itself."""
        return list(self.ensemble.members)


def target_of(what: Targeted, *, code: nn.Module | None = None, space: Said | None = None) -> Target:
    """The networks of an ensemble's folder, of a training's, of several trainings, or modules that take pixels.

    Args:
        what: one or several of these.
        code: for the folder of a network of your own: that network, into which the weights are put.
        space: for an architecture of an own space: the function or the space.

    >>> found = target_of([nn.Linear(4, 2), nn.Linear(4, 2)])
    >>> found.names, len(found.ensemble)
    (('network 0', 'network 1'), 2)
    """
    several = [what] if isinstance(what, str | Path | nn.Module) else list(what)
    if not several:
        raise InputError("defend: no network; expected the folder of an ensemble or of a training")
    if len(several) == 1 and not isinstance(several[0], nn.Module) and is_ensemble(several[0]):
        return _of_ensemble(Path(several[0]), space)
    if len(several) == 1 and isinstance(several[0], Ensemble):
        names = tuple(f"member {place}" for place in range(len(several[0])))
        return Target(several[0], names, ("",) * len(names))
    found = [_source(one, code, space) for one in several]
    tasks = {one.task for one in found if one.task is not None}
    if len(tasks) > 1:
        shown = "; ".join(f"{one.inputs} to {one.outputs}" for one in tasks)
        raise InputError(f"defend: these networks have different tasks ({shown}); they cannot answer together")
    names = tuple(_name(one, place, len(several)) for place, one in enumerate(several))
    folders = tuple("" if isinstance(one, nn.Module) else str(one) for one in several)
    classes = next((one.classes for one in found if one.classes), ())
    together = Ensemble([_pixels(one) for one in found]).eval()
    return Target(together, names, folders, next(iter(tasks), None), classes)


def is_ensemble(path: str | Path) -> bool:
    """Whether the folder holds an ensemble, finished or not."""
    return any(is_there(Path(path) / name) for name in OF_ENSEMBLES)


def of_weights(network: nn.Module) -> str:
    """16 hexadecimal digits of all tensors of a network, by name."""
    parts = ((name, little_endian(one.detach().cpu().contiguous())) for name, one in network.state_dict().items())
    return digest(*(part for pair in parts for part in pair))


def _of_ensemble(folder: Path, space: Said | None) -> Target:
    """The ensemble in a folder; what normalises is what its members were trained with."""
    kept = source_of(folder, space=space)
    together = kept.network
    assert isinstance(together, Ensemble)
    members = [Answering(one, kept.statistics) for one in together.members]
    names = tuple(f"member {place}" for place in range(len(members)))
    places = tuple(str(folder / "members" / str(place)) for place in range(len(members)))
    run = EnsembleRun.load(folder, space=space) if is_there(folder / SETTINGS) else None
    return Target(Ensemble(members, together.average).eval(), names, places, kept.task, kept.classes, run)


def _source(one: str | Path | nn.Module, code: nn.Module | None, space: Said | None) -> Source:
    if isinstance(one, nn.Module):
        return Source(one)
    if is_ensemble(one):
        raise InputError(f"{one}: is an ensemble; name it alone, or the folders of its members ({one}/members/0, ...)")
    return source_of(one, network=code, space=space)


def _pixels(one: Source) -> nn.Module:
    return one.network if one.statistics is None else Answering(one.network, one.statistics)


def _name(one: str | Path | nn.Module, place: int, count: int) -> str:
    if isinstance(one, nn.Module):
        return f"network {place}" if count > 1 else "the network"
    return Path(one).name or str(one)
