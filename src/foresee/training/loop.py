"""`fs.train`: from a network, data and a recipe to a trained network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from foresee.errors import InputError
from foresee.recommenders import Handmade
from foresee.runs.events import Observer
from foresee.runs.progress import watched
from foresee.seeds import derive
from foresee.spaces.candidate import Candidate
from foresee.task import Task
from foresee.training.building import Trainable, built, by_hand, candidate_of, for_recipe, spread_embeddings
from foresee.training.encoding import beside
from foresee.training.epochs import SAVED, Epochs
from foresee.training.first import first_part, train_first
from foresee.training.keeping import Folder, Memory
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as get_recipe
from foresee.training.sources import sources
from foresee.training.trained import Trained
from foresee.training.usual import usual_recipe

if TYPE_CHECKING:
    from foresee.data.clicks.preprocessing import Preprocessing


def train(
    network: Trainable,
    data: Any,
    recipe: str | Path | Recipe | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    validation: Any = None,
    test: Any = None,
    schema: Any = None,
    preprocessing: Preprocessing | None = None,
    seed: int = 0,
    device: str = "cpu",
    observers: Iterable[Observer] = (),
    progress: bool = False,
    teacher: nn.Module | None = None,
    save_seconds: float = SAVED,
    save_steps: int = 0,
    **changes: Any,
) -> Trained:
    """Train a network by a recipe.

    Args:
        network: any module, trained itself; an architecture (`run.best`, a `best.json`, a run's folder), which is built
            with the recipe's width, depth and auxiliary head for the data's task; or a recommender by its name.
        data: a name or path (`data.load`), a `Data`, `(inputs, labels)`, a `DataLoader`; see `sources`.
        recipe: a name (`foresee recipes`), a TOML file or a `Recipe`; None: `fast`, or by the size of a click log `ctr`,
            `ctr_middle`, `ctr_small`.
        out: the folder to keep it in; None keeps nothing.
        resume: go on with what is in `out`, or begin.
        validation: what epochs are judged by; None: the data's own split, or the recipe's share of the training data.
        test: what the best is judged by; None: the data's own split.
        schema: what the columns of a click log are (`criteo`, a TOML file, a `Schema`); None: guessed, or as it was found.
        preprocessing: what encodes the rows of a click log; None: what lies beside the `best.json`, or a fresh one.
        seed: decides everything that is random: weights of an architecture, order, augmentation, dropout.
        device: where.
        observers: are told what happens.
        progress: show a line of progress.
        teacher: a trained network whose answers are learnt from, by the recipe's `distil`.
        save_seconds: seconds between two checkpoints within an epoch.
        save_steps: steps between two, where that is wanted too.
        changes: values of the recipe: `epochs=50, lr=0.1`.

    >>> import torch
    >>> x = torch.randn(60, 4)
    >>> found = train(nn.Linear(4, 2), (x, (x.sum(1) > 0).long()), epochs=3, batch=10)
    >>> len(found.history), found.validation.samples
    (3, 6)
    """
    encoded: dict[str, Any] = {"schema": schema, "preprocessing": preprocessing or beside(network)}
    chosen = get_recipe(usual_recipe(network, data, **encoded) if recipe is None else recipe, **changes)
    if chosen.distil and teacher is None:
        raise InputError(f"recipe: distil = {chosen.distil:g} needs a teacher; hand one over, or say distil = 0")
    handmade = by_hand(network)
    candidate = None if handmade is not None else candidate_of(network)
    shape = None if candidate is None or candidate.task.vocabularies else candidate.task.inputs
    given: dict[str, Any] = {"validation": validation, "test": test, "share": chosen.validation, "seed": seed}
    found = sources(data, **given, inputs=shape, **encoded)
    if candidate is not None:
        candidate = for_recipe(candidate, chosen, found.train.task or candidate.task)
        network = built(candidate, seed)
    if handmade is not None:
        network = handmade.build(_known(found.train.task), derive(seed, "weights"))
    assert isinstance(network, nn.Module)
    if candidate is not None or handmade is not None:  # fresh weights; those of a module handed over are its own
        spread_embeddings(network, chosen.embedding_spread)
    kept = Memory() if out is None else Folder(out, resume=resume)
    watching = watched(observers, progress)

    part = first_part(network) if chosen.first_order else None
    try:
        if part is not None:
            train_first(part, found, chosen, None if out is None else Path(out), seed, device)
        loop = Epochs(
            network,
            found,
            chosen,
            kept,
            seed,
            device,
            teacher,
            watching,
            save_seconds,
            save_steps,
            begun=part is not None,
        )
        trained = loop.run(_written(candidate, handmade, found.train.task))
        return replace(trained, candidate=candidate, task=found.train.task, preprocessing=found.train.preprocessing)
    finally:
        kept.close()


def _known(task: Task | None) -> Task:
    if task is None:
        raise InputError("training: a recommender is made for the task of its data; hand over data that states one")
    return task


def _written(candidate: Candidate | None, handmade: Handmade | None, task: Task | None) -> dict[str, Any] | None:
    """What `architecture.json` holds, where the network can be made again."""
    if handmade is not None:
        return {**handmade.to_json(), "task": _known(task).to_json()}
    return None if candidate is None else candidate.to_json()
