"""`foresee train`: from an architecture and data to a trained network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.markup import escape

from foresee.cli.app import app, out
from foresee.cli.app import stopped as say_stopped
from foresee.cli.groups import Group, SchemaOption, grouped
from foresee.cli.networks import factory_of, make
from foresee.cli.options import parse_settings
from foresee.cli.progress import Epochs
from foresee.cli.start import STOPPED
from foresee.errors import InputError, UnknownNameError
from foresee.quantities import format_quantity, format_seconds
from foresee.task import Task, parse_shape

if TYPE_CHECKING:
    from torch import nn

    from foresee.recommenders import Handmade
    from foresee.spaces.candidate import Candidate


@dataclass
class RecipeOptions(Group):
    """How it is trained: a recipe, and values that are to be others."""

    panel = "How it is trained"
    usual: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("epochs", "batch", "lr", "precision"), "as the recipe says"),
        "recipe": "fast; ctr for click logs, ctr_small for small ones",
    }

    recipe: Annotated[str | None, typer.Option(help="a recipe (`foresee recipes`), or a TOML file of your own")] = None
    epochs: Annotated[int | None, typer.Option(help="passes over the training data")] = None
    batch: Annotated[int | None, typer.Option(help="samples of a step")] = None
    lr: Annotated[float | None, typer.Option(help="the largest learning rate")] = None
    precision: Annotated[str | None, typer.Option(help="float32, bfloat16 or float16")] = None

    def changes(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """The values that were said, by `--set recipe.key=value` (`said`) or by an option of their own."""
        own = {key: getattr(self, key) for key in ("epochs", "batch", "lr", "precision")}
        return {**said, **{key: value for key, value in own.items() if value is not None}}


@app.command()
@grouped
def train(
    how: RecipeOptions,
    what: Annotated[
        str,
        typer.Argument(
            help="a best.json, a run's folder, a space, a recommender, or module:function that returns a network"
        ),
    ],
    architecture: Annotated[
        str | None, typer.Argument(help="the architecture's text or name, where a space is named", show_default=False)
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="what to learn from: an image folder, a .npz file, CIFAR files, digits, a click log",
            show_default="has to be said",
        ),
    ] = None,
    schema: SchemaOption = None,
    validation: Annotated[
        str | None, typer.Option(help="what epochs are judged by", show_default="the data's own, or a share of it")
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="what the best is judged by", show_default="the data's own, if there is one")
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(help="module:function of your own space, where a file is of one", show_default="no code is run"),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(help="the folder of a trained network to learn from too", show_default="nobody teaches"),
    ] = None,
    input_: Annotated[
        str | None,
        typer.Option("--input", help="shape of one sample, such as 3x32x32", show_default="as it was scored"),
    ] = None,
    seed: Annotated[int, typer.Option(help="decides everything that is random")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps")] = "cpu",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="recipe.key=value or space.key=value", show_default=False),
    ] = None,
    out_: Annotated[Path, typer.Option("--out", help="the training's folder")] = Path("runs/train"),
    resume: Annotated[bool, typer.Option("--resume", help="go on with the training in --out, or start it")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar")] = False,
) -> None:
    """Train a network that was found, named, or made by your code, and write a report.

    Stop it at any moment with Ctrl-C: the same command with --resume goes on and ends with the same network.

    Example: foresee train runs/a/best.json --data pictures --recipe nasi_cifar --epochs 100 --device cuda --out runs/b

    Example: foresee train mypackage.models:make_net --data digits --out runs/mine
    """
    if data is None:
        raise InputError("say what to learn from with --data: an image folder, a .npz file, CIFAR files, or digits")
    said = _sorted(set_ or [])
    from foresee.report.training import train as run
    from foresee.training.encoding import beside
    from foresee.training.loading import load
    from foresee.training.recipe import recipe as get_recipe
    from foresee.training.usual import usual_recipe

    named, changes = how.recipe, how.changes(said["recipe"])
    if named is not None:
        get_recipe(named, **changes)  # a wrong name is said first
    network = _named(what, architecture, space, said["space"], input_, seed)
    encoded: dict[str, Any] = {"schema": schema, "preprocessing": beside(what)}
    chosen = get_recipe(usual_recipe(network, data, **encoded) if named is None else named, **changes)
    watch = Epochs("training", show=not quiet)
    try:
        with watch:
            trained = run(
                network,
                data,
                chosen,
                out=out_,
                resume=resume,
                validation=validation,
                test=test,
                **encoded,
                seed=seed,
                device=device,
                observers=[watch.observe],
                teacher=None if teacher is None else load(teacher).network,
            )
    except KeyboardInterrupt:
        if not (out_ / "last.json").exists():
            raise  # nothing was begun
        say_stopped("; the same command with --resume goes on")
        raise typer.Exit(STOPPED) from None
    show(trained)


def _sorted(pairs: list[str]) -> dict[str, dict[str, Any]]:
    """What `--set` said, by whom it is for."""
    found: dict[str, dict[str, Any]] = {"recipe": {}, "space": {}}
    for name, values in parse_settings(pairs).items():
        if name not in found:
            raise UnknownNameError("name in --set", name, found)
        found[name] = values
    return found


def _named(
    what: str, architecture: str | None, own: str | None, settings: dict[str, Any], shape: str | None, seed: int
) -> nn.Module | Candidate | Handmade:
    """What is to be trained: an architecture with its space, a recommender by its name, or a network that code made."""
    from foresee.recommenders import Handmade
    from foresee.seeds import derive
    from foresee.spaces.candidate import Candidate, in_folder
    from foresee.spaces.find import get, is_code
    from foresee.training.building import by_hand

    inputs = None if shape is None else parse_shape(shape)
    path = Path(what)
    if architecture is None and not is_code(what) and (path.suffix == ".json" or path.exists()):
        found = Candidate.load(in_folder(path), space=own)
        made = get(found.space.reference, **{**found.space.settings(), **settings}) if settings else found.space
        task = found.task if inputs is None else Task(inputs, found.task.outputs, found.task.vocabularies)
        return Candidate(made, made.parse(str(found.architecture)), task, found.details)
    if architecture is None and (handmade := by_hand(what)) is not None:
        return Handmade(handmade.name, settings)
    factory = factory_of(what) if is_code(what) else None
    if factory is not None:
        if architecture is not None or settings:
            raise InputError(f"{what} makes one network and has no choices: leave the architecture and space.* out")
        return make(factory, what, derive(seed, "weights"))
    made = get(what, **settings)
    if architecture is None:
        named = f", or one of {', '.join(list(made.named)[:5])}" if made.named else ""
        raise InputError(
            f"{what} is a space: name an architecture of it after it (a text{named}), or train a best.json"
        )
    chosen = made.named.get(architecture) or made.parse(architecture)
    return Candidate(made, chosen, Task(inputs or (3, 32, 32), 10))


def show(trained: Any) -> None:
    """What became of it, in a few lines."""
    best = trained.history[trained.best_place]
    epochs = "1 epoch" if len(trained.history) == 1 else f"{len(trained.history)} epochs"
    rows = [
        ("trained", f"by {trained.recipe.name}, {epochs} in {format_seconds(trained.seconds)}"),
        ("params", f"{format_quantity(trained.facts['parameters'])} ({trained.facts['parameters']:,})"),
        ("best", f"epoch {trained.best_epoch}, training loss {best.loss:.4g}"),
        *((name, str(one)) for name, one in (("validation", trained.validation), ("test", trained.test)) if one),
        *([("weights", escape(str(trained.folder / "best.safetensors")))] if trained.folder else []),
    ]
    if trained.folder:
        rows.append(("report", escape(str(trained.folder / "report.html"))))
    for label, value in rows:
        out.print(f"[bold]{label:>10}[/bold]  {value}", soft_wrap=True, highlight=False)
