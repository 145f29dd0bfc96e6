"""An ensemble as it leaves the house: what `fs.export` writes of one, and how `fs.load_exported` builds it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from foresee.ensembles.dropping import dropped, dropping
from foresee.ensembles.ensemble import NAME, Ensemble
from foresee.ensembles.finding.comparing import COMPARISON
from foresee.ensembles.finding.members import Member
from foresee.ensembles.finding.result import SETTINGS, EnsembleRun
from foresee.errors import RunError
from foresee.runs.folder import is_there
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.training import checkpoints
from foresee.training.building import for_recipe
from foresee.training.export.sources import Source, source_of
from foresee.training.keeping import TRAINING


def source(given: Any, space: Said | None = None) -> Source:
    """The ensemble in a folder, or of a run that found one, with what is known of it; an own space has to be said."""
    if not isinstance(given, str | Path):
        space = space or given.held.get("space")  # as the person named it; never as a file does
    if not isinstance(given, str | Path) and given.folder is None:
        recipe, task = given.settings.member_recipe, given.task
        members = [Member.from_json(one, space).candidate for one in given.selected["members"]]
        chosen = [for_recipe(one, recipe, task) for one in members]
        chosen *= len(given.ensemble) // len(chosen)  # one network that drops paths
        said = plain(given.ensemble, chosen)
        return Source(given.ensemble, None, task, (), given.statistics, ensemble=said)
    folder = Path(given) if isinstance(given, str | Path) else given.folder
    check_finished(folder)
    kept = Ensemble.load(folder, space=space)
    first = trained_in(folder, space)
    facts = checkpoints.read_facts(folder, NAME)
    said = plain(kept, [Candidate.from_json(one, space=space) for one in facts["candidates"]])
    return Source(kept, None, first.task, first.classes, first.statistics, ensemble=said)


def check_finished(folder: Path) -> None:
    """Refuse the folder of a comparison, and that of an ensemble which is still being made."""
    if is_there(folder / COMPARISON):
        there = sorted(str(one.parent) for one in folder.glob(f"seed-*/*/{NAME}.json"))
        raise RunError(f"{folder}: several ensembles are compared here; name one of them: {', '.join(there)}")
    if is_there(folder / SETTINGS):
        EnsembleRun.load(folder)  # one that is not finished says so


def plain(ensemble: Ensemble, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """What `model.json` says of it: what is averaged, the members' architectures, and which paths they drop, if any."""
    bare = [Candidate(one.space, one.architecture, one.task).to_json() for one in candidates]
    paths = [dropped(one) for one in ensemble.members]
    return {"average": ensemble.average, "members": bare, **({"dropping": paths} if any(paths) else {})}


def built(said: Mapping[str, Any], space: Said | None = None, where: str = "ensemble") -> nn.Module:
    """The ensemble that `plain` told of, its weights not yet its own."""
    try:
        members, average = list(said["members"]), str(said["average"])
    except (KeyError, TypeError) as error:
        raise RunError(f"{where}: does not tell of an ensemble ({error} is wrong or missing)") from error
    networks = [Candidate.from_json(one, space=space, where=where).build(0) for one in members]
    for network, how in zip(networks, said.get("dropping", ()), strict=False):
        if how is not None:
            dropping(network, float(how[0]), int(how[1]))
    return Ensemble(networks, average)


def trained_in(folder: Path, space: Said | None = None) -> Source:
    """The first training of an ensemble's folder: what goes in and out, what normalises."""
    place = folder / "members" / "0"
    if not is_there(place / TRAINING):
        raise RunError(f"{folder}: holds weights, but no trainings (members/0 is missing) that say what normalises")
    return source_of(place, space=space)
