"""`foresee defend`: how trained networks, alone and together, withstand attacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from foresee.cli.app import app, err, out, print_grid
from foresee.cli.networks import make
from foresee.cli.options import NetworkCode, SpaceCode, parse_settings
from foresee.cli.progress import Watch
from foresee.errors import InputError, UnknownNameError
from foresee.registry import tidy

if TYPE_CHECKING:
    from foresee.ensembles.defending import Withstood


@app.command()
def defend(
    what: Annotated[
        list[Path],
        typer.Argument(help="the folder of an ensemble or of a training; several trainings answer together"),
    ],
    data: Annotated[
        str | None,
        typer.Option(help="images to attack, as for a training", show_default="what it was trained on, by its name"),
    ] = None,
    attacks: Annotated[
        str, typer.Option(help="which (`foresee attacks`), with commas between them")
    ] = "fgsm,pgd,cw,autoattack",
    eps: Annotated[
        float | None,
        typer.Option(help="the largest change of a pixel, of attacks that have one", show_default="0.01, the thesis'"),
    ] = None,
    samples: Annotated[int, typer.Option(help="images that are attacked, at most; 0: all")] = 256,
    outsider: Annotated[
        Path | None,
        typer.Option(help="folder of a trained network outside the ensemble: the control", show_default="no control"),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="attack the ensemble too, as one network whose members are all known")
    ] = False,
    masking: Annotated[bool, typer.Option(help="look for masked gradients in every network")] = True,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="a setting of an attack: pgd.steps=10, cw.searches=5", show_default="the thesis'"),
    ] = None,
    seed: Annotated[int, typer.Option(help="draws the images and random starts")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps")] = "cpu",
    batch: Annotated[int, typer.Option(help="images at once; halved where memory does not suffice")] = 250,
    network: NetworkCode = None,
    space: SpaceCode = None,
    out_: Annotated[
        Path | None,
        typer.Option("--out", help="folder for the numbers and the report", show_default="defence, in the first"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar")] = False,
) -> None:
    """Attack every network white-box, let all of them answer together, and write a report.

    Stop it at any moment with Ctrl-C: the same command goes on, and more attacks extend it.

    Example: foresee defend runs/e --attacks fgsm,pgd,cw,autoattack --samples 500 --device cuda

    Example: foresee defend runs/a runs/b runs/c --outsider runs/d --whole
    """
    names = [name for name in attacks.split(",") if name.strip()]
    said = _sorted(set_ or [], names)
    from foresee.report.defence import defend as run
    from foresee.spaces import load_object

    folder = out_ or (what[0] if what[0].is_dir() else what[0].parent) / "defence"
    watch = Watch("attacking", show=not quiet, done="done")
    try:
        with watch:
            found = run(
                what,
                data,
                attacks=said,
                eps=eps,
                samples=samples or None,
                outsider=outsider,
                whole=whole,
                masking=masking,
                out=folder,
                seed=seed,
                device=device,
                batch=batch,
                code=None if network is None else make(load_object(network), network, 0),
                space=space,
                observers=[watch.observe],
            )
    except KeyboardInterrupt:
        raise typer.Exit(watch.stopped()) from None
    show(found)


def _sorted(pairs: list[str], names: list[str]) -> dict[str, dict[str, Any]]:
    """The attacks that are asked for, each with what `--set` said of it."""
    if not names:
        raise InputError("--attacks: names none; say some, such as fgsm,pgd")
    said = parse_settings(pairs)
    wanted = {tidy(name): said.pop(tidy(name), {}) for name in names}
    if said:
        raise UnknownNameError("attack in --set", next(iter(said)), wanted)
    return wanted


def show(found: Withstood) -> None:
    """The table, what a reader has to know, and where the page is."""
    print_grid(found._grid())
    if found.signs:
        err.print("[yellow]a stronger attack did worse than a weaker one: trust these numbers with care[/yellow]")
    if found.folder is not None:
        page = escape(str(found.folder / "report.html"))
        out.print(f"[bold]{'report':>10}[/bold]  {page}", soft_wrap=True, highlight=False)
