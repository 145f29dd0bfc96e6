"""`foresee report`: render reports again, of whatever lies in a folder; several searches are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from foresee.cli.app import app, out
from foresee.errors import InputError


@app.command()
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="folders of searches, trainings, ensembles, defences, benches, explanations; several searches are compared"
        ),
    ],
    space: Annotated[
        str | None,
        typer.Option(
            help="module:function of an own space, to draw networks that the run kept no picture of",
            show_default="no code is run",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="file to write, where it is one page", show_default="in the folder of the result"
        ),
    ] = None,
) -> None:
    """Render reports again from what is stored, of a search also while it runs; with several searches, compare them.

    Folders of any kind can be named in one call: what is in a folder says what it is. All but searches have a page
    of their own.

    Example: foresee report runs/search

    Example: foresee report runs/random runs/evolution runs/bench
    """
    from foresee.report import compare
    from foresee.report.folders import folder_of, kind_at, own_files, page_at, page_of
    from foresee.runs import read, write_whole
    from foresee.searchers.run import Run, write_front

    if len({str(run) for run in runs}) < len(runs):
        raise InputError("the same run is named twice")
    kinds = {run: kind_at(run) for run in runs}
    searches = [run for run, kind in kinds.items() if kind == "run"]
    compared = searches if len(searches) > 1 else []
    alone = [run for run in runs if run not in compared]
    if output is not None and len(alone) + bool(compared) > 1:
        raise InputError(f"--output {output}: names one file, and {len(alone) + bool(compared)} pages are asked for")
    pages = {output or page_at(run): page_of(run, space) for run in alone}
    if compared:
        pages[output or folder_of(compared[0]) / "comparison.html"] = compare({str(run): read(run) for run in compared})
    kept = [path for run in runs for path in own_files(run)]
    for target in pages:
        if target.exists() and any(path.exists() and target.samefile(path) for path in kept):
            raise InputError(f"{target}: would overwrite the run itself; name another file")
    for run in alone:
        if kinds[run] == "run":
            write_front(Run.open(run, space=space))
    for target, text in pages.items():
        write_whole(target, text)
        out.print(escape(str(target)), soft_wrap=True, highlight=False)
