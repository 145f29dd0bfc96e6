"""`foresee judge`: networks found and networks by hand on the same folds, under the same seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, err, out, print_whole
from foresee.cli.commands.train import RecipeOptions
from foresee.cli.groups import grouped
from foresee.cli.options import parse_settings
from foresee.cli.progress import Watch
from foresee.errors import InputError
from foresee.quantities import format_quantity, format_seconds

if TYPE_CHECKING:
    from foresee.benchmarks.judging import Judged


@dataclass
class JudgedBy(RecipeOptions):
    """How all of them are trained."""

    recipe: Annotated[str, typer.Option(help="a recipe (`foresee recipes`), or a TOML file of your own")] = "ctr_small"


@app.command()
@grouped
def judge(
    how: JudgedBy,
    what: Annotated[
        list[str],
        typer.Argument(
            help="who is judged: recommenders (`foresee recommenders`), best.json files, run folders, or 'space "
            "architecture'; label=... names one"
        ),
    ],
    data: Annotated[
        str | None, typer.Option(help="what they learn from and are judged on", show_default="has to be said")
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(help="of a raw click log: a name or a TOML file", show_default="as the data says, or guessed"),
    ] = None,
    folds: Annotated[int, typer.Option(help="pieces of the rows, each the test once")] = 5,
    seeds: Annotated[int, typer.Option(help="trainings of each on each fold")] = 5,
    reference: Annotated[
        str | None, typer.Option(help="whom the others are compared with", show_default="the first that is named")
    ] = None,
    seed: Annotated[int, typer.Option(help="the first seed; it also draws the folds")] = 0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="recipe.key=value, or a recommender's: deepfm.dropout=0.2", show_default="none"),
    ] = None,
    workers: Annotated[int, typer.Option(help="processes; the numbers are the same")] = 1,
    threads: Annotated[int, typer.Option(help="of torch in each process")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, ...")] = "cpu",
    out_: Annotated[Path, typer.Option("--out", help="folder for the report and the trials")] = Path("runs/judged"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar")] = False,
) -> None:
    """Judge networks on the same folds of the same rows, under the same seeds, and write a report.

    Stop it at any moment with Ctrl-C: the same command goes on; more contestants or seeds extend it.

    Example: foresee judge found=runs/c/best.json deepfm logistic trees --data clicks.csv --schema criteo --reference deepfm
    """
    if data is None:
        raise InputError(
            "say what they are judged on with --data: a click log, an .npz file, a folder of images, digits"
        )
    from foresee.report.judged import judge as run
    from foresee.training.recipe import recipe as get_recipe

    said: dict[str, dict[str, Any]] = parse_settings(set_ or [])
    chosen = get_recipe(how.recipe, **how.changes(said.pop("recipe", {})))
    watch = Watch("judging", show=not quiet, done="trained")
    try:
        with watch:
            found = run(
                what,
                data,
                schema=schema,
                folds=folds,
                seeds=seeds,
                seed=seed,
                recipe=chosen,
                reference=reference,
                out=out_,
                workers=workers,
                threads=threads,
                device=device,
                settings=said,
                observers=[watch.observe],
            )
    except KeyboardInterrupt:
        raise typer.Exit(watch.stopped()) from None
    show(found)
    if all(not one.ok for one in found.verdicts):
        err.print("[red]nobody could be judged[/red]", highlight=False)
        raise typer.Exit(1)


def show(found: Judged) -> None:
    """The table, the failures, and where the page is."""
    from foresee.benchmarks.judging.result import MEASURES
    from foresee.report.judged import exact

    listing = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    listing.add_column("contestant", overflow="fold")
    for key in found.measures:
        listing.add_column(MEASURES[key][0], justify="right")
        listing.add_column(f"beside {found.reference}", justify="right")
    for name in ("calibration error", "params", "time", "failed"):
        listing.add_column(name, justify="right")
    for label, one in found.standings.items():
        cells = []
        for key in found.measures:
            apart = one.differences.get(key)
            cells += [exact(one.means[key]), "" if apart is None else exact(apart, signed=True)]
        off = one.calibration_error
        cells += ["–" if off is None else f"{off:.4f}"]
        cells += ["–" if one.parameters is None else format_quantity(one.parameters)]
        listing.add_row(f"[bold]{escape(label)}[/bold]", *cells, format_seconds(one.seconds), str(one.failed or ""))
    print_whole(listing)
    for label, fold, seed, reason in found.reasons:
        words = f"[red]{escape(label)}, fold {fold + 1}, seed {seed}[/red]: {escape(reason)}"
        out.print(words, soft_wrap=True, highlight=False)
    if found.folder is not None:
        page = escape(str(found.folder / "report.html"))
        out.print(f"[bold]{'report':>10}[/bold]  {page}", soft_wrap=True, highlight=False)
