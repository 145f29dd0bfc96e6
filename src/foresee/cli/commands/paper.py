"""`foresee paper`: the tables and figures of the papers, ours beside theirs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, out, stopped
from foresee.cli.groups import LookOptions, SchemaOption, WorkOptions, usually
from foresee.cli.options import parse_settings
from foresee.cli.progress import Watch
from foresee.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from foresee.papers import Line, Page, Published
    from foresee.papers.numbers import Column

#: what --set calls the table or figure itself: table.lr=0.02
OWN = "table"


@app.command()
@usually(data="what the table asks for, else digits")
def paper(
    look: LookOptions,
    work: WorkOptions,
    name: Annotated[str, typer.Argument(help="a table or figure, such as dextr-table-1; `list` lists all of them")],
    tables: Annotated[
        Path | None,
        typer.Option(
            help="folder with tables of measured accuracies", show_default="only the paper's numbers are shown"
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="architectures per benchmark; 0 for all", show_default="1000, fewer where a number is expensive"
        ),
    ] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(help="only this benchmark's numbers, such as nasbench101; may be repeated", show_default="all"),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option(help="only this row, such as dextr, where rows are proxies; may be repeated", show_default="all"),
    ] = None,
    bootstrap: Annotated[int, typer.Option(help="resamples behind an interval")] = 1000,
    schema: SchemaOption = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="file of scores already computed, shared by all tables", show_default="scores.sqlite in --out"
        ),
    ] = None,
    out_: Annotated[
        Path | None, typer.Option("--out", help="folder for JSON, CSV and figures", show_default="none are written")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Compute a table or figure of a paper again, and print the paper's numbers beside ours.

    Our column is empty unless computed in this run: without --tables (or --sample, for the few that need no table, or --data,
    for tables of click logs) only the paper's numbers are shown.

    Example: foresee paper dextr-table-1 --tables tables --data cifar10.npz --sample 200 --out runs/papers

    Example: foresee paper sigeo-table-5 --data planted_clicks --out runs/papers
    """
    if name == "list":
        _list(as_json)
        return
    if tables is not None or sample is not None:
        work.get_ready()
    from foresee.papers import Workshop, reproduce
    from foresee.papers.base import find

    _, known = find(name)  # a wrong name is said before any work
    computes = tables is not None or sample is not None or (known is not None and known.by_data and bool(look.data))
    if sample is not None and sample < 0:
        raise InputError(f"--sample {sample}: expected a number of architectures, or 0 for all")
    if tables is not None and not tables.is_dir():
        raise InputError(f"--tables {tables}: no such folder")
    if cache is None and out_ is not None:
        cache = out_ / "scores.sqlite"
    watch = Watch(show=not work.quiet)
    workshop = Workshop(
        tables=tables,
        sample=sample,
        schema=schema,
        engine=work.engine,
        workers=work.workers,
        cache=cache,
        bootstrap=bootstrap,
        benchmarks=tuple(one.replace("_", "-") for one in benchmark or ()),
        rows=tuple(one.replace("_", "-") for one in row or ()),
        **_settings(look.set_ or []),
        observers=[watch.observe],
        **look.said(),
    )
    try:
        with watch:
            page = reproduce(name, workshop if computes else None)
    except KeyboardInterrupt:
        lost = cache is None
        raise typer.Exit(stopped("; with --cache or --out the scores are kept") if lost else watch.stopped()) from None
    if as_json:
        print(json.dumps(page.to_json(), indent=1))
    else:
        _show(page)
    if out_ is not None:
        from foresee.report.papers import save

        written = page.write(out_)
        for scatter in page.scatters:
            written += save(scatter, out_, f"{name}-{scatter.name}")
        if not as_json:
            out.print(f"[bold]written[/bold] {', '.join(escape(str(path)) for path in written)}", soft_wrap=True)


def _settings(said: list[str]) -> dict[str, Any]:
    """What --set says, of spaces, of searchers and of the table itself apart."""
    from foresee.searchers.base import searchers
    from foresee.spaces.base import spaces

    parsed = parse_settings(said)
    own = parsed.pop(OWN, {})
    for name in parsed:
        if name not in spaces and name not in searchers:
            raise UnknownNameError("space or searcher in --set", name, [OWN, *spaces, *searchers])
    return {
        "table_settings": own,
        "space_settings": {name: one for name, one in parsed.items() if name in spaces},
        "searcher_settings": {name: one for name, one in parsed.items() if name in searchers},
    }


def _list(as_json: bool) -> None:
    from foresee.papers import names, published
    from foresee.papers.base import load_all
    from foresee.papers.numbers import WHY_EMPTY
    from foresee.papers.numbers import names as printed

    known = load_all()
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "ours": "computed here" if name in known else WHY_EMPTY[name],
            "what": known[name].caption if name in known else published(name).caption,
            "numbers": "printed" if name in printed() else "a picture",
            "computes": known[name].computes if name in known else "",
            "size": known[name].size if name in known else "",
            "needs": ("data" if known[name].by_data else "tables") if name in known else "",
            "settings": dict(known[name].settings) if name in known else {},
        }
        for name in names()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        style = "cyan" if row["name"] in known else "dim"
        table.add_row(f"[{style}]{row['name']}[/{style}]", f"[bold]{escape(row['what'])}[/bold]")
        for words in (row["computes"], f"size: {row['size']}") if row["name"] in known else (row["ours"],):
            table.add_row("", escape(words))
    out.print(table, highlight=False)
    tables = [row for row in rows if row["numbers"] == "printed"]
    done = sum(row["name"] in known for row in tables)
    out.print(
        f"\n{len(tables)} published tables, {done} of them computed here; {len(rows) - len(tables)} figures that are "
        f"pictures. Sizes are the usual ones: --sample, --repeats and --set {OWN}.NAME=VALUE change them.",
        highlight=False,
    )


# -- one page -----------------------------------------------------------------------------------------------------------
def _show(page: Page) -> None:
    plain = page.to_json()
    out.print(f"[bold]{page.name}[/bold]  {escape(page.caption)}", soft_wrap=True, highlight=False)
    where = f"{plain['document']}, {plain['where']}" if plain["where"] else plain["document"]
    out.print(where, style="dim", soft_wrap=True, highlight=False, markup=False)
    columns = dict.fromkeys(line.column for line in page.lines)
    computed = {line.column for line in page.lines if line.ours is not None}
    for column in columns:
        if column in computed:
            _column(page, column)
    for why, empty in _by_reason(page, [column for column in columns if column not in computed]).items():
        _empty(page, why, empty)
    if not page.lines:
        out.print(f"ours is empty: {escape(page.empty)}", soft_wrap=True, highlight=False)
    said = Table.grid(padding=(0, 2, 0, 0))
    said.add_column(style="bold", justify="right", no_wrap=True)
    for heading, text in (
        ("how", page.how),
        ("paper", page.published.note if page.published else ""),
        *(("note", note) for note in page.notes),
        ("verdict", page.verdict),
    ):
        if text:
            said.add_row(heading, escape(" ".join(text.split())))
    out.print()
    out.print(said, highlight=False)


def _by_reason(page: Page, columns: Sequence[str]) -> dict[str, list[str]]:
    """Columns without a number of ours, by the reasons for it."""
    found: dict[str, list[str]] = {}
    for column in columns:
        reasons = dict.fromkeys(line.reason.rpartition("; ")[2] for line in page.lines if line.column == column)
        found.setdefault("; ".join(reasons), []).append(column)
    return found


def _empty(page: Page, why: str, columns: Sequence[str]) -> None:
    """Why columns have no number of ours, and the paper's, as many columns side by side as fit."""
    out.print()
    out.print(f"ours is empty: {escape(why)}", soft_wrap=True, highlight=False)
    if page.published is None:
        return
    unlimited = out.options.update(width=10_000)
    shown: list[Column] = []
    for column in page.published.columns:
        if column.name not in columns:
            continue
        if shown and out.measure(_papers(page.published, [*shown, column]), options=unlimited).maximum > out.width:
            out.print(_papers(page.published, shown), "")
            shown = []
        shown.append(column)
    out.print(_papers(page.published, shown))


def _papers(published: Published, columns: Sequence[Column]) -> Table:
    """The paper's numbers alone, as the paper has them: rows by columns."""
    names = [column.name for column in columns]
    table, group = _table("", *names, numbers=names), ""
    for row in published.rows:
        if row.group != group:
            group = row.group
            table.add_row(f"[italic]{escape(group)}[/italic]")
        cells = (_number(row.values[one.name], row.std.get(one.name), one.decimals) for one in columns)
        table.add_row(escape(row.name), *cells)
    return table


def _column(page: Page, column: str) -> None:
    """One column of the table, a line for each row: theirs, ours, what is between."""
    lines = [line for line in page.lines if line.column == column]
    order = list(dict.fromkeys(line.group for line in lines))
    lines.sort(key=lambda line: order.index(line.group))  # rows of ours alone join their group
    counts = sorted({line.ours.n for line in lines if line.ours is not None})
    many = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    out.print()
    out.print(f"[bold]{escape(column)}[/bold]  {many}", soft_wrap=True, highlight=False)
    table = _table("", "paper", "ours", "95 %", "difference", "", numbers=("paper", "ours", "95 %", "difference"))
    decimals = {one.name: one.decimals for one in page.published.columns} if page.published else {}
    remarks: dict[str, int] = {}  # long ones stand below the table, numbered
    group = ""
    for line in lines:
        if line.group != group:
            group = line.group
            table.add_row(f"[italic]{escape(group)}[/italic]")
        mark = f"({remarks.setdefault(line.reason, len(remarks) + 1)})" if line.reason else ""
        words = " ".join(filter(None, (_verdict(line), mark)))
        table.add_row(
            escape(line.row),
            _number(line.paper, line.spread, decimals.get(column)),
            *_ours(line, decimals.get(column)),
            words,
        )
    out.print(table)
    for remark, number in remarks.items():
        out.print(f"({number}) {escape(remark)}", style="dim", soft_wrap=True, highlight=False)


def _ours(line: Line, decimals: int | None = None) -> tuple[str, str, str]:
    if line.ours is None or math.isnan(line.ours.value):
        return "", "", ""
    value, low, high = (_digits(one, decimals) for one in (line.ours.value, line.ours.low, line.ours.high))
    between = "" if math.isnan(line.ours.low) else f"{low} to {high}"
    return value, between, "" if line.difference is None else f"{line.difference:+.3g}"


def _verdict(line: Line) -> str:
    return {True: "[green]agrees[/green]", False: "[yellow]differs[/yellow]", None: ""}[line.agrees]


def _number(value: float | None, spread: float | None, decimals: int | None) -> str:
    """As printed: so many decimals, and the paper's own spread."""
    if value is None:
        return "-"
    text = f"{value:g}" if decimals is None else f"{value:.{decimals}f}"
    return text + (f" ± {spread:g}" if spread is not None else "")


def _digits(value: float, decimals: int | None = None) -> str:
    """Three decimals, or as many as the paper prints where these are more."""
    return f"{value:.{max(3, decimals or 0)}f}" if abs(value) < 10 else f"{value:.2f}"


def _table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        right = column in numbers
        table.add_column(escape(column), justify="right" if right else "left", no_wrap=right, overflow="fold")
    return table
