"""What can be exported: a module, a training that ended, a search that trained its foremost, an ensemble, or what these left
on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from foresee.data.normalising import Statistics
from foresee.errors import InputError, RunError
from foresee.lazy import find
from foresee.runs.folder import is_there
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.task import Task
from foresee.training import checkpoints
from foresee.training.encoding import beside
from foresee.training.keeping import ARCHITECTURE, TRAINING, read_plain
from foresee.training.steps import load_weights

if TYPE_CHECKING:
    from foresee.data.clicks.preprocessing import Preprocessing

#: what a search says of the foremost that it trained
FOREMOST = "trained.json"
#: files that the folder of an ensemble, finished or not, or of several that were compared, is known by
OF_ENSEMBLES = ("ensemble.json", "settings.json", "comparison.json")
#: before the names of a network's tensors in a checkpoint to go on from
NETWORK = "network."


@dataclass(frozen=True)
class Source:
    """A network and what is known of it."""

    network: nn.Module
    candidate: Candidate | None = None
    task: Task | None = None
    classes: tuple[str, ...] = ()
    statistics: Statistics | None = None
    #: what encodes the rows of a click log
    preprocessing: Preprocessing | None = None
    #: of an ensemble, as `Description.ensemble` has it
    ensemble: Mapping[str, Any] | None = None


def source_of(given: Any, *, network: nn.Module | None = None, space: Said | None = None) -> Source:
    """The network of a module, a `Trained`, a `Run` whose foremost were trained (the best of them), the folder of a training
    or of such a run, an ensemble's folder or what `fs.ensemble` returned, or a checkpoint (`last.safetensors`).

    `network` takes the weights of a folder whose network is code of somebody's own, `space` reads the architecture of one
    from an own space: no file is followed to code.
    """
    if isinstance(given, nn.Module):
        return Source(given)
    if isinstance(given, str | Path):
        return _of_folder(Path(given), network, space)
    if isinstance(getattr(given, "ensemble", None), nn.Module):
        return _ensemble(given, space)
    for name in ("trained", "best", "trained"):  # a run's trainings, the best of them, what its training gave
        if not isinstance(getattr(given, "network", None), nn.Module):
            given = getattr(given, name, None) or given
    if isinstance(getattr(given, "network", None), nn.Module):
        return _of_trained(given, space)
    raise InputError(
        f"export: a {type(given).__name__} is no network; expected a torch.nn.Module, what `train` returned, or the folder "
        "of a training"
    )


def _of_trained(trained: Any, space: Said | None) -> Source:
    candidate: Candidate | None = getattr(trained, "candidate", None)
    folder = getattr(trained, "folder", None)
    if candidate is None and folder is not None and (Path(folder) / ARCHITECTURE).is_file() and _known(folder, space):
        candidate = Candidate.load(Path(folder) / ARCHITECTURE, space=space)
    task = getattr(trained, "task", None) or (None if candidate is None else candidate.task)
    encoded = getattr(trained, "preprocessing", None) or (None if folder is None else beside(folder))
    return Source(trained.network, candidate, task, tuple(trained.classes), _statistics(trained.facts), encoded)


def _known(folder: Path, space: Said | None) -> bool:
    """Whether the architecture's space can be found: a registered one, or one that was handed over."""
    plain = read_plain(Path(folder) / ARCHITECTURE)
    return space is not None or ":" not in str(plain.get("space", ""))


def _of_folder(path: Path, network: nn.Module | None, space: Said | None) -> Source:
    if not is_there(path):
        raise RunError(f"{path}: no such file or folder; expected the folder of a training, or a checkpoint in it")
    if any(is_there(path / name) for name in OF_ENSEMBLES):
        return _ensemble(path, space)
    folder, name = (_trained_in(path), "best") if path.is_dir() else (path.parent, path.stem)
    if path.is_dir() and (folder / "run.sqlite").is_file():  # its best.json is an architecture, no checkpoint
        raise RunError(f"{path}: a search, of which nothing is trained yet; foresee train {path} does it")
    if not checkpoints.exists(folder, name):
        raise RunError(f"{path}: no checkpoint here ({name}.json is missing)")
    tensors, _ = checkpoints.read(folder, name)
    tensors = _network_tensors(tensors)
    said = read_plain(folder / TRAINING) if (folder / TRAINING).is_file() else {}
    candidate = None
    if (folder / ARCHITECTURE).is_file():
        candidate = Candidate.load(folder / ARCHITECTURE, space=space)
        network = network or candidate.build(0)
    if network is None:
        raise InputError(
            f"{folder}: the network is code of your own, which no file names; hand it over (code=..., or --network "
            "module:function on the command line)"
        )
    load_weights(network, tensors)
    task = None if candidate is None else candidate.task
    classes = tuple(map(str, said.get("classes") or ()))
    return Source(network, candidate, task, classes, _statistics(said.get("facts")), beside(folder))


def _ensemble(given: Any, space: Said | None) -> Source:
    """Of a room above this one, which is asked only where there is an ensemble."""
    made: Source = find("foresee.ensembles.exported", "source")(given, space)
    return made


def _trained_in(folder: Path) -> Path:
    """The folder of the training that is meant: in a run whose foremost were trained, the best of them."""
    if (folder / FOREMOST).is_file():
        best = read_plain(folder / FOREMOST).get("best")
        if isinstance(best, int):
            return folder / "trained" / str(best)
    return folder


def _network_tensors(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The network's own: all of the best weights, some of a checkpoint to go on from."""
    if not any(key.startswith("optimiser.") for key in tensors) and not all(key.startswith(NETWORK) for key in tensors):
        return dict(tensors)
    return {key.removeprefix(NETWORK): value for key, value in tensors.items() if key.startswith(NETWORK)}


def _statistics(facts: Any) -> Statistics | None:
    found = facts.get("normalised by") if isinstance(facts, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    return Statistics(tuple(map(float, found["mean"])), tuple(map(float, found["std"])))
