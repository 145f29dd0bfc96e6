"""`foresee bench`: how well proxies foresee the measured numbers of a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Listing

from foresee.cli.app import app, err, out, print_whole
from foresee.cli.groups import CacheOptions, ScoringOptions, WorkOptions, usually
from foresee.cli.options import SpaceOption, one_space
from foresee.cli.progress import Watch
from foresee.errors import InputError
from foresee.quantities import format_seconds

if TYPE_CHECKING:
    from foresee.benchmarks.benches import Bench
    from foresee.statistics import Estimate


@app.command()
@usually(input_="the benchmark's own", outputs="the benchmark's own")
def bench(
    scoring: ScoringOptions,
    work: WorkOptions,
    kept: CacheOptions,
    space: Annotated[str | None, typer.Argument(help="the space; may be left out where the table knows it")] = None,
    space_: SpaceOption = None,
    table: Annotated[Path | None, typer.Option(help="file of measured numbers (`foresee table info FILE`)")] = None,
    target: Annotated[str | None, typer.Option(help="what was measured, such as test_acc_cifar10")] = None,
    sample: Annotated[int, typer.Option(help="architectures to score; 0 for all of the table")] = 1000,
    bootstrap: Annotated[int, typer.Option(help="resamples for the intervals")] = 1000,
    out_: Annotated[Path, typer.Option("--out", help="folder for the report and the numbers")] = Path("runs/bench"),
    agreement: Annotated[bool, typer.Option("--agreement", help="also how the proxies agree with each other")] = False,
) -> None:
    """See how well proxies foresee a table's numbers, beside params, macs and random.

    Every score is kept: stop it at any moment with Ctrl-C, the same command goes on; another proxy pays only for itself.

    Example: foresee bench nasbench201 --table nb201.csv.gz --target test_acc_cifar10 --proxy dextr --proxy zico
    """
    work.get_ready()
    from foresee.benchmarks.benches import BASELINES
    from foresee.benchmarks.benches import bench as run_bench
    from foresee.benchmarks.formats import load
    from foresee.proxies.base import names_of
    from foresee.report.bench import write

    if table is None:
        raise InputError("name a file of measured numbers with --table")
    space = one_space(space, space_)
    known = replace(load(table, space=space), source=str(table))
    if target is None:
        names = ", ".join(one.name for one in known.targets())
        if not names:
            others = ", ".join([*known.costs, *known.proxies]) or "none"
            raise InputError(f"{table}: nothing was measured in it; other columns of numbers: {others}")
        raise InputError(f"{table}: say what to foresee with --target: {names}")
    proxies = names_of(scoring.proxy or ["foresee"])
    said = scoring.sorted(space or known.space, proxies=[*proxies, *BASELINES])
    watch = Watch(show=not work.quiet)
    try:
        with watch:
            found = run_bench(
                known,
                target,
                scoring.settings(proxies, proxy_settings=said.proxies),
                sample=sample or None,
                space=space,
                space_settings=said.space,
                bootstrap=bootstrap,
                out=out_,
                engine=work.engine,
                workers=work.workers,
                cache=kept.cache,
                observers=[watch.observe],
            )
    except KeyboardInterrupt:
        raise typer.Exit(watch.stopped()) from None
    _show(found)
    if agreement:
        _show_agreement(found)
    out.print(f"[bold]{'report':>10}[/bold]  {escape(str(write(found)))}", soft_wrap=True, highlight=False)
    asked = [name for name in found.matrices if name not in BASELINES] or list(found.matrices)
    if all(found.matrices[name].failed.all() for name in asked):
        err.print(f"[red]no score[/red] by {escape(', '.join(asked))}: the reasons are above", highlight=False)
        raise typer.Exit(1)


# -- what is shown --------------------------------------------------------------------------------------------------------
def _show(found: Bench) -> None:
    from foresee.benchmarks.benches import BASELINES

    settings = found.settings
    facts = [
        (
            "table",
            f"{Path(settings.table).name}, {settings.target}: {len(found.texts):,} of {found.of:,} architectures",
        ),
        (
            "networks",
            f"{settings.space}, {'x'.join(map(str, settings.task.inputs))} to {settings.task.outputs} outputs",
        ),
        ("looked at", found.looked_at),
        *(("note", note) for note in found.notes),
    ]
    for label, value in facts:
        out.print(f"[bold]{label:>10}[/bold]  {escape(value)}", soft_wrap=True, highlight=False)
    _print(
        _columns(found),
        [
            f"{escape(name)} [dim](baseline)[/dim]" if name in BASELINES else f"[bold]{escape(name)}[/bold]"
            for name in found.correlations
        ],
    )
    for name, matrix in found.matrices.items():
        for reason, count in matrix.reasons.most_common(3):
            out.print(f"[red]{count:>5}[/red] {escape(name)}: {escape(reason)}", soft_wrap=True, highlight=False)


def _columns(found: Bench) -> dict[str, list[str]]:
    """The columns of the listing, the most telling first."""
    every = found.correlations.values()
    columns = {"Spearman": [f"[bold]{_text(one.spearman)}[/bold]" for one in every]}
    columns |= {"n": [f"{one.n}" for one in every]}
    columns |= {"failed": [f"[red]{one.failed}[/red]" if one.failed else "0" for one in every]}
    if any(one.failed for one in every):
        columns |= {"failures last": [_short((one.with_failures or one).spearman) for one in every]}
    columns |= {"Kendall": [_short(one.kendall) for one in every], "Pearson": [_short(one.pearson) for one in every]}
    columns |= {"weighted tau": [_short(one.weighted_tau) for one in every]}
    for size in next(iter(every)).top:
        columns |= {f"top {size}": [_short(one.top[size]) for one in every]}
        columns |= {f"regret {size}": [_short(one.regret[size]) for one in every]}
    return columns | {"time": [format_seconds(found.seconds[name]) for name in found.correlations]}


def _print(columns: dict[str, list[str]], titles: list[str]) -> None:
    """The listing; on a narrow terminal without its last columns, elsewhere whole."""
    chosen = dict(columns)
    while True:
        listing = Listing(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        listing.add_column("proxy", no_wrap=True)
        for name in chosen:
            listing.add_column(name, justify="right", no_wrap=True)
        for index, title in enumerate(titles):
            listing.add_row(title, *(cells[index] for cells in chosen.values()))
        wide = Measurement.get(out, out.options.update(max_width=1000), listing).maximum
        if not out.is_terminal or wide <= out.width or len(chosen) == 1:
            break
        chosen.popitem()
    print_whole(listing)
    if len(chosen) < len(columns):
        left = list(columns)[len(chosen) :]
        out.print(f"[dim]too narrow for {escape(', '.join(left))}: the report has them[/dim]", highlight=False)


def _show_agreement(found: Bench) -> None:
    from foresee.benchmarks.agreement import between

    agreement = between({name: matrix.merit for name, matrix in found.matrices.items()})
    listing = Listing(
        box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), title="Spearman between proxies"
    )
    listing.add_column("")
    for name in agreement.names:
        listing.add_column(escape(name), justify="right")
    for name, row in zip(agreement.names, agreement.values, strict=True):
        listing.add_row(f"[bold]{escape(name)}[/bold]", *("–" if value != value else f"{value:.2f}" for value in row))
    out.print(listing)


def _text(estimate: Estimate) -> str:
    return escape(str(estimate)) if estimate.value == estimate.value else "undefined"


def _short(estimate: Estimate) -> str:
    return f"{estimate.value:.3f}" if estimate.value == estimate.value else "–"
