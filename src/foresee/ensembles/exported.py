"""An ensemble as it leaves the house: what `fs.export` writes of one, and how `fs.load_exported` builds it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from foresee.ensembles.ensemble import NAME, Ensemble
from foresee.errors import InputError, RunError
from foresee.runs.folder import is_there
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.training import checkpoints
from foresee.training.export.sources import Source, source_of
from foresee.training.keeping import TRAINING


def source(given: Any) -> Source:
    """The ensemble in a folder, or of a run that found one, with what is known of it."""
    folder = Path(given) if isinstance(given, str | Path) else getattr(given, "folder", None)
    if folder is None:
        return _of_run(given)
    kept = Ensemble.load(folder)
    first = trained_in(folder)
    facts = checkpoints.read_facts(folder, NAME)
    described = plain(kept, [Candidate.from_json(one) for one in facts["candidates"]])
    return Source(kept, None, first.task, first.classes, first.statistics, ensemble=described)


def _of_run(run: Any) -> Source:
    raise InputError("export: this ensemble was not kept; find it with out=... and export that folder")


def plain(ensemble: Ensemble, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """What `model.json` says of it: what is averaged, and the members' architectures."""
    bare = [Candidate(one.space, one.architecture, one.task).to_json() for one in candidates]
    return {"average": ensemble.average, "members": bare}


def built(said: Mapping[str, Any], space: Said | None = None, where: str = "ensemble") -> nn.Module:
    """The ensemble that `plain` told of, its weights not yet its own."""
    try:
        members, average = list(said["members"]), str(said["average"])
    except (KeyError, TypeError) as error:
        raise RunError(f"{where}: does not tell of an ensemble ({error} is wrong or missing)") from error
    return Ensemble([Candidate.from_json(one, space=space, where=where).build(0) for one in members], average)


def trained_in(folder: Path) -> Source:
    """The first training of an ensemble's folder: what goes in and out, what normalises."""
    place = folder / "members" / "0"
    if not is_there(place / TRAINING):
        raise RunError(f"{folder}: holds weights, but no trainings (members/0 is missing) that say what normalises")
    return source_of(place)
