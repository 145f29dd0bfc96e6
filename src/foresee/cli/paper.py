"""`foresee paper`: the tables and figures of the papers, ours beside theirs."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, err, out
from foresee.cli.options import parse_settings
from foresee.errors import InputError

if TYPE_CHECKING:
    from foresee.benchmarks.papers import Line, Page, Published


@app.command()
def paper(
    name: Annotated[str, typer.Argument(help="a table or figure, such as dextr-table-1; `list` lists all of them")],
    tables: Annotated[Path | None, typer.Option(help="folder with tables of measured accuracies")] = None,
    sample: Annotated[
        int | None,
        typer.Option(help="architectures per benchmark; 0 for all; by default 1000, fewer where a number is costly"),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="what the proxies look at: digits, synthetic, a .npz file, CIFAR files")
    ] = None,
    seed: Annotated[int, typer.Option(help="decides sample, weights and draws")] = 0,
    repeats: Annotated[int, typer.Option(help="runs to average over (Dextr's tables: 3)")] = 1,
    batch_size: Annotated[int | None, typer.Option(help="at most so many samples per batch, for a quick look")] = None,
    bootstrap: Annotated[int, typer.Option(help="resamples behind an interval")] = 1000,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="space.key=value, such as nasbench201.channels=4")
    ] = None,
    engine: Annotated[str, typer.Option(help="serial or processes; the result is the same")] = "processes",
    workers: Annotated[int | None, typer.Option(help="processes; by default one per core")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, ...")] = "cpu",
    cache: Annotated[Path | None, typer.Option(help="file of scores already computed, shared by all tables")] = None,
    out_: Annotated[Path | None, typer.Option("--out", help="folder for JSON, CSV and figures")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    """Compute a table or figure of a paper again, and print the paper's numbers beside ours.

    Our column is empty unless computed in this run: without --tables (or --sample, for the few that need no table) only the
    paper's numbers are shown.

    Example: foresee paper dextr-table-1 --tables tables --data cifar10.npz --sample 200 --out runs/papers
    """
    if name == "list":
        _list(as_json)
        return
    from foresee.benchmarks.papers import Workshop, reproduce
    from foresee.benchmarks.papers.base import find

    find(name)  # a wrong name is said before any work
    if sample is not None and sample < 0:
        raise InputError(f"--sample {sample}: expected a number of architectures, or 0 for all")
    if tables is not None and not tables.is_dir():
        raise InputError(f"--tables {tables}: no such folder")
    if cache is None and out_ is not None:
        cache = out_ / "scores.sqlite"
    progress = _Progress(show=not quiet)
    workshop = Workshop(
        tables=tables,
        sample=sample,
        seed=seed,
        repeats=repeats,
        data=data,
        batch_size=batch_size,
        engine=engine,
        workers=workers,
        device=device,
        cache=cache,
        bootstrap=bootstrap,
        space_settings=parse_settings(set_ or []),
        observers=[progress.observe],
    )
    with progress:
        page = reproduce(name, None if tables is None and sample is None else workshop)
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


def _list(as_json: bool) -> None:
    from foresee.benchmarks.papers import names, published
    from foresee.benchmarks.papers.base import load_all
    from foresee.benchmarks.papers.numbers import WHY_EMPTY
    from foresee.benchmarks.papers.numbers import names as printed

    known = load_all()
    rows = [
        {
            "name": name,
            "ours": "computed here" if name in known else WHY_EMPTY[name],
            "what": known[name].caption if name in known else published(name).caption,
            "numbers": "printed" if name in printed() else "a picture",
        }
        for name in names()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = _table("name", "ours", "what")
    for row in rows:
        style = "cyan" if row["name"] in known else "dim"
        table.add_row(f"[{style}]{row['name']}[/{style}]", row["ours"], escape(row["what"]))
    out.print(table)


# -- one page -----------------------------------------------------------------------------------------------------------
def _show(page: Page) -> None:
    plain = page.to_json()
    out.print(f"[bold]{page.name}[/bold]  {escape(page.caption)}", soft_wrap=True, highlight=False)
    where = f"{plain['document']}, {plain['where']}" if plain["where"] else plain["document"]
    out.print(where, style="dim", soft_wrap=True, highlight=False, markup=False)
    computed = any(line.ours is not None for line in page.lines)
    table = None if computed or page.published is None else _printed(page.published)
    if table is not None:
        out.print(table)
    else:
        for column in dict.fromkeys(line.column for line in page.lines):
            _column(page, column)
    if not computed:
        reasons = dict.fromkeys(line.reason.rpartition("; ")[2] for line in page.lines)
        out.print(f"ours is empty: {escape('; '.join(reasons) or page.empty)}", soft_wrap=True)
    for heading, text in (("how", page.how), ("paper", page.published.note if page.published else "")):
        if text:
            out.print(f"[bold]{heading:>7}[/bold]  {escape(' '.join(text.split()))}", soft_wrap=True, highlight=False)
    for note in page.notes:
        out.print(f"[bold]   note[/bold]  {escape(note)}", soft_wrap=True, highlight=False)
    out.print(f"[bold]verdict[/bold]  {page.verdict}", soft_wrap=True, highlight=False)


def _printed(published: Published) -> Table | None:
    """The paper's numbers alone, as the paper has them: rows by columns; None where that is wider than the terminal."""
    names = [column.name for column in published.columns]
    table = _table("", *names, numbers=names)
    group = ""
    for row in published.rows:
        if row.group != group:
            group = row.group
            table.add_row(f"[italic]{escape(group)}[/italic]")
        cells = (_number(row.values[one.name], row.std.get(one.name), one.decimals) for one in published.columns)
        table.add_row(escape(row.name), *cells)
    needed = out.measure(table, options=out.options.update(width=10_000)).maximum
    return table if needed <= out.width else None


def _column(page: Page, column: str) -> None:
    """One column of the table, a line for each row: theirs, ours, what is between."""
    lines = [line for line in page.lines if line.column == column]
    counts = sorted({line.ours.n for line in lines if line.ours is not None})
    if counts:
        why = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    else:
        why = f"ours is empty: {'; '.join(dict.fromkeys(line.reason for line in lines))}"
    out.print()
    out.print(f"[bold]{escape(column)}[/bold]  {escape(why)}", soft_wrap=True, highlight=False)
    ours = ("ours", "95 %", "difference", "") if counts else ()
    table = _table("", "paper", *ours, numbers=("paper", *ours[:3]))
    decimals = {one.name: one.decimals for one in page.published.columns} if page.published else {}
    remarks: dict[str, int] = {}  # long ones stand below the table, numbered
    for line in lines:
        row = escape(f"{line.group}: {line.row}" if line.group else line.row)
        mark = f"({remarks.setdefault(line.reason, len(remarks) + 1)})" if line.reason else ""
        cells = (*_ours(line), " ".join(filter(None, (_verdict(line), mark)))) if counts else ()
        table.add_row(row, _number(line.paper, line.spread, decimals.get(column)), *cells)
    out.print(table)
    for remark, number in remarks.items() if counts else ():
        out.print(f"({number}) {escape(remark)}", style="dim", soft_wrap=True, highlight=False)


def _ours(line: Line) -> tuple[str, str, str]:
    if line.ours is None or math.isnan(line.ours.value):
        return "", "", ""
    between = "" if math.isnan(line.ours.low) else f"{_digits(line.ours.low)} to {_digits(line.ours.high)}"
    return _digits(line.ours.value), between, "" if line.difference is None else f"{line.difference:+.3g}"


def _verdict(line: Line) -> str:
    return {True: "[green]agrees[/green]", False: "[yellow]differs[/yellow]", None: ""}[line.agrees]


def _number(value: float | None, spread: float | None, decimals: int | None) -> str:
    """As printed: so many decimals, and the paper's own spread."""
    if value is None:
        return "-"
    text = f"{value:g}" if decimals is None else f"{value:.{decimals}f}"
    return text + (f" ± {spread:g}" if spread is not None else "")


def _digits(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.2f}"


def _table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        right = column in numbers
        table.add_column(escape(column), justify="right" if right else "left", no_wrap=right, overflow="fold")
    return table


class _Progress:
    """Says on standard error what is being scored: in place on a terminal, else a line now and then."""

    def __init__(self, *, show: bool) -> None:
        self._status = err.status("working") if show and err.is_terminal else None
        self._lines = show and not err.is_terminal
        self._printed = time.monotonic()

    def __enter__(self) -> _Progress:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def observe(self, event: Any) -> None:
        """Take one event of the scoring in."""
        words = f"scoring: {event.done} of {event.total}"
        if self._status:
            self._status.update(words)
        elif self._lines and time.monotonic() - self._printed > 30:
            self._printed = time.monotonic()
            err.print(words, highlight=False)
