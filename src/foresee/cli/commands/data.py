"""`foresee data`: what is in data, before anything is learnt from it; of a click log in full, with a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, err, out, print_whole
from foresee.errors import DataError, InputError

if TYPE_CHECKING:
    from foresee.data.clicks.guessing.guess import Guess
    from foresee.data.clicks.profile.profiling import Profile
    from foresee.data.clicks.schema import Schema

#: stages of preparing, for people
STAGES = {"order": "ordering", "learn": "learning from", "write": "writing"}
#: malformed rows that are printed
MALFORMED = 5


@app.command()
def data(
    what: Annotated[
        str,
        typer.Argument(help="a click log (.csv, .tsv, .txt, each also .gz, or .parquet), or any data that can be read"),
    ],
    schema: Annotated[
        str | None,
        typer.Option(help="criteo, avazu, kdd2012, or a TOML file that describes the columns", show_default="guessed"),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="the column to foresee, where columns are guessed", show_default="guessed")
    ] = None,
    write_schema: Annotated[
        Path | None,
        typer.Option(help="a TOML file to write the schema into, to confirm and edit", show_default="not written"),
    ] = None,
    prepare: Annotated[
        Path | None,
        typer.Option(help="a folder to prepare the log in, for search and train", show_default="not yet"),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="look at the first so many rows alone", show_default="all")] = None,
    out_: Annotated[
        Path | None, typer.Option("--out", help="a folder for the page and its numbers", show_default="no page")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    """Show what is in data: of a click log its rows, columns, cardinalities, missing values and label rates.

    Without --schema the columns are guessed, each with its reason; write the guess with --write-schema, look it through,
    and hand it to search and train.

    Example: foresee data clicks.csv --write-schema clicks.toml --out pages/clicks

    Example: foresee data train.txt.gz --schema criteo --prepare prepared/criteo
    """
    from foresee.data.loading import formats, reading

    path = Path(what).expanduser()
    with reading(path, "data"):
        is_log = formats["clicks"].recognises(path)
    if not is_log:
        told = {"--label": label, "--write-schema": write_schema, "--prepare": prepare, "--out": out_, "--rows": rows}
        _other(what, schema, [name for name, value in told.items() if value is not None], as_json)
        return
    if label is not None and schema is not None:
        raise InputError("--label is for columns that are guessed; with --schema, name the label there")
    if rows is not None and rows < 1:
        raise InputError(f"--rows {rows}: expected a whole number of at least 1")
    if write_schema is not None and write_schema.exists():
        raise InputError(f"{write_schema}: is there already, and may have been edited; name another file, or delete it")
    _log(path, schema, label, write_schema, prepare, rows, out_, as_json, quiet)


# -- a click log ----------------------------------------------------------------------------------------------------------
def _log(
    path: Path,
    given: str | None,
    label: str | None,
    write_schema: Path | None,
    folder: Path | None,
    rows: int | None,
    out_: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    from foresee.data.clicks.guessing.guess import guess
    from foresee.data.clicks.profile.profiling import profile
    from foresee.data.clicks.schema import schema as schema_of
    from foresee.runs.folder import write_whole

    guessed = guess(path, label=label) if given is None else None
    chosen = guessed.schema if guessed is not None else schema_of(str(given))
    if write_schema is not None:
        write_schema.parent.mkdir(parents=True, exist_ok=True)
        write_whole(write_schema, guessed.to_toml() if guessed is not None else chosen.to_toml())
    with err.status("reading") if not quiet and err.is_terminal else _Silent() as status:
        found = profile(path, chosen, rows=rows, told=lambda many: status.update(f"reading: {many:,} rows"))
        if out_ is not None:
            page = _page(found, guessed, out_)
        if folder is not None:
            _prepare(path, chosen, folder, status)
    if as_json:
        reasons = {} if guessed is None else {one.name: [one.role, one.reason] for one in guessed.columns}
        print(json.dumps({**found.to_json(), "guessed": reasons}, indent=2))
        return
    _show(found, guessed)
    for what, written in (("schema", write_schema), ("page", page if out_ is not None else None), ("prepared", folder)):
        if written is not None:
            out.print(f"[bold]{what:>10}[/bold]  {escape(str(written))}", highlight=False, soft_wrap=True)
    if guessed is not None and not guessed.published and write_schema is None:
        err.print(
            f"the columns were guessed: --write-schema {escape(path.name.split('.')[0])}.toml writes them to be confirmed",
            highlight=False,
            soft_wrap=True,
        )


class _Silent:
    """A status that nobody sees."""

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, text: str) -> None:
        pass


def _page(found: Profile, guessed: Guess | None, folder: Path) -> Path:
    from foresee.report.profile import save
    from foresee.runs.folder import write_whole

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "profile.json", json.dumps(found.to_json(), indent=2) + "\n")
    return save(found, folder / "report.html", guessed)


def _prepare(path: Path, chosen: Schema, folder: Path, status: Any) -> None:
    from foresee.data.clicks.preparing.prepare import prepare

    folder.parent.mkdir(parents=True, exist_ok=True)
    told = (lambda one: status.update(f"{STAGES.get(one.stage, one.stage)} {one.rows:,} rows"),)
    prepare(path, chosen, folder, observers=told)


def _show(found: Profile, guessed: Guess | None) -> None:
    from foresee.report.profile import notes, percent, tell

    info = tell(found, guessed)
    of, whole = found.schema, "" if found.whole else " looked at, not all there are"
    facts = [
        ("rows", f"{found.rows:,}{whole}"),
        ("label", f"{of.label}: {' or '.join(of.positive)} means yes, {percent(found.rate)} of the rows"),
        *((part.name, f"{part.rows:,} rows, {percent(part.rate)} mean yes") for part in found.parts),
        ("malformed", f"{found.malformed:,}"),
        ("schema", of.name if guessed is None else f"{of.name}, by its columns" if guessed.published else "guessed"),
    ]
    for name, text in facts:
        out.print(f"[bold]{name:>10}[/bold]  {escape(text)}", highlight=False, soft_wrap=True)
    out.print()
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    grid.add_column("column", style="cyan", overflow="fold")
    grid.add_column("kind")
    for name in ("values", "missing", "tells"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("holds", overflow="fold")
    if guessed is not None:
        grid.add_column("why", style="dim", overflow="fold")
    for row in info.rows:
        cells = [
            row.name,
            row.kind,
            row.values,
            percent(row.missing) if row.missing else "",
            percent(row.tells),
            row.holds,
        ]
        grid.add_row(*map(escape, cells + ([row.why or "made of a time"] if guessed is not None else [])))
    for name, reason in info.left_out:
        grid.add_row(*map(escape, [name, "left out", "", "", "", "", reason]), style="dim")
    print_whole(grid)
    if found.named:
        out.print()
    for line, reason in info.named[:MALFORMED]:
        out.print(f"[yellow]line {line:,}[/yellow]: {escape(reason)}", highlight=False, soft_wrap=True)
    for note in notes(found, guessed):
        out.print(f"[yellow]mind[/yellow]: {escape(note)}", highlight=False, soft_wrap=True)


# -- any other data -------------------------------------------------------------------------------------------------------
def _other(what: str, schema: str | None, told: list[str], as_json: bool) -> None:
    """Samples, shape, classes and fingerprint of data that is no log; `told` are options that were said for nothing."""
    from foresee.data import load

    found = load(what, schema=schema)
    if told:
        raise InputError(f"{', '.join(told)}: only of a click log (.csv, .tsv, .txt, .parquet), which {what} is not")
    shape = "x".join(map(str, found.task.inputs))
    facts: dict[str, Any] = {
        "name": found.name,
        "samples": "without end" if found.endless else len(found),
        "inputs": f"{len(found.task.vocabularies)} categories and {shape} numbers"
        if found.task.vocabularies
        else shape,
        "outputs": found.task.outputs,
        "classes": list(getattr(found, "classes", ())),
        "splits": _splits(what, found),
        "fingerprint": found.fingerprint,
    }
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        if value in ([], {}, ""):
            continue
        text = ", ".join(f"{k} {v:,}" for k, v in value.items()) if isinstance(value, dict) else ""
        text = text or (", ".join(value[:20]) + (", ..." if len(value) > 20 else "") if isinstance(value, list) else "")
        text = text or (f"{value:,}" if isinstance(value, int) else str(value))
        out.print(f"[bold]{name:>11}[/bold]  {escape(text)}", highlight=False, soft_wrap=True)


def _splits(what: str, found: Any) -> dict[str, int]:
    """The samples of each split that the data came with."""
    from foresee.data import load

    try:
        return {split: len(load(what, split=split)) for split in found.splits}
    except DataError:  # one of them is damaged; the others were not asked for
        return {}
