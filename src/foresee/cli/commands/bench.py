"""`foresee bench`: how well proxies foresee the measured numbers of a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Listing

from foresee.cli.app import app, err, out, print_whole
from foresee.cli.options import parse_settings, see_current_folder
from foresee.cli.progress import ScoringProgress
from foresee.errors import InputError, UnknownNameError
from foresee.quantities import format_seconds
from foresee.registry import tidy
from foresee.task import parse_shape

if TYPE_CHECKING:
    from foresee.benchmarks.benches import Bench
    from foresee.statistics import Estimate


@app.command()
def bench(
    space: Annotated[str | None, typer.Argument(help="the space; may be left out where the table knows it")] = None,
    table: Annotated[Path | None, typer.Option(help="file of measured numbers (`foresee table info FILE`)")] = None,
    target: Annotated[str | None, typer.Option(help="what was measured, such as test_acc_cifar10")] = None,
    proxy: Annotated[list[str] | None, typer.Option(help="a proxy, a wildcard such as 'grad*', or all")] = None,
    sample: Annotated[int, typer.Option(help="architectures to score; 0 for all of the table")] = 1000,
    seed: Annotated[int, typer.Option(help="decides the sample, weights, draws and batches")] = 0,
    repeats: Annotated[int, typer.Option(help="initialisations and batches to average over")] = 1,
    data: Annotated[str, typer.Option(help="digits, synthetic, a .npz file, an image folder, CIFAR files")] = "digits",
    input_: Annotated[str | None, typer.Option("--input", help="shape of one sample, such as 3x32x32")] = None,
    outputs: Annotated[int | None, typer.Option(help="outputs of the networks")] = None,
    batch_size: Annotated[int | None, typer.Option(help="samples per batch; by default what each proxy needs")] = None,
    bootstrap: Annotated[int, typer.Option(help="resamples for the intervals")] = 1000,
    set_: Annotated[list[str] | None, typer.Option("--set", help="proxy.key=value or space.key=value")] = None,
    threads: Annotated[int, typer.Option(help="torch threads per worker")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps")] = "cpu",
    out_: Annotated[Path, typer.Option("--out", help="folder for the report and the numbers")] = Path("runs/bench"),
    cache: Annotated[
        Path | None,
        typer.Option(help="file of scores already computed; by default $FORESEE_CACHE, else scores.sqlite in --out"),
    ] = None,
    engine: Annotated[str, typer.Option(help="serial or processes; the result is the same")] = "processes",
    workers: Annotated[int | None, typer.Option(help="processes to use; by default one per core")] = None,
    agreement: Annotated[bool, typer.Option("--agreement", help="also how the proxies agree with each other")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar")] = False,
) -> None:
    """See how well proxies foresee a table's numbers, beside params, macs and random.

    Every score is kept: stop it at any moment with Ctrl-C, the same command goes on; another proxy pays only for itself.

    Example: foresee bench nasbench201 --table nb201.csv.gz --target test_acc_cifar10 --proxy dextr --proxy zico
    """
    see_current_folder()
    from foresee.benchmarks.benches import BASELINES
    from foresee.benchmarks.benches import bench as run_bench
    from foresee.benchmarks.formats import load
    from foresee.report.bench import write

    if table is None:
        raise InputError("name a file of measured numbers with --table")
    known = replace(load(table, space=None if space is None else tidy(space)), source=str(table))
    if target is None:
        raise InputError(f"say what to foresee with --target: {', '.join(one.name for one in known.targets())}")
    space_settings, proxy_settings = _sorted_settings(set_ or [], space or known.space, proxy or ["foresee"])
    watch = ScoringProgress(show=not quiet)
    try:
        with watch:
            found = run_bench(
                known,
                target,
                proxy or ["foresee"],
                sample=sample or None,
                seed=seed,
                repeats=repeats,
                data=data,
                space=None if space is None else tidy(space),
                space_settings=space_settings,
                proxy_settings=proxy_settings,
                inputs=parse_shape(input_) if input_ else None,
                outputs=outputs,
                batch_size=batch_size,
                threads=threads,
                device=device,
                bootstrap=bootstrap,
                out=out_,
                engine=engine,
                workers=workers,
                cache=cache,
                observers=[watch.observe],
            )
    except KeyboardInterrupt:
        watch.stopped()
        raise typer.Exit(130) from None
    _show(found)
    if agreement:
        _show_agreement(found)
    out.print(f"[bold]{'report':>10}[/bold]  {escape(str(write(found)))}", soft_wrap=True, highlight=False)
    asked = [name for name in found.matrices if name not in BASELINES] or list(found.matrices)
    if all(found.matrices[name].failed.all() for name in asked):
        err.print(f"[red]no score[/red] by {escape(', '.join(asked))}: the reasons are above", highlight=False)
        raise typer.Exit(1)


def _sorted_settings(
    pairs: list[str], space: str, proxies: list[str]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Each `--set name.key=value` to the space or to the proxy of that name."""
    from foresee.benchmarks.benches import BASELINES
    from foresee.proxies.base import names_of

    names = [*names_of(proxies), *BASELINES]
    found = parse_settings(pairs)
    own = {**found.pop("space", {}), **found.pop(tidy(space), {})}
    for name in found:
        if name not in names:
            raise UnknownNameError("name in --set", name, ["space", *names])
    return own, found


# -- what is shown --------------------------------------------------------------------------------------------------------
def _show(found: Bench) -> None:
    from foresee.benchmarks.benches import BASELINES

    settings = found.settings
    facts = [
        (
            "table",
            f"{Path(settings.table).name}, {settings.target}: {len(found.texts):,} of {found.of:,} architectures",
        ),
        ("networks", f"{settings.space}, {'x'.join(map(str, settings.inputs))} to {settings.outputs} outputs"),
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
