"""A training that is on disk, as it was handed out at its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from torch import nn

from foresee.errors import RunError
from foresee.recommenders import Handmade
from foresee.runs.folder import is_there
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.task import Task
from foresee.training import checkpoints
from foresee.training.encoding import beside
from foresee.training.keeping import ARCHITECTURE, TRAINING, read_plain
from foresee.training.steps import load_weights
from foresee.training.trained import Trained


def load(folder: str | Path, network: nn.Module | None = None, *, space: Said | None = None) -> Trained:
    """The training in a folder, its network with the best weights.

    Args:
        folder: as `train(..., out=folder)` left it.
        network: the module, where it came from no space; its weights are replaced.
        space: the code of an own space (`space=make_net`): a file is not followed to code.
    """
    folder = Path(folder)
    if not is_there(folder / TRAINING):
        raise RunError(f"{folder}: there is no training here ({TRAINING} is missing)")
    plain = read_plain(folder / TRAINING)
    if plain.get("status") != "finished":
        done = len(plain.get("history", ()))
        raise RunError(f"{folder}: the training is not finished ({done} epochs are done); resume it first")
    if network is None:
        if not is_there(folder / ARCHITECTURE):
            raise RunError(f"{folder}: the network came from no space; hand it over: load(folder, network)")
        written = read_plain(folder / ARCHITECTURE)
        if "recommender" in written:
            network = Handmade.from_json(written).build(Task.from_json(written.get("task")))
        else:
            network = Candidate.load(folder / ARCHITECTURE, space=space).build()
    load_weights(network, checkpoints.read(folder, "best")[0])
    try:
        return replace(Trained.from_json(plain, network.eval(), folder), preprocessing=beside(folder))
    except (KeyError, TypeError) as error:
        raise RunError(f"{folder / TRAINING}: not as a training leaves it ({error} is wrong or missing)") from error
