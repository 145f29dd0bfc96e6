"""`foresee ensemble`: from a space and images to networks that answer together, found before they are trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.markup import escape

from foresee.cli.app import app, err, out, print_grid, stopped
from foresee.cli.groups import Group, grouped
from foresee.cli.options import SpaceOption, one_space, parse_settings
from foresee.cli.progress import Stages
from foresee.errors import InputError, UnknownNameError
from foresee.registry import tidy
from foresee.task import parse_shape

if TYPE_CHECKING:
    from foresee.grid import Grid

#: what `--set` may name, and the setting that it is a part of ("" for the settings themselves)
TABLES = {"ensemble": "", "space": "space_settings", "recipe": "recipe_values", "supernet": "supernet"}


@dataclass
class ChosenBy(Group):
    """How members are chosen, before they are trained."""

    panel = "How members are chosen"
    usual: ClassVar[Mapping[str, str]] = {
        "iterations": "5",
        "delta": "looked for between -2 and 1",
        "posterior": "fitted, to a trained supernet",
        "supernet_epochs": "as the recipe says",
        "pool": "what the epochs of a supernet would train",
    }

    iterations: Annotated[int | None, typer.Option(help="ensembles that are drawn and judged by inherited weights")] = (
        None
    )
    delta: Annotated[float | None, typer.Option(help="of svgd-rd: how much members are to differ")] = None
    posterior: Annotated[
        str | None,
        typer.Option(help="fitted, best-response, or a proxy's name: then no supernet is trained"),
    ] = None
    supernet_epochs: Annotated[int | None, typer.Option(help="passes of the supernet over the training data")] = None
    pool: Annotated[int | None, typer.Option(help="networks that nes-rs and nes-re train and choose from")] = None


@dataclass
class TrainedBy(Group):
    """How members are trained, all rivals' alike."""

    panel = "How members are trained"
    usual: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("epochs", "batch"), "as the recipe says"),
        **dict.fromkeys(("channels", "layers", "cells"), "as the space and the recipe say"),
        "recipe": "fast",
    }

    recipe: Annotated[str | None, typer.Option(help="a recipe (`foresee recipes`), or a TOML file of your own")] = None
    epochs: Annotated[int | None, typer.Option(help="passes of each member over the training data")] = None
    batch: Annotated[int | None, typer.Option(help="samples of a step")] = None
    channels: Annotated[int | None, typer.Option(help="width of all networks")] = None
    layers: Annotated[int | None, typer.Option(help="depth of all networks (darts)")] = None
    cells: Annotated[int | None, typer.Option(help="depth of all networks (nasbench201)")] = None


@app.command()
@grouped
def ensemble(
    chosen: ChosenBy,
    trained: TrainedBy,
    space: Annotated[str | None, typer.Argument(help="a space (`foresee spaces`) that members come from")] = None,
    space_: SpaceOption = None,
    size: Annotated[int, typer.Option(help="networks that answer together")] = 3,
    sampler: Annotated[str, typer.Option(help="how they are chosen (`foresee samplers`)")] = "svgd-rd",
    against: Annotated[
        str | None,
        typer.Option(
            help="other samplers, with commas between them, in the same harness and at the same budget",
            show_default="nobody",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="whom the others are compared with", show_default="uniform where it takes part, else the last"
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="runs of each, under seeds from --seed on, to compare means")] = 1,
    data: Annotated[
        str | None,
        typer.Option(
            help="images to learn from: a folder, a .npz file, CIFAR files, digits", show_default="has to be said"
        ),
    ] = None,
    validation: Annotated[
        str | None, typer.Option(help="what members are chosen by", show_default="the data's own, or a share of it")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(help="what the ensemble is measured on", show_default="the data's own, or a share of it"),
    ] = None,
    input_: Annotated[
        str | None,
        typer.Option("--input", help="shape that images are fitted to, such as 3x32x32", show_default="their own"),
    ] = None,
    seed: Annotated[int, typer.Option(help="decides everything that is random")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps")] = "cpu",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="recipe.key=value, space.key=value, supernet.key=value or ensemble.key=value",
            show_default=False,
        ),
    ] = None,
    out_: Annotated[Path, typer.Option("--out", help="the ensemble's folder")] = Path("runs/ensemble"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar")] = False,
) -> None:
    """Find networks that answer well together before they are trained, train them, measure them, and write a report.

    Stop it at any moment with Ctrl-C: the same command goes on and ends with the same ensemble.

    Example: foresee ensemble darts --size 3 --sampler svgd-rd --data pictures --channels 16 --layers 8 --out runs/e

    Example: foresee ensemble nasbench201 --data digits --input 3x8x8 --against uniform,nes-rs --seeds 3 --out runs/rivals
    """
    named = one_space(space, space_)
    if named is None:
        raise InputError("say where members come from: foresee ensemble SPACE (`foresee spaces` lists them)")
    if data is None:
        raise InputError("say what to learn from with --data: an image folder, a .npz file, CIFAR files, or digits")
    said: dict[str, Any] = {"size": size, "seed": seed, "device": device, **_said(chosen), **_said(trained)}
    if input_ is not None:
        said["inputs"] = parse_shape(input_)
    said |= _sorted(set_ or [], said)
    rivals = [name for name in (against or "").split(",") if name.strip()]
    watch = Stages("ensemble", show=not quiet)
    parts: dict[str, Any] = {"val": validation, "test": test}
    try:
        with watch:
            if rivals or seeds > 1:
                _compare(named, data, [sampler, *rivals], seeds, {**parts, "reference": reference}, said, out_, watch)
            else:
                from foresee.report.ensemble import ensemble as run

                found = run(named, data, sampler=sampler, out=out_, observers=[watch.observe], **parts, **said)
                watch.close()
                show(found._grid(), out_)
    except KeyboardInterrupt:
        if not (out_ / "settings.json").exists() and not (out_ / "comparison.json").exists():
            raise  # nothing was begun
        raise typer.Exit(stopped("; the same command goes on")) from None


def _compare(
    space: str,
    data: Any,
    names: list[str],
    seeds: int,
    parts: dict[str, Any],
    said: dict[str, Any],
    folder: Path,
    watch: Stages,
) -> None:
    from foresee.ensembles.finding import EnsembleSettings
    from foresee.ensembles.finding.run import check
    from foresee.ensembles.finding.samplers import sampler_of
    from foresee.report.ensembles_compared import compare_ensembles

    twice = [name for place, name in enumerate(names) if tidy(name) in map(tidy, names[:place])]
    if twice:
        raise InputError(f"--against: {twice[0]} is compared already; name each sampler once")
    for name in names:
        asked = EnsembleSettings.of(space=space, sampler=name, **said)
        check(asked, sampler_of(asked))
    first = said.pop("seed")
    found = compare_ensembles(
        space, data, names, range(first, first + seeds), out=folder, observers=[watch.observe], **parts, **said
    )
    watch.close()
    show(found._grid(), folder)
    if not any(one.ok for one in found.rows):
        err.print("[red]no ensemble could be measured[/red]", highlight=False)
        raise typer.Exit(1)


def _said(group: Group) -> dict[str, Any]:
    """What options of a group said."""
    plain = {one.name: getattr(group, one.name) for one in fields(group)}  # type: ignore[arg-type]
    return {key: value for key, value in plain.items() if value is not None}


def _sorted(pairs: list[str], said: Mapping[str, Any]) -> dict[str, Any]:
    """What `--set` said, as settings of an ensemble."""
    found: dict[str, Any] = {}
    for name, values in parse_settings(pairs).items():
        if name not in TABLES:
            raise UnknownNameError("name in --set", name, TABLES)
        if TABLES[name]:
            found[TABLES[name]] = values
            continue
        for key in values:
            if key in said or key in ("space", "sampler"):
                raise InputError(f"--set ensemble.{key}: has an option of its own, --{key.replace('_', '-')}")
        found |= values
    return found


def show(grid: Grid, folder: Path) -> None:
    """The table, its notes, and where the page is."""
    out.print(f"[bold]{escape(grid.title)}[/bold]", highlight=False)
    print_grid(grid)
    out.print(f"[bold]{'report':>10}[/bold]  {escape(str(folder / 'report.html'))}", soft_wrap=True, highlight=False)
