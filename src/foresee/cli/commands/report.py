"""`foresee report`: render the report of a run again, or compare runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from foresee.cli.app import app, out
from foresee.errors import InputError


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="run folders; several are compared")],
    space: Annotated[
        str | None,
        typer.Option(help="module:function of an own space, to draw networks that the run kept no picture of"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="file to write; by default in the (first) run's folder")
    ] = None,
) -> None:
    """Render the report of a run again from its store, also while it runs; with several runs, compare them."""
    from foresee.report import compare, render
    from foresee.runs import RunFolder, read, write_whole
    from foresee.searchers.run import Run

    records = {str(run): read(run) for run in runs}
    if len(records) < len(runs):
        raise InputError("the same run is named twice")
    if len(runs) == 1:
        target = output or _folder(runs[0]) / "report.html"
        named = None if space is None else Run(records[str(runs[0])], _folder(runs[0]), space).made_space
        text = render(records[str(runs[0])], _folder(runs[0]), named)
    else:
        target = output or _folder(runs[0]) / "comparison.html"
        text = compare(records)
    kept = [_folder(run) / name for run in runs for name in (RunFolder.STORE, RunFolder.SETTINGS, RunFolder.BEST)]
    if target.exists() and any(path.exists() and target.samefile(path) for path in (*kept, *runs)):
        raise InputError(f"{target}: would overwrite the run itself; name another file")
    write_whole(target, text)
    out.print(escape(str(target)), soft_wrap=True, highlight=False)


def _folder(run: Path) -> Path:
    return run if run.is_dir() else run.parent
