"""`foresee calibrate`: train a few, foresee the others, and see whether the trainings paid."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from foresee.cli.app import app, out, print_whole
from foresee.cli.groups import CacheOptions, ScoringOptions, WorkOptions, usually
from foresee.cli.options import SpaceOption, one_space
from foresee.cli.progress import Watch
from foresee.errors import InputError
from foresee.task import Task

if TYPE_CHECKING:
    from foresee.benchmarks.calibrated import CalibratedTable
    from foresee.benchmarks.calibration import Skill


@app.command()
@usually(
    proxy="foresee, params, macs, inverse_conditions, curvature, meco, swap, zen, synflow",
    input_="the benchmark's own",
    outputs="the benchmark's own",
)
def calibrate(
    scoring: ScoringOptions,
    work: WorkOptions,
    kept: CacheOptions,
    space: Annotated[str | None, typer.Argument(help="the space, where the table does not name it")] = None,
    space_: SpaceOption = None,
    table: Annotated[Path | None, typer.Option(help="trained architectures with what was measured of them")] = None,
    target: Annotated[str | None, typer.Option(help="the measured number to foresee (`foresee table info`)")] = None,
    trained: Annotated[
        int | None, typer.Option(help="how many of the table count as trained, 10 to 500", show_default="all")
    ] = None,
    untrained: Annotated[
        str | None,
        typer.Option(help="the untrained score to show beside: a proxy, or table:NAME", show_default="foresee"),
    ] = None,
    predict: Annotated[
        Path | None, typer.Option(help="a file of architectures to foresee", show_default="the rest of the table")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="foresee so many drawn from the space", show_default="none")
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts/--no-parts", help="let the model see what the architectures are made of")
    ] = True,
    coverage: Annotated[float, typer.Option(help="share of the intervals that shall hold the truth")] = 0.9,
    bootstrap: Annotated[int, typer.Option(help="resamples behind the intervals of correlations")] = 1000,
    top: Annotated[int, typer.Option(help="predictions to show; all of them are in the files")] = 10,
    out_: Annotated[Path, typer.Option("--out", help="folder for the report and the numbers")] = Path("runs/calibrate"),
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Foresee architectures from a few trained ones: a small rank model on proxies, with intervals.

    The model reads proxies and what the architectures are made of, and leans on the untrained score until the trainings say
    otherwise; the score stands beside its predictions as it is. Whether the trainings paid is measured on trained
    architectures that were held out.

    Example: foresee calibrate nasbench201 --table mine.csv --target test_acc --sample 200 --out runs/calibrated

    Example: foresee calibrate --table nb201.csv.gz --target test_acc_cifar10 --trained 50 --sample 300 --data cifar.npz
    """
    if table is None or target is None:
        raise InputError("--table FILE and --target NAME are needed: what was trained, and which number to foresee")
    if top < 0:
        raise InputError(f"--top {top}: expected how many predictions to show")
    work.get_ready()
    from foresee.benchmarks.calibration_table import PROXIES, UNTRAINED, calibrate_table, read_texts
    from foresee.benchmarks.formats import load
    from foresee.report.calibrate import write

    given = replace(load(table, space=one_space(space, space_)), source=str(table))
    names, beside = list(dict.fromkeys(scoring.proxy or PROXIES)), untrained or UNTRAINED
    said = scoring.sorted(given.space, proxies=[*names, beside])
    task = _task(scoring)
    settings = scoring.settings(proxies=names, proxy_settings=said.proxies)
    watch = Watch(show=not work.quiet)
    try:
        with watch:
            found = calibrate_table(
                given,
                target,
                proxies=settings,
                untrained=beside,
                trained=trained,
                predict=None if predict is None else read_texts(predict),
                sample=sample,
                parts=parts,
                coverage=coverage,
                bootstrap=bootstrap,
                space_settings=said.space,
                task=task,
                engine=work.engine,
                workers=work.workers,
                out=out_,
                cache=kept.cache,
                observers=[watch.observe],
            )
    except KeyboardInterrupt:
        raise typer.Exit(watch.stopped()) from None
    report = write(found)
    if as_json:
        print(json.dumps(found.to_json(), indent=2))
        return
    _show(found, top, settings.data)
    for label, path in (("numbers", out_ / "predictions.csv"), ("report", report)):
        out.print(f"[bold]{label:>10}[/bold]  {escape(str(path))}", highlight=False, soft_wrap=True)


def _task(scoring: ScoringOptions) -> Task | None:
    """The task asked for, or None for the benchmark's own."""
    said = scoring.said()
    if ("inputs" in said) != ("outputs" in said):
        raise InputError(
            "--input and --outputs belong together: give both, or neither for the benchmark's own networks"
        )
    return Task(said["inputs"], said["outputs"], tokens=said.get("tokens")) if "inputs" in said else None


def _show(found: CalibratedTable, top: int, data: str) -> None:
    model, rows = found.calibration, found.rows()
    _say(f"{len(model.trained)} trained architectures, {len(rows)} foreseen; target {found.target.name}, better is "
        f"{found.target.direction}")  # fmt: skip
    reads = [name for name in model.proxies if name not in model.constant]
    _say(
        f"the model reads {', '.join(reads) or 'no proxy'}"
        + (f" and {found.parts} kinds of parts" if found.parts else "")
    )
    if found.reasons:
        _say(
            f"proxies look at {data}"
            + ("" if found.task is None else f" as {_shown(found.task)}")
            + _remark(found.space)
        )
    for name, failed in model.failed.items():
        share = f"{failed} of {len(found.texts)}"
        meaning = "which it ranks last" if name not in model.constant else "so it says nothing"
        reason = next(iter(found.reasons.get(name, {})), "")
        _say(
            f"{name} failed on {share}, {meaning}: {reason}" if reason else f"{name} is not known of {share}",
            style="yellow",
        )
    for name in model.constant:
        if name not in model.failed:
            _say(f"{name} is the same for all architectures, so it says nothing", style="yellow")
    leant = ", on which the model leans until the trainings say otherwise" if found.untrained in model.proxies else ""
    _say(f"beside it, fitted to nothing, the untrained score {found.untrained}{leant}")
    out.print()
    share = f"{100 * model.coverage:g} %"
    lines = [["rank", "predicted", f"{share} interval", "untrained", "its rank"]]
    for row in rows[:top]:
        beside = "failed" if row["untrained"] is None else f"{row['untrained']:.5g}"
        interval = f"{row['low']:.2f} to {row['high']:.2f}"
        lines.append([f"{row['rank']:g}", f"{row['predicted']:.2f}", interval, beside, f"{row['untrained_rank']:g}"])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    # Numbers keep their width. On a terminal a long architecture is cut to what is left; in a pipe nothing is cut.
    left = max(20, out.width - sum(widths) - 2 * len(widths)) if out.is_terminal else None
    names = ["architecture", *(row["architecture"] for row in rows[:top])]
    for number, (cells, text) in enumerate(zip(lines, names, strict=True)):
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        shown = text if left is None or len(text) <= left else text[: left - 1] + "…"
        _say(f"{numbers}  {shown}", style="" if number else "bold")
    out.print()
    print_whole(_skills(found))
    for title, skill in _measured(found):
        _say(f"{title}: {skill.verdict}")
    promise = (
        f"at least {100 * model.guaranteed:.0f} % whatever the truth, for architectures drawn like the trained ones"
    )
    _say(f"intervals: {share} asked, {promise}")


def _shown(task: Task) -> str:
    return f"{'x'.join(map(str, task.inputs))} with {task.outputs} outputs"


def _remark(space: str) -> str:
    from foresee.benchmarks.tasks import remark

    return f" ({remark(space)})" if remark(space) else ""


def _measured(found: CalibratedTable) -> list[tuple[str, Skill]]:
    """What was held out while fitting, and what the table knows of the architectures that were foreseen."""
    pairs = [("held out", found.calibration.skill)]
    return pairs if found.check is None else [*pairs, ("checked by the table", found.check)]


def _skills(found: CalibratedTable) -> Grid:
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in (
        "measured on",
        "n",
        "",
        "model",
        f"untrained ({found.untrained})",
        "difference",
        "intervals that hold",
    ):
        grid.add_column(escape(column), justify="right" if column == "n" else "left", no_wrap=not out.is_terminal)
    for title, skill in _measured(found):
        for name in ("spearman", "kendall"):
            first = name == "spearman"
            covered = f"{100 * skill.covered.value:.1f} %" if first else ""
            cells: list[Any] = [skill.model[name], skill.untrained[name], skill.gain[name]]
            grid.add_row(title if first else "", str(skill.n) if first else "", name, *map(str, cells), covered)
    return grid


def _say(text: str, style: str = "") -> None:
    """One line, in which nothing of the user's is markup."""
    out.print(text, markup=False, highlight=False, soft_wrap=True, style=style)
